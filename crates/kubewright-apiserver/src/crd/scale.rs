use kubewright_schema::{ErrorList, FieldError, FieldPath, error::go};
use serde_json::Value;

use super::text;

/// Where a custom resource has what the subresource `scale` shows, as paths of field names.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    pub(crate) spec_replicas: Vec<String>,
    pub(crate) status_replicas: Vec<String>,
    pub(crate) selector: Vec<String>,
}

impl Scale {
    /// What `subresources.scale` of a CRD's version says.
    pub(super) fn read(scale: &Value) -> Self {
        Self {
            spec_replicas: path(text(scale, "specReplicasPath")),
            status_replicas: path(text(scale, "statusReplicasPath")),
            selector: path(text(scale, "labelSelectorPath")),
        }
    }

    /// Where the built-in kinds have it.
    pub(crate) fn built_in() -> Self {
        Self {
            spec_replicas: path(".spec.replicas"),
            status_replicas: path(".status.replicas"),
            selector: path(".spec.selector"),
        }
    }

    /// What is wrong with the desired number of replicas, if the object has one. The schema may allow more than a
    /// `Scale` can show.
    pub(super) fn validate_spec(&self, object: &Value) -> ErrorList {
        replicas_error(object, &self.spec_replicas).into_iter().collect()
    }

    /// What is wrong with the number of replicas that there are and with the selector, if the object has them.
    pub(super) fn validate_status(&self, object: &Value) -> ErrorList {
        let mut errors: ErrorList = replicas_error(object, &self.status_replicas).into_iter().collect();
        if !self.selector.is_empty() {
            let selector = find(object, &self.selector).and_then(|found| match found {
                None | Some(Value::String(_)) => Ok(()),
                Some(other) => Err(mismatch(&self.selector, other, "string")),
            });
            errors.extend(selector.err().map(|why| FieldError::invalid(&field(&self.selector), "", why)));
        }
        errors
    }
}

fn replicas_error(object: &Value, path: &[String]) -> Option<FieldError> {
    let read = find(object, path).and_then(|found| match found {
        None => Ok(0),
        Some(value) => value.as_i64().ok_or_else(|| mismatch(path, value, "int64")),
    });
    let field = field(path);
    match read {
        Err(why) => Some(FieldError::invalid(&field, 0, why)),
        Ok(replicas) if replicas < 0 => {
            Some(FieldError::invalid(&field, replicas, "should be a non-negative integer"))
        }
        Ok(replicas) if replicas > i64::from(i32::MAX) => {
            let why = format!("should be less than or equal to {}", i32::MAX);
            Some(FieldError::invalid(&field, replicas, why))
        }
        Ok(_) => None,
    }
}

/// The value at a path, if there is one.
///
/// # Errors
/// If something on the way has no fields.
fn find<'a>(object: &'a Value, path: &[String]) -> Result<Option<&'a Value>, String> {
    let mut value = object;
    for (i, name) in path.iter().enumerate() {
        match value {
            Value::Null => return Ok(None),
            Value::Object(fields) => match fields.get(name) {
                Some(field) => value = field,
                None => return Ok(None),
            },
            other => {
                let reached = path.get(..=i).unwrap_or(path);
                return Err(mismatch(reached, other, "map[string]interface{}"));
            }
        }
    }
    Ok(Some(value))
}

fn mismatch(path: &[String], value: &Value, expected: &str) -> String {
    let (path, found) = (dotted(path), go::type_name(value));
    format!("{path} accessor error: {} is of the type {found}, expected {expected}", go::value(value))
}

fn field(path: &[String]) -> FieldPath {
    FieldPath::new(dotted(path))
}

/// A path as CRDs write it.
pub(crate) fn dotted(path: &[String]) -> String {
    path.iter().fold(String::new(), |text, field| text + "." + field)
}

/// The field names of a simple JSONPath such as `.spec.replicas`.
fn path(path: &str) -> Vec<String> {
    path.split('.').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn errors(object: &Value) -> String {
        let scale = Scale::read(&json!({
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        }));
        let mut errors = scale.validate_spec(object);
        errors.extend(scale.validate_status(object));
        errors.to_string()
    }

    #[test]
    fn what_a_scale_cannot_show_is_refused() {
        assert_eq!(errors(&json!({})), "");
        assert_eq!(errors(&json!({"spec": null, "status": {"replicas": 3, "selector": "a=b"}})), "");
        assert_eq!(
            errors(&json!({"spec": {"replicas": -1}})),
            ".spec.replicas: Invalid value: -1: should be a non-negative integer"
        );
        assert_eq!(
            errors(&json!({"spec": {"replicas": 2_147_483_648_i64}})),
            ".spec.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647"
        );
        assert_eq!(
            errors(&json!({"spec": [{"b": 1.5, "a": null}, "c"]})),
            ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: [map[a:<nil> b:1.5] c] is of the type \
             []interface {}, expected map[string]interface{}"
        );
        assert_eq!(
            errors(&json!({"status": {"selector": true}})),
            ".status.selector: Invalid value: \"\": .status.selector accessor error: true is of the type bool, \
             expected string"
        );
    }
}
