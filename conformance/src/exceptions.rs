//! The differences that are known: those that we keep, each with its reason, and those that wait to be mended.

use std::{cell::Cell, collections::BTreeSet, fmt, fs, path::PathBuf};

use regex::Regex;
use serde::Deserialize;

use crate::{case::Case, compare::Difference, target};

/// A known difference, or several with one reason.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    /// Where it stands: a folder of the corpus.
    area: String,
    /// Names of cases; `*` stands for anything.
    cases: Vec<String>,
    /// Places in answers: a JSON pointer, in which `*` stands for anything. Default: anywhere.
    #[serde(default)]
    at: Vec<String>,
    /// Why the embedded server answers something else.
    reason: String,
}

/// The exceptions of one area, and which of them were met.
#[derive(Debug)]
pub struct Exceptions {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    text: String,
    reason: String,
    case: Regex,
    at: Vec<Regex>,
    met: Cell<bool>,
}

/// The cases that a program made and that the embedded server does not answer rightly yet: mostly checks of fields that
/// it does not make. They are the lines of `not-yet.txt` in the area's folder.
#[derive(Debug)]
pub struct Pending {
    file: PathBuf,
    known: BTreeSet<String>,
    /// Those that still differ.
    differ: BTreeSet<String>,
    rewrite: bool,
}

// === impl Exceptions ===

impl Exceptions {
    /// The exceptions of an area.
    ///
    /// # Panics
    /// If the file is not one of exceptions.
    #[must_use]
    pub fn of(area: &str) -> Self {
        let text = fs::read_to_string(target::corpus().join("exceptions.yaml"));
        let text = text.expect("corpus/exceptions.yaml can be read");
        let all: Vec<Exception> =
            serde_saphyr::from_str(&text).expect("corpus/exceptions.yaml has exceptions");
        let own = all.into_iter().filter(|exception| exception.area == area);
        let rules = own.flat_map(|exception| {
            let at: Vec<Regex> = exception.at.iter().map(|text| glob(text)).collect();
            let reason = exception.reason;
            let rule = move |case: String| Rule {
                case: glob(&case),
                text: case,
                reason: reason.clone(),
                at: at.clone(),
                met: Cell::new(false),
            };
            exception.cases.into_iter().map(rule).collect::<Vec<_>>()
        });
        Self { rules: rules.collect() }
    }

    /// Whether a difference is known.
    #[must_use]
    pub fn cover(&self, case: &Case, difference: &Difference) -> bool {
        let mut covered = false;
        for rule in &self.rules {
            let at = rule.at.is_empty() || rule.at.iter().any(|at| at.is_match(&difference.path));
            if at && rule.case.is_match(&case.name) {
                rule.met.set(true);
                covered = true;
            }
        }
        covered
    }

    /// The exceptions that no difference needed.
    pub fn needless(&self) -> impl Iterator<Item = impl fmt::Display> {
        let needless = self.rules.iter().filter(|rule| !rule.met.get());
        needless.map(|rule| format!("{} ({})", rule.text, rule.reason))
    }
}

// === impl Pending ===

impl Pending {
    /// Those of an area. With `KUBEWRIGHT_UPDATE` set, the list is written anew.
    #[must_use]
    pub fn of(area: &str) -> Self {
        let file = target::corpus().join(area).join("not-yet.txt");
        let text = fs::read_to_string(&file).unwrap_or_default();
        let known = text.lines().map(ToOwned::to_owned).collect();
        // What a person wrote is mended, or an exception.
        let rewrite = std::env::var_os("KUBEWRIGHT_UPDATE").is_some()
            && (area == "kinds" || area.starts_with("built-in-"));
        Self { file, known, differ: BTreeSet::new(), rewrite }
    }

    /// Whether a case is not as the list has it.
    pub fn settle(&mut self, case: &Case, differs: bool) -> bool {
        if differs {
            self.differ.insert(case.name.clone());
        }
        !self.rewrite && differs != self.known.contains(&case.name)
    }

    /// Writes the list, if it is to be written.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn update(&self) {
        if !self.rewrite || self.differ == self.known {
            return;
        }
        if self.differ.is_empty() {
            let _ = fs::remove_file(&self.file);
            return;
        }
        let text: String = self.differ.iter().map(|name| format!("{name}\n")).collect();
        fs::write(&self.file, text).expect("a writable file");
    }
}

fn glob(text: &str) -> Regex {
    let parts: Vec<String> = text.split('*').map(regex::escape).collect();
    Regex::new(&format!("^{}$", parts.join(".*"))).expect("a pattern of escaped texts")
}
