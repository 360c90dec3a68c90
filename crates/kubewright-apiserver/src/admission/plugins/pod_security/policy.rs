use std::fmt;

use kubewright_schema::{ErrorList, FieldError, FieldPath};
use serde_json::Value;

use crate::registry::metadata;

/// What pods of a namespace are measured by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Policy {
    /// What is refused.
    pub(super) enforce: Standard,
    /// What is put down, which nobody sees here.
    audit: Standard,
    /// What is warned of.
    pub(super) warn: Standard,
}

/// A level at a version of Kubernetes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Standard {
    pub(super) level: Level,
    pub(super) version: Version,
}

/// How strict it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    #[default]
    Privileged,
    Baseline,
    Restricted,
}

/// The minor version; the latest unless it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Version(pub(super) Option<u32>);

/// What the labels say of one of the standards.
#[derive(Default)]
struct Labelled {
    standard: Standard,
    has_level: bool,
    is_unreadable: bool,
    has_version: bool,
}

const PREFIX: &str = "pod-security.kubernetes.io/";

impl Policy {
    /// The policy that a namespace's labels say, and what is wrong with them. What cannot be read is strict where it is
    /// enforced, and otherwise not there.
    pub(super) fn read(namespace: &Value) -> (Self, ErrorList) {
        let (mut policy, mut errors) = (Self::default(), ErrorList::new());
        let Some(labels) = metadata::get(namespace, "labels").and_then(Value::as_object) else {
            return (policy, errors);
        };
        let mut read = |name: &str, unreadable: Level| {
            let text = |label: &str| labels.get(label).and_then(Value::as_str);
            let mut refuse = |label: &str, text: &str, why: &str| {
                let path = FieldPath::new("metadata").child("labels").key(label);
                errors.push(FieldError::invalid(&path, text, why));
            };
            let mut labelled = Labelled::default();
            let label = format!("{PREFIX}{name}");
            if let Some(text) = text(&label) {
                labelled.has_level = true;
                labelled.standard.level = Level::read(text).unwrap_or_else(|| {
                    labelled.is_unreadable = true;
                    refuse(&label, text, "must be one of privileged, baseline, restricted");
                    unreadable
                });
            }
            let label = format!("{label}-version");
            if let Some(text) = text(&label) {
                labelled.has_version = true;
                labelled.standard.version = Version::read(text).unwrap_or_else(|| {
                    refuse(&label, text, "must be \"latest\" or \"v1.x\"");
                    Version::default()
                });
            }
            labelled
        };
        let enforce = read("enforce", Level::Restricted);
        policy.enforce = enforce.standard;
        policy.audit = read("audit", Level::Privileged).standard;
        let warn = read("warn", Level::Privileged);
        policy.warn = warn.standard;
        // What is refused is warned of where it cannot be refused.
        let is_implied = !warn.has_level && enforce.has_level && !enforce.is_unreadable;
        if is_implied && policy.enforce.level > policy.warn.level {
            policy.warn.level = policy.enforce.level;
            if !warn.has_version {
                policy.warn.version = policy.enforce.version;
            }
        }
        (policy, errors)
    }

    /// Whether everything is allowed, and nothing is said.
    pub(super) fn is_privileged(&self) -> bool {
        [self.enforce, self.audit, self.warn].iter().all(|standard| standard.level == Level::Privileged)
    }
}

impl Level {
    fn read(text: &str) -> Option<Self> {
        match text {
            "privileged" => Some(Self::Privileged),
            "baseline" => Some(Self::Baseline),
            "restricted" => Some(Self::Restricted),
            _ => None,
        }
    }
}

impl Version {
    fn read(text: &str) -> Option<Self> {
        if text == "latest" {
            return Some(Self(None));
        }
        let minor = text.strip_prefix("v1.")?;
        let is_number =
            minor == "0" || (!minor.starts_with('0') && minor.bytes().all(|byte| byte.is_ascii_digit()));
        if is_number { minor.parse().ok().map(|minor| Self(Some(minor))) } else { None }
    }
}

/// `baseline:latest`.
impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.level {
            Level::Privileged => "privileged",
            Level::Baseline => "baseline",
            Level::Restricted => "restricted",
        })?;
        match self.version.0 {
            None => f.write_str(":latest"),
            Some(minor) => write!(f, ":v1.{minor}"),
        }
    }
}
