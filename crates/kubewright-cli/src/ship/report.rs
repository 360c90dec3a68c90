//! What the user sees of an apply or a deletion.

use std::io::{BufRead, IsTerminal, Write};

use kubewright_deploy::{Outcome, Progress};

use crate::terminal;

/// Tells every step on the terminal.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) quiet: bool,
    pub(super) diff: bool,
    pub(super) dry_run: bool,
}

impl Report {
    fn status(&self, verb: &str, what: &str) {
        if !self.quiet {
            let note = if self.dry_run { " (dry run)" } else { "" };
            terminal::status(verb, format_args!("{what}{note}"));
        }
    }
}

impl Progress for Report {
    fn applied(&mut self, object: &str, outcome: Outcome, diff: &str) {
        if self.diff {
            terminal::print(diff);
        }
        let verb = match outcome {
            Outcome::Created => "Created",
            Outcome::Changed => "Changed",
            Outcome::Pruned => "Pruned",
            _ => "Unchanged",
        };
        self.status(verb, object);
    }

    fn waiting(&mut self, object: &str, state: &str) {
        self.status("Waiting", &format!("{object} {state}"));
    }

    fn ready(&mut self, object: &str) {
        self.status("Ready", object);
    }

    fn deleted(&mut self, object: &str) {
        self.status("Deleted", object);
    }

    fn left(&mut self, object: &str, reason: &str) {
        terminal::warning(format_args!("{object} is left alone: {reason}; --yes deletes it with them"));
    }
}

/// Whether a definition may go with all objects of its kind: as the flags say, or as the user answers where one can.
pub(super) fn may_delete(definition: &str, objects: &str, yes: bool) -> bool {
    if yes {
        return true;
    }
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return false;
    }
    let mut out = std::io::stderr().lock();
    let _ = write!(out, "Delete {definition} and with it {objects}? [y/N] ").and_then(|()| out.flush());
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).is_ok()
        && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}
