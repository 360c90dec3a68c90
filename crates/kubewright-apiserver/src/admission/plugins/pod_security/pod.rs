use std::collections::BTreeSet;

use serde_json::Value;

/// A pod, or a template of pods, as checks look at it.
pub(super) struct Pod<'a> {
    pub(super) metadata: &'a Value,
    pub(super) spec: &'a Value,
}

/// What a check has against a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Violation {
    pub(super) reason: String,
    pub(super) detail: String,
}

impl<'a> Pod<'a> {
    pub(super) fn of(object: &'a Value) -> Self {
        Self { metadata: &object["metadata"], spec: &object["spec"] }
    }

    /// All containers: those of the beginning, those that stay, and those that were added.
    pub(super) fn containers(&self) -> impl Iterator<Item = &'a Value> + use<'a> {
        let spec = self.spec;
        ["initContainers", "containers", "ephemeralContainers"]
            .into_iter()
            .flat_map(|sort| spec[sort].as_array().into_iter().flatten())
    }

    /// The names of the containers of which something holds.
    pub(super) fn containers_that(&self, mut holds: impl FnMut(&'a Value) -> bool) -> Vec<&'a str> {
        self.containers().filter(|container| holds(container)).map(name).collect()
    }

    /// What the pod as a whole says about security.
    pub(super) fn security(&self) -> &'a Value {
        &self.spec["securityContext"]
    }

    pub(super) fn is_of_windows(&self) -> bool {
        self.spec["os"]["name"] == "windows"
    }

    /// Whether the users of the pod are none of the node's, so that they may do more.
    pub(super) fn has_own_users(&self) -> bool {
        self.spec["hostUsers"] == false
    }
}

impl Violation {
    pub(super) fn new(reason: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { reason: reason.into(), detail: detail.into() }
    }
}

/// What a container says about security.
pub(super) fn security(container: &Value) -> &Value {
    &container["securityContext"]
}

pub(super) fn name(container: &Value) -> &str {
    container["name"].as_str().unwrap_or_default()
}

/// `container "a"` or `containers "a", "b"`.
pub(super) fn containers(names: &[&str]) -> String {
    format!("{} {}", plural("container", names.len()), quoted(names.iter().copied()))
}

/// `pod`, containers, or both.
pub(super) fn setters(is_pod: bool, names: &[&str]) -> String {
    match (is_pod, names) {
        (true, []) => "pod".to_owned(),
        (true, names) => format!("pod and {}", containers(names)),
        (false, names) => containers(names),
    }
}

/// The word, with an `s` for any number but one.
pub(super) fn plural(word: &str, count: usize) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

pub(super) fn quoted<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ")
}

/// The strings of a set, quoted.
pub(super) fn quoted_set(texts: &BTreeSet<&str>) -> String {
    quoted(texts.iter().copied())
}
