//! The notice that a user wrote.

use std::{fs, path::Path};

use kubewright_scaffold::license::own_notice;

use crate::error::Error;

/// The lines of a file with a notice.
pub(super) fn notice(file: &Path) -> Result<Vec<String>, Error> {
    let text = fs::read_to_string(file).map_err(Error::io(format!("read the notice {}", file.display())))?;
    let lines = own_notice(&text);
    if lines.is_empty() {
        return Err(Error::Arguments(format!(
            "--license-file: {} has no text; leave it out, or say --license none",
            file.display()
        )));
    }
    Ok(lines)
}
