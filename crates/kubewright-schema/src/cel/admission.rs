//! What expressions of admission see of a request besides its object.

use super::{Scope, ValueType};

impl Scope {
    /// A scope with `request` and `namespaceObject`.
    #[must_use]
    pub fn of_admission() -> Self {
        Self::new().with("request", &request_type()).with("namespaceObject", &namespace_type())
    }
}

fn texts(fields: &[&'static str]) -> Vec<(&'static str, ValueType)> {
    fields.iter().map(|field| (*field, ValueType::String)).collect()
}

fn list() -> ValueType {
    ValueType::List(Box::new(ValueType::String))
}

/// The type of `request`: a review's, without the objects.
fn request_type() -> ValueType {
    let kind = ValueType::Object("kubernetes.GroupVersionKind", texts(&["group", "version", "kind"]));
    let resource =
        ValueType::Object("kubernetes.GroupVersionResource", texts(&["group", "version", "resource"]));
    let mut user = texts(&["username", "uid"]);
    user.push(("groups", list()));
    user.push(("extra", ValueType::Map(Box::new(list()))));
    let mut fields = texts(&["subResource", "requestSubResource", "name", "namespace", "operation"]);
    fields.extend([
        ("kind", kind.clone()),
        ("resource", resource.clone()),
        ("requestKind", kind),
        ("requestResource", resource),
        ("userInfo", ValueType::Object("kubernetes.UserInfo", user)),
        ("dryRun", ValueType::Bool),
        ("options", ValueType::Any),
    ]);
    ValueType::Object("kubernetes.AdmissionRequest", fields)
}

/// The type of `namespaceObject`, which shows less than the namespace has.
fn namespace_type() -> ValueType {
    let map = || ValueType::Map(Box::new(ValueType::String));
    let mut metadata = texts(&["name", "generateName", "namespace", "UID", "resourceVersion"]);
    metadata.extend([
        ("labels", map()),
        ("annotations", map()),
        ("creationTimestamp", ValueType::Time),
        ("deletionTimestamp", ValueType::Time),
        ("deletionGracePeriodSeconds", ValueType::Int),
        ("generation", ValueType::Int),
        ("finalizers", list()),
    ]);
    let mut condition = texts(&["status", "type", "message", "reason"]);
    condition.push(("lastTransitionTime", ValueType::Time));
    let conditions = ValueType::List(Box::new(ValueType::Object("kubernetes.NamespaceCondition", condition)));
    let status = vec![("phase", ValueType::String), ("conditions", conditions)];
    let fields = vec![
        ("metadata", ValueType::Object("kubernetes.NamespaceMetadata", metadata)),
        ("spec", ValueType::Object("kubernetes.NamespaceSpec", vec![("finalizers", list())])),
        ("status", ValueType::Object("kubernetes.NamespaceStatus", status)),
    ];
    ValueType::Object("kubernetes.Namespace", fields)
}
