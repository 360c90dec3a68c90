//! JSON patch (RFC 6902).
//!
//! It follows the library that kube-apiserver uses where that departs from the RFC: `replace` adds a
//! missing field, `copy` of a missing field and `add` without a value give null, `test` for null
//! holds for a missing field, negative indices count from the end, and the text before the first
//! slash of a path is ignored.

use kubewright_schema::error::go;
use serde_json::{Map, Value};

use super::{PatchError, Patched, parse};

/// The most operations that a patch may have.
const MAX_OPERATIONS: usize = 10_000;

/// Applies a JSON patch.
pub fn json_patch(object: &Value, patch: &[u8]) -> Result<Patched, PatchError> {
    let decoded = parse(patch)?;
    let operations = match &decoded.value {
        Value::Array(operations) => operations,
        Value::Null => return Ok(object.clone().into()),
        other => return Err(wrong_type(other, "value of type []handlers.jsonPatchOp")),
    };
    let mut strict_errors: Vec<String> =
        decoded.strict_errors.iter().map(|error| format!("json patch {error}")).collect();
    let operations = operations
        .iter()
        .enumerate()
        .map(|(i, operation)| Operation::read(i, operation, &mut strict_errors))
        .collect::<Result<Vec<_>, _>>()?;
    if operations.len() > MAX_OPERATIONS {
        return Err(PatchError::TooLarge { limit: MAX_OPERATIONS, got: operations.len() });
    }
    let mut value = object.clone();
    for operation in &operations {
        operation.apply(&mut value)?;
    }
    Ok(Patched { value, strict_errors, shown: None })
}

fn wrong_type(got: &Value, place: &str) -> PatchError {
    let got = go::kind(got);
    PatchError::BadRequest(format!("error decoding patch: json: cannot unmarshal {got} into Go {place}"))
}

#[derive(Debug, Default)]
struct Operation<'p> {
    op: Option<&'p str>,
    path: Option<&'p str>,
    from: Option<&'p str>,
    value: Option<&'p Value>,
}

// === impl Operation ===

impl<'p> Operation<'p> {
    fn read(index: usize, operation: &'p Value, strict_errors: &mut Vec<String>) -> Result<Self, PatchError> {
        let fields = match operation {
            Value::Object(fields) => fields,
            Value::Null => return Ok(Self::default()),
            other => return Err(wrong_type(other, "value of type handlers.jsonPatchOp")),
        };
        let mut read = Self::default();
        for (name, value) in fields {
            let text = match name.as_str() {
                "op" => &mut read.op,
                "path" => &mut read.path,
                "from" => &mut read.from,
                "value" => {
                    read.value = Some(value);
                    continue;
                }
                unknown => {
                    strict_errors.push(format!("json patch unknown field \"[{index}].{unknown}\""));
                    continue;
                }
            };
            match value {
                Value::String(value) => *text = Some(value),
                Value::Null => {}
                other => {
                    return Err(wrong_type(
                        other,
                        &format!("struct field jsonPatchOp.{name} of type string"),
                    ));
                }
            }
        }
        Ok(read)
    }

    fn apply(&self, document: &mut Value) -> Result<(), PatchError> {
        match self.op {
            Some("test") => self.test(document),
            _ => self.change(document).map_err(PatchError::Unprocessable),
        }
    }

    fn change(&self, document: &mut Value) -> Result<(), String> {
        match self.op {
            Some("add") => add(document, self.path()?, self.value.cloned().unwrap_or_default()),
            Some("remove") => remove(document, self.path()?).map(|_| ()),
            Some("replace") => self.replace(document),
            Some("move") => {
                let from = self.from()?;
                let value = remove(document, from)?;
                add(document, self.path()?, value)
            }
            Some("copy") => {
                let from = self.from()?;
                let value = get(document, from)?.cloned().unwrap_or_default();
                add(document, self.path()?, value)
            }
            op => Err(format!("Unexpected kind: {}", op.unwrap_or("unknown"))),
        }
    }

