//! Asks the user for what is missing. Nothing is asked where nobody could answer.

use std::io::{BufRead, IsTerminal, Write};

use crate::error::Error;

/// What a command is to do about options that are missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prompt {
    asks: bool,
}

// === impl Prompt ===

impl Prompt {
    /// Asks on a terminal, unless the user said `--yes`.
    pub(super) fn new(yes: bool) -> Self {
        Self { asks: !yes && std::io::stdin().is_terminal() && std::io::stderr().is_terminal() }
    }

    /// The option's value, or what the user answers, or the default. Without any, `missing` says what to do.
    pub(super) fn text(
        self,
        value: Option<String>,
        question: &str,
        default: Option<&str>,
        missing: &str,
    ) -> Result<String, Error> {
        if let Some(value) = value {
            return Ok(value);
        }
        let answer = if self.asks { ask(question, default)? } else { String::new() };
        match (answer.is_empty(), default) {
            (false, _) => Ok(answer),
            (true, Some(default)) => Ok(default.to_owned()),
            (true, None) => Err(Error::Arguments(missing.to_owned())),
        }
    }

    /// As [`text`](Self::text), for yes and no. Where nothing is asked, it is yes.
    pub(super) fn confirm(self, value: Option<bool>, question: &str) -> Result<bool, Error> {
        match value {
            Some(value) => Ok(value),
            None if self.asks => Ok(!matches!(ask(question, Some("y"))?.to_lowercase().as_str(), "n" | "no")),
            None => Ok(true),
        }
    }
}

fn ask(question: &str, default: Option<&str>) -> Result<String, Error> {
    let mut out = std::io::stderr().lock();
    let default = default.map(|default| format!(" [{default}]")).unwrap_or_default();
    let _ = write!(out, "{question}{default}: ").and_then(|()| out.flush());
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(Error::io("read the answer"))?;
    Ok(line.trim().to_owned())
}
