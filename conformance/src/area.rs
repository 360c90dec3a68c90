//! The areas of the corpus: folders with files of cases, and the recorded answers beside them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{
    answer::{self, Answer},
    case::Case,
    generated, target,
};

/// A file of cases.
#[derive(Debug)]
pub struct CaseFile {
    /// What is recorded for it.
    pub answers: PathBuf,
    /// Its cases, in order.
    pub cases: Vec<Case>,
}

/// The names of all areas.
///
/// # Panics
/// If the corpus cannot be read.
#[must_use]
pub fn all() -> Vec<String> {
    let entries = fs::read_dir(target::corpus()).expect("the folder of the corpus");
    let folders = entries.filter_map(Result::ok).filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.extend(generated::areas());
    names.sort_unstable();
    names.dedup();
    names
}

/// The files of an area, those that a person wrote and those of the programs.
///
/// # Panics
/// If a file is not one of cases.
#[must_use]
pub fn files(area: &str) -> Vec<CaseFile> {
    let folder = target::corpus().join(area);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort_unstable();
    let written = files
        .into_iter()
        .map(|path| CaseFile { answers: path.with_extension("answers.json"), cases: read(&path) });
    let made = generated::files(area)
        .into_iter()
        .map(|(name, cases)| CaseFile { answers: folder.join(format!("{name}.answers.json")), cases });
    written.chain(made).collect()
}

fn read(path: &Path) -> Vec<Case> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // `y` and `n` are texts.
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(&text, options)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

// === impl CaseFile ===

impl CaseFile {
    /// What a real server answered, by the names of the cases.
    ///
    /// # Panics
    /// If the file is there and has no answers.
    #[must_use]
    pub fn recorded(&self) -> BTreeMap<String, Vec<Answer>> {
        let Ok(text) = fs::read_to_string(&self.answers) else { return BTreeMap::new() };
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", self.answers.display()))
    }

    /// Keeps answers. A file with the same content is left alone.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, answers: &BTreeMap<String, Vec<Answer>>) {
        let value: Value = serde_json::to_value(answers).expect("answers are JSON");
        let text = answer::render(&value);
        if fs::read_to_string(&self.answers).ok().as_deref() != Some(&text) {
            fs::create_dir_all(self.answers.parent().expect("a folder")).expect("a folder to write to");
            fs::write(&self.answers, text).expect("a writable file");
        }
    }
}
