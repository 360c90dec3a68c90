//! What the user sees of a run: lines for people, or one JSON object a line for programs.

use std::path::Path;

use kubewright_manifests::{
    diagnostic::Renderer,
    output::{Action, Change},
};
use serde_json::json;

use super::manifests::Gathered;
use crate::{
    command::{GenerateOptions, MessageFormat},
    error::Error,
    terminal,
};

/// Tells what comes of a run.
///
/// People read diagnostics and progress on the standard error and differences on the standard output. Programs read
/// one stream of objects on the standard output, each with a `reason` that says what it is, as cargo's messages have:
///
/// | `reason` | other fields |
/// |---|---|
/// | `diagnostic` | `severity`, `code`, `message`, `place` (with lines and columns), `help`, and `rendered`, the text for people |
/// | `warning` | `message` |
/// | `file` | `path`, `action` (`create`, `update`, `keep`, `remove`), `written`, and `diff` if something differs and nothing was written |
/// | `finished` | `success`, and `error` if it failed |
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    format: MessageFormat,
    quiet: bool,
}

// === impl Report ===

impl Report {
    pub(super) fn new(options: &GenerateOptions) -> Self {
        Self { format: options.message_format, quiet: options.quiet }
    }

    /// What is wrong with the sources, or if nothing is, what is missing in them.
    pub(super) fn diagnostics(self, gathered: &Gathered) {
        let texts = |path: &Path| {
            gathered.sources.files.iter().find(|file| file.path == path).map(|file| file.text.clone())
        };
        let plain = Renderer::new(&texts);
        let colored = Renderer::new(&texts).colored(terminal::colored());
        for diagnostic in &gathered.diagnostics {
            match self.format {
                MessageFormat::Human => terminal::eprint(&format!("{}\n\n", colored.render(diagnostic))),
                MessageFormat::Json => {
                    let mut message = plain.json(diagnostic);
                    message["reason"] = "diagnostic".into();
                    message["rendered"] = plain.render(diagnostic).into();
                    terminal::result(message);
                }
            }
        }
        // A marker with an error was not found either.
        if !gathered.has_errors() {
            gathered.absent.iter().for_each(|message| self.warning(message));
        }
    }

    /// A file that looks as if it were generated, and is not ours.
    pub(super) fn foreign(self, path: &Path) {
        self.warning(&format!(
            "{} was written by controller-gen, and no type of this operator is its kind: delete it if nothing needs it",
            path.display()
        ));
    }

    /// What would have been written.
    pub(super) fn differences(self, changes: &[Change]) {
        for change in changes {
            match self.format {
                MessageFormat::Json => self.file(change, false),
                MessageFormat::Human if self.quiet || !change.action.is_needed() => {}
                MessageFormat::Human => {
                    let what = match change.action {
                        Action::Create => "Missing",
                        Action::Remove => "Stale",
                        _ => "Differs",
                    };
                    terminal::status(what, change.path.display());
                    terminal::print(&colored(&change.diff(), terminal::colored_output()));
                }
            }
        }
    }

    /// What was written.
    pub(super) fn written(self, changes: &[Change]) {
        for change in changes {
            match self.format {
                MessageFormat::Json => self.file(change, true),
                MessageFormat::Human if self.quiet => {}
                MessageFormat::Human => {
                    let verb = match change.action {
                        Action::Keep => "Unchanged",
                        Action::Remove => "Removed",
                        _ => "Wrote",
                    };
                    terminal::status(verb, change.path.display());
                }
            }
        }
    }

    /// How it ended. People are told by `main`.
    pub(super) fn finished(self, result: &Result<(), Error>) {
        if self.format == MessageFormat::Json {
            let mut message = json!({"reason": "finished", "success": result.is_ok()});
            if let Err(error) = result {
                message["error"] = error.to_string().into();
            }
            terminal::result(message);
        }
    }

    fn file(self, change: &Change, written: bool) {
        let mut message = json!({
            "reason": "file",
            "path": change.path,
            "action": change.action,
            "written": written && change.action.is_needed(),
        });
        if !written && change.action.is_needed() {
            message["diff"] = change.diff().into();
        }
        terminal::result(message);
    }

    fn warning(self, message: &str) {
        match self.format {
            MessageFormat::Human => terminal::warning(message),
            MessageFormat::Json => terminal::result(json!({"reason": "warning", "message": message})),
        }
    }
}

/// A unified diff in the colours of git.
fn colored(diff: &str, colors: bool) -> String {
    if !colors {
        return diff.to_owned();
    }
    let mut text = String::with_capacity(diff.len() * 2);
    for (index, line) in diff.lines().enumerate() {
        let color = match line.as_bytes().first() {
            _ if index < 2 => "\x1b[1m",
            Some(b'@') => "\x1b[36m",
            Some(b'+') => "\x1b[32m",
            Some(b'-') => "\x1b[31m",
            _ => "",
        };
        let plain = if color.is_empty() { "" } else { "\x1b[0m" };
        text.extend([color, line, plain, "\n"]);
    }
    text
}
