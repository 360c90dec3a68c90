//! The roles for those who use an API.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Rule, role};
use crate::Style;

/// Roles for the people who use an API of the operator: one to view its objects, one to edit them, one to do
/// everything with them. The operator itself needs none of them.
///
/// Names and rules are those of kubebuilder's projects. In our style the cluster roles also have the labels by which
/// Kubernetes adds them to its own roles `view`, `edit` and `admin`: whoever may view, edit or administer the objects of
/// a namespace may then do so with those of this API, and nothing has to be bound. Kubebuilder's have to be bound by
/// hand.
///
/// ```
/// use kubewright_manifests::{Style, rbac::UserRoles};
///
/// let [admin, editor, viewer] = UserRoles::new("cache.example.com", "Memcached", "memcacheds").documents(Style::Kubewright);
/// assert_eq!(viewer["metadata"]["name"], "memcached-viewer-role");
/// assert_eq!(viewer["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-view"], "true");
/// assert_eq!(editor["rules"][0]["resources"][0], "memcacheds");
/// assert_eq!(admin["rules"][0]["verbs"][0], "*");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UserRoles {
    /// The API group.
    pub group: String,
    /// The plural name of the resource.
    pub plural: String,
    /// What the names of the roles begin with; the kind in lower case by default. Projects with several groups put the
    /// group before it.
    pub prefix: String,
    /// Whether the resource has the subresource `status`, which all three may read; so by default.
    pub status: bool,
    /// Makes roles in this namespace instead of cluster roles.
    pub namespace: Option<String>,
    /// Labels for all three.
    pub labels: BTreeMap<String, String>,
}

// === impl UserRoles ===

impl UserRoles {
    /// The roles for one kind of objects.
    pub fn new(group: impl Into<String>, kind: &str, plural: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            plural: plural.into(),
            prefix: kind.to_lowercase(),
            status: true,
            namespace: None,
            labels: BTreeMap::new(),
        }
    }

    /// The roles for the kinds of these CRDs, in their order.
    ///
    /// The status counts where a version has it as a subresource. Where kinds of several groups have the same name, the
    /// first part of the group stands before it.
    #[must_use]
    pub fn of_definitions(definitions: &[Value]) -> Vec<Self> {
        let text = |definition: &Value, pointer: &str| {
            definition.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let kinds: Vec<String> = definitions
            .iter()
            .map(|definition| text(definition, "/spec/names/kind").to_lowercase())
            .collect();
        definitions
            .iter()
            .zip(&kinds)
            .map(|(definition, kind)| {
                let mut roles =
                    Self::new(text(definition, "/spec/group"), kind, text(definition, "/spec/names/plural"));
                let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
                roles.status = versions
                    .into_iter()
                    .flatten()
                    .any(|version| version.pointer("/subresources/status").is_some());
                if kinds.iter().filter(|other| *other == kind).count() > 1 {
                    let group = roles.group.split('.').next().unwrap_or_default();
                    roles.prefix = format!("{group}-{kind}");
                }
                roles
            })
            .collect()
    }

    /// The role for administrators, that for editors and that for viewers.
    #[must_use]
    pub fn documents(&self, style: Style) -> [Value; 3] {
        let edit: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];
        [
            ("admin", "admin", &["*"] as &[&str]),
            ("editor", "edit", edit),
            ("viewer", "view", &["get", "list", "watch"]),
        ]
        .map(|(name, aggregate_to, verbs)| {
            let mut rules = vec![self.rule("", verbs)];
            if self.status {
                rules.push(self.rule("/status", &["get"]));
            }
            let mut labels = self.labels.clone();
            if style == Style::Kubewright && self.namespace.is_none() {
                let label = format!("rbac.authorization.k8s.io/aggregate-to-{aggregate_to}");
                labels.insert(label, "true".to_owned());
            }
            let name = format!("{}-{name}-role", self.prefix);
            role::document(&name, self.namespace.as_deref(), &labels, &rules)
        })
    }

    fn rule(&self, subresource: &str, verbs: &[&str]) -> Rule {
        let resource = format!("{}{subresource}", self.plural);
        Rule::resources([self.group.as_str()], [resource.as_str()], verbs.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(group: &str, kind: &str, subresources: &Value) -> Value {
        let plural = format!("{}s", kind.to_lowercase());
        json!({"spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural},
            "versions": [{"name": "v1", "subresources": subresources}],
        }})
    }

    #[test]
    fn roles_follow_the_definitions() {
        let roles = UserRoles::of_definitions(&[
            definition("cache.example.com", "Memcached", &json!({"status": {}})),
            definition("web.example.com", "Route", &json!({})),
        ]);
        let [admin, _, viewer] = roles[0].documents(Style::Kubewright);
        assert_eq!(admin["metadata"]["name"], "memcached-admin-role");
        assert_eq!(viewer["rules"][1]["resources"], json!(["memcacheds/status"]));
        let [_, _, viewer] = roles[1].documents(Style::Kubewright);
        assert_eq!(viewer["rules"].as_array().map(Vec::len), Some(1), "there is no status to read: {viewer}");
    }

    #[test]
    fn kinds_of_one_name_are_told_apart_by_their_groups() {
        let roles = UserRoles::of_definitions(&[
            definition("cache.example.com", "Cluster", &json!({})),
            definition("web.example.com", "Cluster", &json!({})),
        ]);
        let prefixes: Vec<_> = roles.iter().map(|roles| roles.prefix.as_str()).collect();
        assert_eq!(prefixes, ["cache-cluster", "web-cluster"]);
    }
}
