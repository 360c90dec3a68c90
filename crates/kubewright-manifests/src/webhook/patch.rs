//! The last changes to a webhook, and whether the result is one.

use k8s_openapi::api::admissionregistration::v1::{MutatingWebhook, ValidatingWebhook};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    findings::Findings,
    marker::{Marker, nearest::nearest},
};

/// The fields that patches and selectors write, to find what was meant.
const FIELDS: [&str; 14] = [
    "namespaceSelector",
    "objectSelector",
    "matchConditions",
    "matchLabels",
    "matchExpressions",
    "reinvocationPolicy",
    "timeoutSeconds",
    "failurePolicy",
    "matchPolicy",
    "sideEffects",
    "clientConfig",
    "operator",
    "values",
    "expression",
];

/// Applies the patch of the marker, if it has one, and sees whether a webhook came out; none if not.
///
/// The patch is a strategic merge patch: objects are merged, `null` removes, lists replace, except that match
/// conditions are merged by their names. `$patch` may say `replace` or `delete`.
pub(super) fn apply(
    marker: &Marker,
    mut hook: Map<String, Value>,
    findings: &mut Findings<'_>,
) -> Option<Value> {
    if let Some(text) = marker.text_of("patch") {
        match serde_json::from_str(text) {
            Ok(Value::Object(patch)) => {
                if let Err(directive) = merge(&mut hook, patch) {
                    let message = format!("the patch has `{directive}`, which is not known here");
                    findings.error(
                        "webhook-patch",
                        "patch",
                        message,
                        "write the list or object as it shall be",
                    );
                    return None;
                }
            }
            Ok(_) => {
                findings.error("webhook-patch", "patch", "the patch is no JSON object", "");
                return None;
            }
            Err(error) => {
                findings.error(
                    "webhook-patch",
                    "patch",
                    format!("the patch is no JSON: {error}"),
                    "write it in backticks, as patch=`{\"objectSelector\":{\"matchLabels\":{\"a\":\"b\"}}}`",
                );
                return None;
            }
        }
    }
    let hook = Value::Object(hook);
    let problem = match marker.argument("mutating") {
        Some(Value::Bool(true)) => problem::<MutatingWebhook>(&hook),
        _ => problem::<ValidatingWebhook>(&hook),
    };
    match problem {
        None => Some(hook),
        Some(problem) => {
            let argument = ["namespaceSelector", "objectSelector", "matchConditions"]
                .into_iter()
                .find(|name| problem.path.starts_with(name) && marker.argument(name).is_some());
            findings.error("webhook-field", argument.unwrap_or("patch"), problem.message, &problem.help);
            None
        }
    }
}

/// Merges the patch into the object. The error is a directive that is not known.
fn merge(object: &mut Map<String, Value>, mut patch: Map<String, Value>) -> Result<(), String> {
    match patch.remove("$patch").as_ref().map(|directive| directive.as_str().unwrap_or_default()) {
        None | Some("merge") => {}
        Some("replace") => object.clear(),
        Some("delete") => {
            object.clear();
            return Ok(());
        }
        Some(other) => return Err(format!("$patch: {other}")),
    }
    for (key, value) in patch {
        if key.starts_with('$') {
            return Err(key);
        }
        match (value, object.get_mut(&key)) {
            (Value::Null, _) => {
                object.remove(&key);
            }
            (Value::Object(patch), Some(Value::Object(inner))) => {
                let deletes = patch.get("$patch").and_then(Value::as_str) == Some("delete");
                merge(inner, patch)?;
                if deletes {
                    object.remove(&key);
                }
            }
            (Value::Object(patch), _) => {
                let mut inner = Map::new();
                merge(&mut inner, patch)?;
                object.insert(key, Value::Object(inner));
            }
            (Value::Array(items), current) if key == "matchConditions" => {
                let mut conditions = match current {
                    Some(Value::Array(conditions)) => std::mem::take(conditions),
                    _ => Vec::new(),
                };
                merge_by_name(&mut conditions, items)?;
                object.insert(key, Value::Array(conditions));
            }
            (value, _) => {
                object.insert(key, value);
            }
        }
    }
    Ok(())
}

/// Merges a list whose items are told apart by their names.
fn merge_by_name(list: &mut Vec<Value>, patch: Vec<Value>) -> Result<(), String> {
    if patch.iter().any(|item| item.get("$patch").and_then(Value::as_str) == Some("replace")) {
        list.clear();
    }
    for item in patch {
        let Value::Object(mut item) = item else {
            list.push(item);
            continue;
        };
        let directive = item.remove("$patch");
        let position = list.iter().position(|other| other.get("name") == item.get("name"));
        match (directive.as_ref().map(|directive| directive.as_str().unwrap_or_default()), position) {
            // It stands alone to clear the list.
            (Some("replace"), _) if item.is_empty() => {}
            (Some("delete"), position) => {
                if let Some(position) = position {
                    list.remove(position);
                }
            }
            (None | Some("merge" | "replace"), position) => {
                match position.and_then(|position| list.get_mut(position)).and_then(Value::as_object_mut) {
                    Some(other) => merge(other, item)?,
                    None => {
                        let mut new = Map::new();
                        merge(&mut new, item)?;
                        list.push(Value::Object(new));
                    }
                }
            }
            (Some(other), _) => return Err(format!("$patch: {other}")),
        }
    }
    Ok(())
}

/// Why a value is not what it should be.
struct Problem {
    path: String,
    message: String,
    help: String,
}

/// Why the value is no `K`; none if it is one.
fn problem<K: DeserializeOwned + Serialize>(hook: &Value) -> Option<Problem> {
    let typed: K = match serde_json::from_value(hook.clone()) {
        Ok(typed) => typed,
        Err(error) => {
            let path = hook.as_object().into_iter().flatten().find(|(name, value)| {
                let mut only = hook.clone();
                if let Some(object) = only.as_object_mut() {
                    object.retain(|other, _| other != *name);
                }
                // The field is at fault if the error goes with it.
                !value.is_null()
                    && serde_json::from_value::<K>(only)
                        .map_or_else(|other| other.to_string() != error.to_string(), |_| true)
            });
            let path = path.map(|(name, _)| name.clone()).unwrap_or_default();
            let message = match path.as_str() {
                "" => format!("what came out is no webhook: {error}"),
                path => format!("`{path}` is not what a webhook has there: {error}"),
            };
            return Some(Problem { path, message, help: String::new() });
        }
    };
    let path = unknown(hook, &serde_json::to_value(typed).ok()?)?;
    let name = path.rsplit('.').next().unwrap_or(&path);
    let help = nearest(name, FIELDS).map(|right| format!("write `{right}`")).unwrap_or_default();
    Some(Problem { message: format!("a webhook has no field `{path}`"), help, path })
}

/// The path of the first field that is not in the typed value.
fn unknown(value: &Value, known: &Value) -> Option<String> {
    let within = |step: String, path: String| format!("{step}.{path}");
    match (value, known) {
        (Value::Object(value), Value::Object(known)) => {
            value.iter().find_map(|(name, item)| match known.get(name) {
                None => Some(name.clone()),
                Some(known) => unknown(item, known).map(|path| within(name.clone(), path)),
            })
        }
        (Value::Array(value), Value::Array(known)) => {
            let mut pairs = value.iter().zip(known).enumerate();
            pairs.find_map(|(index, (item, known))| {
                unknown(item, known).map(|path| within(index.to_string(), path))
            })
        }
        _ => None,
    }
}
