//! Who has the roles.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The account that the operator's pods run as.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceAccount {
    /// Its name; kubebuilder's is `controller-manager`.
    pub name: String,
    /// Its namespace, which is that of the operator.
    pub namespace: String,
}

// === impl ServiceAccount ===

impl ServiceAccount {
    /// The account of this name in this namespace.
    pub fn new(name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self { name: name.into(), namespace: namespace.into() }
    }
}

/// One binding per role, which gives the role to the account: a ClusterRoleBinding for a ClusterRole, a RoleBinding in the
/// same namespace for a Role. Documents of other kinds are passed over.
///
/// The bindings are named as kubebuilder names them: that of `manager-role` is `manager-rolebinding`. Their labels are
/// those given.
///
/// ```
/// use kubewright_manifests::rbac::{ServiceAccount, bindings};
/// use serde_json::json;
///
/// let role = json!({"kind": "Role", "metadata": {"name": "leader-election-role", "namespace": "system"}});
/// let account = ServiceAccount::new("controller-manager", "system");
/// let [binding] = bindings([&role], &account, &Default::default()).try_into().unwrap();
/// assert_eq!(binding["metadata"], json!({"name": "leader-election-rolebinding", "namespace": "system"}));
/// assert_eq!(binding["roleRef"]["name"], "leader-election-role");
/// ```
pub fn bindings<'r>(
    roles: impl IntoIterator<Item = &'r Value>,
    account: &ServiceAccount,
    labels: &BTreeMap<String, String>,
) -> Vec<Value> {
    let binding = |role: &Value| {
        let kind = role.get("kind").and_then(Value::as_str)?;
        let of_metadata =
            |field| role.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Value::as_str);
        let name = of_metadata("name")?;
        let mut metadata =
            json!({ "name": format!("{}-rolebinding", name.strip_suffix("-role").unwrap_or(name)) });
        let binding = match kind {
            "ClusterRole" => "ClusterRoleBinding",
            "Role" => "RoleBinding",
            _ => return None,
        };
        if let ("Role", Some(namespace)) = (kind, of_metadata("namespace")) {
            metadata["namespace"] = namespace.into();
        }
        if !labels.is_empty() {
            metadata["labels"] = json!(labels);
        }
        Some(json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": binding,
            "metadata": metadata,
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name },
            "subjects": [{ "kind": "ServiceAccount", "name": account.name, "namespace": account.namespace }],
        }))
    };
    roles.into_iter().filter_map(binding).collect()
}