    fn path(&self) -> Result<&'p str, String> {
        self.path.ok_or_else(|| "operation missing path field: missing value".to_owned())
    }

    fn from(&self) -> Result<&'p str, String> {
        self.from.ok_or_else(|| "operation, missing from field: missing value".to_owned())
    }

    fn replace(&self, document: &mut Value) -> Result<(), String> {
        let path = self.path()?;
        let value = self.value.cloned().unwrap_or_default();
        if path.is_empty() {
            if !value.is_object() && !value.is_array() {
                return Err("replace operation value must be object or array".to_owned());
            }
            *document = value;
            return Ok(());
        }
        match find(document, path).ok_or_else(|| missing("replace", path))? {
            (Container::Object(object), key) => {
                object.insert(key, value);
            }
            (Container::Array(array), key) => {
                let at = index(&key, array.len())?;
                *array.get_mut(at).ok_or_else(|| missing("replace", path))? = value;
            }
        }
        Ok(())
    }

    fn test(&self, document: &mut Value) -> Result<(), PatchError> {
        let path = self.path().map_err(PatchError::Unprocessable)?;
        let wanted = self.value.unwrap_or(&Value::Null);
        let actual = if path.is_empty() {
            Some(&*document)
        } else {
            get(document, path).map_err(PatchError::Unprocessable)?
        };
        if actual.unwrap_or(&Value::Null) == wanted {
            Ok(())
        } else {
            Err(PatchError::TestFailed(format!("testing value {path} failed: test failed")))
        }
    }
}

enum Container<'d> {
    Object(&'d mut Map<String, Value>),
    Array(&'d mut Vec<Value>),
}

/// The container that a path leads into, and the key in it.
fn find<'d>(document: &'d mut Value, path: &str) -> Option<(Container<'d>, String)> {
    let mut parts = path.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"));
    let mut key = parts.next()?;
    let mut value = document;
    for next in parts {
        value = match value {
            Value::Object(object) => object.get_mut(&key)?,
            Value::Array(array) => {
                let at = index(&key, array.len()).ok()?;
                array.get_mut(at)?
            }
            _ => return None,
        };
        key = next;
    }
    match value {
        Value::Object(object) => Some((Container::Object(object), key)),
        Value::Array(array) => Some((Container::Array(array), key)),
        _ => None,
    }
}

/// The value at a path. A field that an object does not have is no error, all else is.
fn get<'d>(document: &'d mut Value, path: &str) -> Result<Option<&'d Value>, String> {
    match find(document, path).ok_or_else(|| missing("test", path))? {
        (Container::Object(object), key) => Ok(object.get(&key)),
        (Container::Array(array), key) => {
            let at = index(&key, array.len())?;
            Ok(array.get(at))
        }
    }
}

fn add(document: &mut Value, path: &str, value: Value) -> Result<(), String> {
    match find(document, path).ok_or_else(|| missing("add", path))? {
        (Container::Object(object), key) => {
            object.insert(key, value);
        }
        (Container::Array(array), key) if key == "-" => array.push(value),
        (Container::Array(array), key) => {
            let at = index(&key, array.len() + 1)?;
            array.insert(at, value);
        }
    }
    Ok(())
}

fn remove(document: &mut Value, path: &str) -> Result<Value, String> {
    let wrong = |why: String| format!("error in remove for path: '{path}': {why}");
    match find(document, path).ok_or_else(|| missing("remove", path))? {
        (Container::Object(object), key) => object
            .remove(&key)
            .ok_or_else(|| wrong(format!("Unable to remove nonexistent key: {key}: missing value"))),
        (Container::Array(array), key) => {
            let at = index(&key, array.len()).map_err(wrong)?;
            Ok(array.remove(at))
        }
    }
}

/// An index below `length`; a negative one counts from the end.
fn index(key: &str, length: usize) -> Result<usize, String> {
    let index: i64 = key.parse().map_err(|_| format!("value was not a proper array index: '{key}'"))?;
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let from_start = if index < 0 { index.saturating_add(length) } else { index };
    match usize::try_from(from_start) {
        Ok(at) if from_start < length => Ok(at),
        _ => Err(format!("Unable to access invalid index: {index}: invalid index referenced")),
    }
}

