//! JSON patches (RFC 6902), with what kustomize takes besides.

use ::json_patch::PatchOperation;
use serde_json::Value;

use crate::{
    node::{Dialect, MAX_DEPTH, MAX_NODES, Map, Node, read},
    resource::Resource,
};

/// A list of operations.
#[derive(Debug)]
pub(crate) struct JsonPatch(Vec<Value>);

impl JsonPatch {
    /// The operations of a text, which is YAML or JSON.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let node = read(text, Dialect::Version1).map_err(|error| error.to_string())?;
        let Some(node) = node else { return Ok(Self(Vec::new())) };
        let Value::Array(mut operations) = node.to_json(Dialect::Version1)? else {
            return Err("a JSON patch is a list of operations".to_owned());
        };
        for operation in &mut operations {
            if let Value::Object(fields) = operation
                && fields.get("op").is_some_and(|op| op == "add" || op == "replace" || op == "test")
            {
                fields.entry("value").or_insert(Value::Null);
            }
            typed(operation)?;
        }
        Ok(Self(operations))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Applies the operations to an object.
    pub(super) fn apply(&self, resource: &mut Resource) -> Result<(), String> {
        let mut value = resource.to_json()?;
        // kustomize has annotations of its own there, to which a patch can add.
        if resource.has_records()
            && let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut)
            && metadata.get("annotations").is_none_or(Value::is_null)
        {
            metadata.insert("annotations".to_owned(), Value::Object(serde_json::Map::new()));
        }
        for operation in &self.0 {
            let fail = |why: String| format!("{}: {operation}: {why}", resource.id());
            let Some(adapted) = adapted(operation, &value) else { continue };
            let adapted = typed(&adapted).map_err(fail)?;
            ::json_patch::patch(&mut value, std::slice::from_ref(&adapted))
                .map_err(|error| fail(error.kind.to_string()))?;
            // A copy into itself doubles what there is.
            if matches!(adapted, PatchOperation::Copy(_) | PatchOperation::Move(_)) && !fits(&value) {
                return Err(fail("the object becomes too large".to_owned()));
            }
        }
        let Value::Object(map) = &value else {
            return Err(format!("{}: the patch leaves no object", resource.id()));
        };
        resource.body = map.iter().map(|(key, value)| (key.clone(), Node::from_json(value))).collect::<Map>();
        Ok(())
    }
}

fn typed(operation: &Value) -> Result<PatchOperation, String> {
    serde_json::from_value(operation.clone())
        .map_err(|error| format!("{operation} is no JSON patch operation: {error}"))
}

/// The operation in the words of the RFC; nothing if it does nothing.
///
/// kustomize counts negative indices from the end, adds where there is no field to replace, and finds null in a field
/// that is not there.
fn adapted(operation: &Value, document: &Value) -> Option<Value> {
    let mut operation = operation.clone();
    let adds = operation.get("op").is_some_and(|op| matches!(op.as_str(), Some("add" | "copy" | "move")));
    for (field, adds) in [("path", adds), ("from", false)] {
        if let Some(Value::String(path)) = operation.get_mut(field) {
            *path = from_the_front(path, document, adds);
        }
    }
    let path = operation.get("path").and_then(Value::as_str).unwrap_or_default();
    let parent = path.rsplit_once('/').and_then(|(parent, _)| document.pointer(parent));
    if document.pointer(path).is_none() && parent.is_some_and(Value::is_object) {
        match operation.get("op").and_then(Value::as_str) {
            Some("replace") => operation["op"] = Value::from("add"),
            Some("test") if operation.get("value").is_some_and(Value::is_null) => return None,
            _ => {}
        }
    }
    Some(operation)
}

/// The pointer without negative indices. Where something is added, -1 is after the last item.
fn from_the_front(pointer: &str, document: &Value, adds: bool) -> String {
    let mut result = String::with_capacity(pointer.len());
    let mut tokens = pointer.split('/').skip(1).peekable();
    while let Some(token) = tokens.next() {
        let length = document.pointer(&result).and_then(Value::as_array).map(Vec::len);
        let length = length.map(|length| if adds && tokens.peek().is_none() { length + 1 } else { length });
        let back = token.strip_prefix('-').and_then(|digits| digits.parse::<usize>().ok());
        let index = length.zip(back).and_then(|(length, back)| length.checked_sub(back));
        result.push('/');
        result.push_str(&index.map_or_else(|| token.to_owned(), |index| index.to_string()));
    }
    if pointer.starts_with('/') { result } else { pointer.to_owned() }
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
