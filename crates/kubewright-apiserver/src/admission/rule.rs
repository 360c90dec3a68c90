use serde_json::Value;

use super::attributes::{Attributes, ResourceName};

/// A rule of a webhook or a policy: which requests it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rule {
    operations: Vec<String>,
    groups: Vec<String>,
    versions: Vec<String>,
    resources: Vec<String>,
    scope: Scope,
    /// The names it is limited to, if it is. Policies have these.
    names: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scope {
    #[default]
    All,
    Cluster,
    Namespaced,
}

impl Rule {
    pub(crate) fn read(rule: &Value) -> Self {
        let texts = |field: &str| {
            let items = rule[field].as_array().map(Vec::as_slice).unwrap_or_default();
            items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self {
            operations: texts("operations"),
            groups: texts("apiGroups"),
            versions: texts("apiVersions"),
            resources: texts("resources"),
            scope: match rule["scope"].as_str() {
                Some("Cluster") => Scope::Cluster,
                Some("Namespaced") => Scope::Namespaced,
                _ => Scope::All,
            },
            names: texts("resourceNames"),
        }
    }

    pub(crate) fn read_all(rules: &Value) -> Vec<Self> {
        rules.as_array().into_iter().flatten().map(Self::read).collect()
    }

    /// Whether the rule is about a request, if that were one for this resource.
    pub(crate) fn matches(
        &self,
        attributes: &Attributes<'_>,
        resource: ResourceName<'_>,
        object: Option<&Value>,
    ) -> bool {
        let is_one = |words: &[String], word: &str| words.iter().any(|own| own == "*" || own == word);
        self.matches_scope(attributes)
            && is_one(&self.operations, attributes.operation().name())
            && is_one(&self.groups, resource.group)
            && is_one(&self.versions, resource.version)
            && self.matches_resource(resource.resource, &attributes.request.subresource)
            && (self.names.is_empty() || self.names.iter().any(|name| name == attributes.name(object)))
    }

    fn matches_scope(&self, attributes: &Attributes<'_>) -> bool {
        // A namespace is no object in one, though requests for it have its name as their namespace.
        let is_namespaced = attributes.request.served.definition.namespaced;
        match self.scope {
            Scope::All => true,
            Scope::Namespaced => is_namespaced,
            Scope::Cluster => !is_namespaced,
        }
    }

    fn matches_resource(&self, resource: &str, subresource: &str) -> bool {
        self.resources.iter().any(|own| {
            let (own, below) = own.split_once('/').unwrap_or((own, ""));
            (own == "*" || own == resource) && (below == "*" || below == subresource)
        })
    }
}
