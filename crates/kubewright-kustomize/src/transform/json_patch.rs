//! JSON patches (RFC 6902).

use ::json_patch::{Patch, PatchOperation};
use serde_json::Value;

use crate::{
    node::{Dialect, MAX_DEPTH, MAX_NODES, Map, Node, read},
    resource::Resource,
};

/// The operations of a text, which is YAML or JSON.
pub(super) fn parse(text: &str) -> Result<Patch, String> {
    let node = read(text, Dialect::Version1).map_err(|error| error.to_string())?;
    let Some(node) = node else { return Ok(Patch(Vec::new())) };
    serde_json::from_value(node.to_json(Dialect::Version1)?)
        .map_err(|error| format!("it is no list of JSON patch operations: {error}"))
}

/// Applies the operations to an object.
pub(super) fn apply(patch: &Patch, resource: &mut Resource) -> Result<(), String> {
    let mut value = resource.to_json()?;
    // kustomize has annotations of its own there, to which a patch can add.
    if resource.has_records()
        && let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut)
        && metadata.get("annotations").is_none_or(Value::is_null)
    {
        metadata.insert("annotations".to_owned(), Value::Object(serde_json::Map::new()));
    }
    for operation in &patch.0 {
        ::json_patch::patch(&mut value, std::slice::from_ref(operation))
            .map_err(|error| format!("{}: {}: {}", resource.id(), shown(operation), error.kind))?;
        // A copy into itself doubles what there is.
        if matches!(operation, PatchOperation::Copy(_) | PatchOperation::Move(_)) && !fits(&value) {
            return Err(format!("{}: {}: the object becomes too large", resource.id(), shown(operation)));
        }
    }
    let Value::Object(map) = &value else {
        return Err(format!("{}: the patch leaves no object", resource.id()));
    };
    resource.body = map.iter().map(|(key, value)| (key.clone(), Node::from_json(value))).collect::<Map>();
    Ok(())
}

fn shown(operation: &PatchOperation) -> String {
    serde_json::to_string(operation).unwrap_or_default()
}

fn fits(value: &Value) -> bool {
    fn count(value: &Value, depth: usize, left: &mut usize) -> bool {
        if depth > MAX_DEPTH || *left == 0 {
            return false;
        }
        *left -= 1;
        match value {
            Value::Array(items) => items.iter().all(|item| count(item, depth + 1, left)),
            Value::Object(map) => map.values().all(|value| count(value, depth + 1, left)),
            _ => true,
        }
    }
    count(value, 0, &mut { MAX_NODES })
}
