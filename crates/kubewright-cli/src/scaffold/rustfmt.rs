//! Source files in the usual form.

use std::{
    io::Write,
    process::{Command, Stdio},
};

/// The text as rustfmt writes it; nothing if there is no rustfmt. The templates are in its form but for long names, so that this is
/// no loss.
pub(super) fn rustfmt(text: &str) -> Option<String> {
    let mut process = Command::new("rustfmt")
        .args(["--edition", "2024", "--emit", "stdout", "--config-path", "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // Dropped after it, so that the end of the text is seen.
    process.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = process.wait_with_output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).ok()).flatten()
}