fn missing(operation: &str, path: &str) -> String {
    format!("{operation} operation does not apply: doc is missing path: \"{path}\": missing value")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn patch(object: &Value, patch: &Value) -> Result<Value, PatchError> {
        json_patch(object, patch.to_string().as_bytes()).map(|patched| patched.value)
    }

    #[test]
    fn operations_do_what_the_rfc_says() {
        let object = json!({"a": {"b": [1, 2, 3]}, "c~/d": "x"});
        for (operation, want) in [
            (
                json!({"op": "add", "path": "/a/b/1", "value": 9}),
                json!({"a": {"b": [1, 9, 2, 3]}, "c~/d": "x"}),
            ),
            (
                json!({"op": "add", "path": "/a/b/-", "value": 9}),
                json!({"a": {"b": [1, 2, 3, 9]}, "c~/d": "x"}),
            ),
            (json!({"op": "remove", "path": "/a/b/0"}), json!({"a": {"b": [2, 3]}, "c~/d": "x"})),
            (
                json!({"op": "replace", "path": "/c~0~1d", "value": "y"}),
                json!({"a": {"b": [1, 2, 3]}, "c~/d": "y"}),
            ),
            (
                json!({"op": "move", "from": "/a/b", "path": "/e"}),
                json!({"a": {}, "c~/d": "x", "e": [1, 2, 3]}),
            ),
            (
                json!({"op": "copy", "from": "/a/b/0", "path": "/e"}),
                json!({"a": {"b": [1, 2, 3]}, "c~/d": "x", "e": 1}),
            ),
            (json!({"op": "test", "path": "/a/b", "value": [1, 2, 3]}), object.clone()),
        ] {
            assert_eq!(patch(&object, &json!([operation])), Ok(want), "{operation}");
        }
    }

    #[test]
    fn operations_do_what_kubernetes_does_beyond_the_rfc() {
        let object = json!({"a": 1, "l": [1, 2]});
        for (operation, want) in [
            (json!({"op": "replace", "path": "/new", "value": 1}), json!({"a": 1, "l": [1, 2], "new": 1})),
            (json!({"op": "copy", "from": "/nope", "path": "/b"}), json!({"a": 1, "l": [1, 2], "b": null})),
            (json!({"op": "add", "path": "/b"}), json!({"a": 1, "l": [1, 2], "b": null})),
            (json!({"op": "test", "path": "/nope", "value": null}), object.clone()),
            (json!({"op": "remove", "path": "/l/-1"}), json!({"a": 1, "l": [1]})),
            (json!({"op": "add", "path": "/l/-1", "value": 3}), json!({"a": 1, "l": [1, 2, 3]})),
            (json!({"op": "remove", "path": "ignored/a"}), json!({"l": [1, 2]})),
        ] {
            assert_eq!(patch(&object, &json!([operation])), Ok(want), "{operation}");
        }
    }

    #[test]
    fn operations_that_do_not_apply_are_refused() {
        let object = json!({"a": 1, "l": [1]});
        for operation in [
            json!({"op": "remove", "path": "/nope"}),
            json!({"op": "remove", "path": ""}),
            json!({"op": "add", "path": "/a/b", "value": 1}),
            json!({"op": "add", "path": "/l/5", "value": 1}),
            json!({"op": "add", "path": "/l/x", "value": 1}),
            json!({"op": "test", "path": "/a", "value": 2}),
            json!({"op": "test", "path": "/l/1", "value": null}),
            json!({"op": "move", "from": "/nope", "path": "/b"}),
            json!({"op": "bogus", "path": "/a"}),
            json!({"path": "/a"}),
            json!({"op": "replace", "path": "", "value": 1}),
        ] {
            let result = patch(&object, &json!([operation]));
            let is_refused = matches!(result, Err(PatchError::Unprocessable(_) | PatchError::TestFailed(_)));
            assert!(is_refused, "{operation}: {result:?}");
        }
    }

    #[test]
    fn what_is_no_patch_is_a_bad_request() {
        for (body, want) in [
            ("nope", "invalid JSON patch"),
            (
                "{}",
                "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
            ),
            (
                "[1]",
                "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
            ),
            (
                r#"[{"op":"add","path":1}]"#,
                "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string",
            ),
        ] {
            assert_eq!(json_patch(&json!({}), body.as_bytes()), Err(PatchError::BadRequest(want.to_owned())));
        }
        let many = json!(vec![json!({"op": "add", "path": "/a", "value": 1}); MAX_OPERATIONS + 1]);
        let error = patch(&json!({}), &many).unwrap_err();
        assert_eq!(error.to_string(), "The allowed maximum operations in a JSON patch is 10000, got 10001");
    }

    #[test]
    fn strict_errors_name_the_operation() {
        let body = br#"[{"op":"add","path":"/x","value":"1","foo":1,"op":"add"}]"#;
        let patched = json_patch(&json!({}), body).unwrap();
        assert_eq!(
            patched.strict_errors,
            ["json patch duplicate field \"[0].op\"", "json patch unknown field \"[0].foo\""]
        );
    }

    proptest! {
        #[test]
        fn no_patch_panics(
            op in "add|remove|replace|move|copy|test",
            path in "(/(a|l|-|-1|0|5|~1|99999999999999999999)){0,3}",
            from in "(/(a|l|-1|0)){0,3}",
        ) {
            let object = json!({"a": {"l": [1, {"a": 2}]}, "l": [[1], 2]});
            let _ = patch(&object, &json!([{"op": op, "path": path, "from": from, "value": {"x": 1}}]));
        }

        #[test]
        fn no_body_panics(body in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = json_patch(&json!({"a": 1}), &body);
        }
    }
}
