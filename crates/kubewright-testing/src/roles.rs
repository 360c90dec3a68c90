//! The rights of an operator in a test: those of its roles.

use kubewright_apiserver::{ApiServer, User};
use serde_json::{Value, json};

/// The namespace of the operators' service accounts. It is there from the start.
const NAMESPACE: &str = "default";
const GROUP: &str = "rbac.authorization.k8s.io";

/// Creates the roles, binds them to the service account `name`, and returns who that is.
///
/// # Panics
///
/// If they are no YAML, or the server refuses one.
pub(crate) fn grant(server: &ApiServer, name: &str, roles: &str) -> User {
    let documents: Vec<Value> = match serde_saphyr::from_multiple(roles) {
        Ok(documents) => documents,
        Err(error) => panic!("the roles of {name} are no YAML: {error}"),
    };
    ensure(
        server,
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": NAMESPACE},
        }),
    );
    for role in documents.iter().filter(|role| role["apiVersion"] == format!("{GROUP}/v1")) {
        let kind = role["kind"].as_str().unwrap_or_default();
        if !matches!(kind, "Role" | "ClusterRole") {
            continue;
        }
        if let Some(namespace) = role["metadata"]["namespace"].as_str() {
            ensure(server, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}));
        }
        ensure(server, role.clone());
        ensure(server, binding(role, kind, name));
    }
    User {
        name: format!("system:serviceaccount:{NAMESPACE}:{name}"),
        groups: [
            "system:serviceaccounts",
            &format!("system:serviceaccounts:{NAMESPACE}"),
            "system:authenticated",
        ]
        .map(str::to_owned)
        .into(),
        ..User::default()
    }
}

fn binding(role: &Value, kind: &str, account: &str) -> Value {
    let name = role["metadata"]["name"].as_str().unwrap_or_default();
    let mut metadata = json!({"name": format!("{account}-{name}")});
    if kind == "Role" {
        metadata["namespace"] = role["metadata"]["namespace"].clone();
    }
    json!({
        "apiVersion": format!("{GROUP}/v1"),
        "kind": format!("{kind}Binding"),
        "metadata": metadata,
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}],
    })
}

/// Creates an object, unless it is there: a test may run several operators with one role.
fn ensure(server: &ApiServer, object: Value) {
    let what = format!("{} {}", object["kind"], object["metadata"]["name"]);
    match server.create(object) {
        Ok(_) => {}
        Err(status) if status.code == 409 => {}
        Err(status) => panic!("the API server refuses the {what}: {status}"),
    }
}
