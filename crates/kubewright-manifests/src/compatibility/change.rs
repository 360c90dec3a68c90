//! One change, and what all of them come to.

use std::fmt::{self, Display};

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::rule::{Class, Rule};

/// One difference between two definitions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// How bad it is.
    pub class: Class,
    /// The rule that it falls under.
    #[serde(serialize_with = "id")]
    pub rule: &'static Rule,
    /// The name of the CRD.
    pub crd: String,
    /// The version whose schema changed; none if it is not a schema's change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where, as a JSON path: with a version, in an object of that version; without, in the CRD.
    pub path: String,
    /// The keyword of the schema that changed, if it is not the field as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyword: Option<&'static str>,
    /// What was there before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// What is there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// Why the change is in its class, and what to do about it.
    pub reason: &'static str,
    /// Whether an exception was made for it.
    pub allowed: bool,
}

/// An exception: changes that do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    rule: &'static Rule,
    path: Option<String>,
}

/// An exception that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule `{id}`; an exception is written RULE or RULE:PATH, as field-removed:.spec.size")]
pub struct UnknownRule {
    id: String,
}

/// All changes from one set of definitions to another, the worst first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The changes.
    pub changes: Vec<Change>,
}

fn id<S: Serializer>(rule: &&'static Rule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(rule.id)
}

// === impl Change ===

impl Change {
    pub(super) fn new(rule: &'static Rule, crd: &str, path: impl Into<String>) -> Self {
        Self {
            class: rule.class,
            rule,
            crd: crd.to_owned(),
            version: None,
            path: path.into(),
            keyword: None,
            old: None,
            new: None,
            reason: rule.reason,
            allowed: false,
        }
    }

    pub(super) fn values(self, old: Option<Value>, new: Option<Value>) -> Self {
        Self { old, new, ..self }
    }

    /// What changed, in words: the rule's summary with the keyword and the values.
    #[must_use]
    pub fn what(&self) -> String {
        let keyword = self.keyword.map(|keyword| format!(" ({keyword})")).unwrap_or_default();
        let values = match (&self.old, &self.new) {
            (Some(old), Some(new)) => format!(": {} -> {}", shown(old), shown(new)),
            (Some(old), None) => format!(": {}", shown(old)),
            (None, Some(new)) => format!(": {}", shown(new)),
            (None, None) => String::new(),
        };
        format!("{}{keyword}{values}", self.rule.summary)
    }
}

/// A value on one line, cut if it is long.
fn shown(value: &Value) -> String {
    const LIMIT: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LIMIT) {
        Some((at, _)) => format!("{}...", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

impl Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.class.as_str(), self.crd)?;
        if let Some(version) = &self.version {
            write!(f, " {version}")?;
        }
        write!(f, " {}: {} [{}]", self.path, self.what(), self.rule.id)
    }
}

// === impl Exception ===

impl Exception {
    /// Reads `RULE` or `RULE:PATH`, as `field-removed` or `field-removed:.spec.size`.
    ///
    /// # Errors
    ///
    /// If there is no such rule.
    pub fn parse(text: &str) -> Result<Self, UnknownRule> {
        let (id, path) = text.split_once(':').map_or((text, None), |(id, path)| (id, Some(path.to_owned())));
        let rule = super::rule::find(id).ok_or_else(|| UnknownRule { id: id.to_owned() })?;
        Ok(Self { rule, path })
    }

    fn covers(&self, change: &Change) -> bool {
        self.rule.id == change.rule.id && self.path.as_ref().is_none_or(|path| *path == change.path)
    }
}

// === impl Report ===

impl Report {
    pub(super) fn of(mut changes: Vec<Change>) -> Self {
        changes.sort_by(|a, b| {
            b.class
                .cmp(&a.class)
                .then_with(|| (&a.crd, &a.version, &a.path).cmp(&(&b.crd, &b.version, &b.path)))
                .then_with(|| (a.rule.id, a.keyword).cmp(&(b.rule.id, b.keyword)))
        });
        Self { changes }
    }

    /// Marks the changes that `exceptions` cover as allowed.
    pub fn allow(&mut self, exceptions: &[Exception]) {
        for change in &mut self.changes {
            change.allowed |= exceptions.iter().any(|exception| exception.covers(change));
        }
    }

    /// The worst class among the changes for which no exception was made; none if there are no such changes.
    #[must_use]
    pub fn worst(&self) -> Option<Class> {
        self.changes.iter().filter(|change| !change.allowed).map(|change| change.class).max()
    }

    /// Whether nothing is worse than safe, exceptions aside.
    #[must_use]
    pub fn is_compatible(&self) -> bool {
        self.worst().is_none_or(|worst| worst == Class::Safe)
    }
}
