use serde_json::{Value, json};

use crate::registry::metadata;

/// The finalizer in `spec.finalizers` that the namespace controller removes when the namespace is empty.
const FINALIZER: &str = "kubernetes";

pub(super) fn prepare_create(namespace: &mut Value) {
    label(namespace);
    let object = metadata::as_map(namespace);
    object.insert("status".to_owned(), json!({ "phase": "Active" }));
    let finalizers = metadata::child(object, "spec").entry("finalizers").or_insert(Value::Null);
    if !finalizers.is_array() {
        *finalizers = json!([]);
    }
    if let Some(finalizers) = finalizers.as_array_mut()
        && !finalizers.iter().any(|own| own == FINALIZER)
    {
        finalizers.push(Value::from(FINALIZER));
    }
}

pub(super) fn prepare_update(namespace: &mut Value, old: &Value) {
    // Only the subresource `finalize` changes the finalizers, and there is nothing else in the spec.
    super::copy_field(namespace, old, "spec");
    label(namespace);
}

/// Every namespace carries its name as a label, so that selectors can name it.
fn label(namespace: &mut Value) {
    let name = metadata::name(namespace).to_owned();
    let labels = metadata::child(metadata::edit(namespace), "labels");
    labels.insert("kubernetes.io/metadata.name".to_owned(), Value::from(name));
}
