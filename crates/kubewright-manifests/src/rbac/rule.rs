//! One rule of a role.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::marker::Marker;

/// One rule of a role: what it allows is every combination of its verbs, groups, resources and names, and every
/// combination of its verbs and URLs.
///
/// This is `PolicyRule` of `rbac.authorization.k8s.io/v1` with sets for lists: neither order nor repetition means
/// anything to the API server. `*` among verbs or groups stands for all of them, among resources for all of them and
/// their subresources, `*/status` for the subresource `status` of all. A URL that ends in `*` stands for all that begin
/// with what is before it. Without resource names, the rule is about all objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule {
    /// API groups; the core group is the empty string.
    pub groups: BTreeSet<String>,
    /// Plural names of resources, or `resource/subresource`.
    pub resources: BTreeSet<String>,
    /// Names of objects; empty for all.
    pub resource_names: BTreeSet<String>,
    /// Verbs, such as `get` or `deletecollection`.
    pub verbs: BTreeSet<String>,
    /// Paths that are no resources, such as `/metrics`.
    pub urls: BTreeSet<String>,
}

// === impl Rule ===

impl Rule {
    /// A rule about resources.
    ///
    /// ```
    /// use kubewright_manifests::rbac::Rule;
    ///
    /// let rule = Rule::resources(["apps"], ["deployments", "deployments/scale"], ["get"]);
    /// assert_eq!(rule.groups.first().map(String::as_str), Some("apps"));
    /// ```
    pub fn resources<'a>(
        groups: impl IntoIterator<Item = &'a str>,
        resources: impl IntoIterator<Item = &'a str>,
        verbs: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self { groups: set(groups), resources: set(resources), verbs: set(verbs), ..Self::default() }
    }

    /// A rule about URLs that are no resources.
    pub fn urls<'a>(
        urls: impl IntoIterator<Item = &'a str>,
        verbs: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self { urls: set(urls), verbs: set(verbs), ..Self::default() }
    }

    /// The same rule for the objects of these names only.
    #[must_use]
    pub fn named<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.resource_names = set(names);
        self
    }

    /// The rule of a marker `+kubebuilder:rbac`. The group `core` is read as the core group's name, the empty string.
    #[must_use]
    pub fn of_marker(marker: &Marker) -> Self {
        let list = |name| set(marker.texts(name));
        Self {
            groups: set(marker
                .texts("groups")
                .into_iter()
                .map(|group| if group == "core" { "" } else { group })),
            resources: list("resources"),
            resource_names: list("resourceNames"),
            verbs: list("verbs"),
            urls: list("urls"),
        }
    }

    /// The rule as Kubernetes writes it; empty lists are left out.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut rule = Map::new();
        let mut put = |name: &str, list: &BTreeSet<String>| {
            if !list.is_empty() {
                rule.insert(name.to_owned(), list.iter().cloned().collect());
            }
        };
        put("apiGroups", &self.groups);
        put("nonResourceURLs", &self.urls);
        put("resourceNames", &self.resource_names);
        put("resources", &self.resources);
        put("verbs", &self.verbs);
        Value::Object(rule)
    }

    /// What rules are sorted by in a role.
    pub(super) fn sort_key(&self) -> String {
        let mut key = String::new();
        for (index, list) in
            [&self.groups, &self.resources, &self.resource_names, &self.urls].into_iter().enumerate()
        {
            if index > 0 {
                key.push_str(" + ");
            }
            for (index, item) in list.iter().enumerate() {
                if index > 0 {
                    key.push('&');
                }
                key.push_str(item);
            }
        }
        key
    }
}

fn set<'a>(items: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    items.into_iter().map(str::to_owned).collect()
}
