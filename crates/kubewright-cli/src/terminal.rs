//! What the user sees: results on standard output, everything else on standard error.

use std::{
    fmt::Display,
    io::{IsTerminal, Write},
};

use tracing_subscriber::EnvFilter;

/// Prints a result. A closed pipe is not an error: the reader has what it wanted.
pub(crate) fn result(line: impl Display) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Prints text that is complete as it is, such as documents.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints text for people that is complete as it is, such as diagnostics.
pub(crate) fn eprint(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Prints what the command is doing.
pub(crate) fn status(verb: &str, what: impl Display) {
    let (bold, plain) = if colored() { ("\x1b[1;32m", "\x1b[0m") } else { ("", "") };
    // Aligned as cargo's own lines are, since they alternate with them.
    let _ = writeln!(std::io::stderr(), "{bold}{verb:>12}{plain} {what}");
}

/// Prints what the user may want to know.
pub(crate) fn note(what: impl Display) {
    status("Note", what);
}

/// Prints what the user may want to do next: commands, and what they do.
pub(crate) fn next(commands: &[(String, &str)]) {
    let width = commands.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    for (at, (command, what)) in commands.iter().enumerate() {
        let verb = if at == 0 { "Next" } else { "" };
        status(verb, format_args!("{command:width$}  # {what}"));
    }
}

/// Prints what went wrong without ending the command.
pub(crate) fn warning(what: impl Display) {
    let (bold, plain) = if colored() { ("\x1b[1;33m", "\x1b[0m") } else { ("", "") };
    let _ = writeln!(std::io::stderr(), "{bold}warning{plain}: {what}");
}

/// Prints the error that ends the command.
pub(crate) fn error(what: impl Display) {
    let (bold, plain) = if colored() { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
    let _ = writeln!(std::io::stderr(), "{bold}error{plain}: {what}");
}

/// Whether the standard error is in colour. Colour goes to terminals alone, and not where `NO_COLOR` is set.
pub(crate) fn colored() -> bool {
    std::io::stderr().is_terminal() && wants_color()
}

/// The same for the standard output.
pub(crate) fn colored_output() -> bool {
    std::io::stdout().is_terminal() && wants_color()
}

fn wants_color() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Sends the logs of the cluster to standard error. `RUST_LOG` overrides `verbose`.
pub(crate) fn init_logging(verbose: u8) {
    let default = match verbose {
        0 => "error",
        1 => "info,kubewright=debug",
        _ => "debug,hyper=info,h2=info,rustls=info",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colored())
        .init();
}
