//! One rule of a role.

use serde_json::{Map, Value, json};

use super::{Attributes, Target};

/// A `PolicyRule`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rule {
    pub(super) verbs: Vec<String>,
    pub(super) api_groups: Vec<String>,
    pub(super) resources: Vec<String>,
    pub(super) resource_names: Vec<String>,
    pub(super) urls: Vec<String>,
}

impl Rule {
    pub(super) fn read(rule: &Value) -> Self {
        let list = |key: &str| {
            let values = rule.get(key).and_then(Value::as_array).into_iter().flatten();
            values.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self {
            verbs: list("verbs"),
            api_groups: list("apiGroups"),
            resources: list("resources"),
            resource_names: list("resourceNames"),
            urls: list("nonResourceURLs"),
        }
    }

    /// The rules of a role's `rules`.
    pub(super) fn read_all(rules: Option<&Value>) -> Vec<Self> {
        rules.and_then(Value::as_array).into_iter().flatten().map(Self::read).collect()
    }

    pub(super) fn allows(&self, attributes: &Attributes) -> bool {
        if !covers(&self.verbs, &attributes.verb) {
            return false;
        }
        match &attributes.target {
            Target::Path(path) => self.urls.iter().any(|url| url_matches(url, path)),
            Target::Resource { group, resource, subresource, name, .. } => {
                covers(&self.api_groups, group)
                    && self.resources.iter().any(|own| resource_matches(own, resource, subresource))
                    && (self.resource_names.is_empty() || self.resource_names.contains(name))
            }
        }
    }

    /// The rule as `SelfSubjectRulesReview` tells of it: for resources, and for other paths.
    pub(super) fn describe(&self) -> (Option<Value>, Option<Value>) {
        let resource = (!self.resources.is_empty()).then(|| {
            let mut rule = Map::from_iter([
                ("verbs".to_owned(), json!(self.verbs)),
                ("apiGroups".to_owned(), json!(self.api_groups)),
                ("resources".to_owned(), json!(self.resources)),
            ]);
            if !self.resource_names.is_empty() {
                rule.insert("resourceNames".to_owned(), json!(self.resource_names));
            }
            Value::Object(rule)
        });
        let path =
            (!self.urls.is_empty()).then(|| json!({"verbs": self.verbs, "nonResourceURLs": self.urls}));
        (resource, path)
    }
}

fn covers(list: &[String], wanted: &str) -> bool {
    list.iter().any(|one| one == "*" || one == wanted)
}

/// `*`, `pods`, `pods/log` or `*/scale`.
fn resource_matches(rule: &str, resource: &str, subresource: &str) -> bool {
    match rule.split_once('/') {
        None => rule == "*" || (subresource.is_empty() && rule == resource),
        Some((of, sub)) => !subresource.is_empty() && sub == subresource && (of == "*" || of == resource),
    }
}

/// `*`, a path, or the beginning of one followed by `*`.
pub(super) fn url_matches(rule: &str, path: &str) -> bool {
    let prefix = rule.trim_end_matches('*');
    rule == path || (rule.len() > prefix.len() && path.starts_with(prefix))
}
