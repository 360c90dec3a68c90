//! The roles and bindings that every cluster starts with.

use serde_json::Value;

/// The ClusterRoles, ClusterRoleBindings, Roles and RoleBindings that kube-apiserver 1.37 creates in an empty
/// cluster, complete but for what the server fills in (uid, creation time, version). The namespaced ones are
/// in `kube-system` and `kube-public`.
#[must_use]
pub fn bootstrap_objects() -> Vec<Value> {
    serde_json::from_str(include_str!("../../data/rbac.json"))
        .expect("the generated roles and bindings are valid") // checked by a test, not by input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_is_whole() {
        let objects = bootstrap_objects();
        let count = |kind: &str| objects.iter().filter(|object| object["kind"] == kind).count();
        assert_eq!(
            (count("ClusterRole"), count("ClusterRoleBinding"), count("Role"), count("RoleBinding")),
            (73, 54, 7, 7)
        );
        for object in &objects {
            assert_eq!(object["apiVersion"], "rbac.authorization.k8s.io/v1");
            assert!(object["metadata"].get("uid").is_none() && object["metadata"]["name"].is_string());
        }
    }
}
