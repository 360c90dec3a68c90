//! Texts that tests keep in files.

use std::{fs, path::Path};

/// Compares a text with `tests/snapshots/NAME`; with `KUBEWRIGHT_UPDATE` set, writes it.
///
/// # Panics
///
/// If they differ.
pub(crate) fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("KUBEWRIGHT_UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).unwrap();
        fs::write(&path, text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let first = kept.lines().zip(text.lines()).position(|(kept, text)| kept != text);
    assert!(
        kept == text,
        "tests/snapshots/{name} differs, first in line {}: run the test with KUBEWRIGHT_UPDATE=1 and read what changed",
        first.map_or_else(|| kept.lines().count().min(text.lines().count()) + 1, |line| line + 1)
    );
}
