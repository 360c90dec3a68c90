//! Pods get the overhead and the placement of their runtime class.

use kubewright_quota::ResourceList;
use serde_json::{Value, json};

use super::Attributes;
use crate::{
    admission::Operation,
    registry::{Registry, metadata},
    status::Status,
    store::Object,
};

const CLASSES: &str = "node.k8s.io/runtimeclasses";
const MISMATCH: &str = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

pub(super) fn admit(
    registry: &Registry,
    attributes: &Attributes<'_>,
    pod: Option<&mut Value>,
) -> Result<(), Status> {
    let Some(pod) = pod.filter(|_| is_new_pod(attributes)) else { return Ok(()) };
    let Some(class) = class(registry, attributes, pod)? else { return Ok(()) };
    set_overhead(attributes, class.value(), pod)?;
    set_placement(attributes, class.value(), pod)
}

pub(super) fn validate(
    registry: &Registry,
    attributes: &Attributes<'_>,
    pod: Option<&Value>,
) -> Result<(), Status> {
    let Some(pod) = pod.filter(|_| is_new_pod(attributes)) else { return Ok(()) };
    let class = class(registry, attributes, pod)?;
    let defined = class.as_ref().map(|class| &class.value()["overhead"]).filter(|own| own.is_object());
    let own = &pod["spec"]["overhead"];
    let why = match defined {
        Some(defined) if ResourceList::of(&defined["podFixed"]) != ResourceList::of(own) => MISMATCH,
        None if own.is_object() => {
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
        }
        _ => return Ok(()),
    };
    Err(attributes.forbidden(Some(pod), why))
}

fn is_new_pod(attributes: &Attributes<'_>) -> bool {
    attributes.is_of("", "pods", "") && attributes.operation() == Operation::Create
}

fn class(
    registry: &Registry,
    attributes: &Attributes<'_>,
    pod: &Value,
) -> Result<Option<std::sync::Arc<Object>>, Status> {
    let Some(name) = pod["spec"]["runtimeClassName"].as_str() else { return Ok(None) };
    match registry.store.get(CLASSES, name) {
        Some(class) => Ok(Some(class)),
        None => {
            let why = format!("pod rejected: RuntimeClass {name:?} not found");
            Err(attributes.forbidden(Some(pod), &why))
        }
    }
}

fn set_overhead(attributes: &Attributes<'_>, class: &Value, pod: &mut Value) -> Result<(), Status> {
    if !class["overhead"].is_object() {
        return Ok(());
    }
    let fixed = ResourceList::of(&class["overhead"]["podFixed"]);
    let own = ResourceList::of(&pod["spec"]["overhead"]);
    if !own.is_empty() && own != fixed {
        return Err(attributes.forbidden(Some(pod), MISMATCH));
    }
    metadata::child(metadata::as_map(pod), "spec").insert("overhead".to_owned(), fixed.to_value());
    Ok(())
}

fn set_placement(attributes: &Attributes<'_>, class: &Value, pod: &mut Value) -> Result<(), Status> {
    let scheduling = &class["scheduling"];
    if !scheduling.is_object() {
        return Ok(());
    }
    if let Some(wanted) = scheduling["nodeSelector"].as_object() {
        for (key, value) in wanted {
            let own = &pod["spec"]["nodeSelector"][key];
            if !own.is_null() && own != value {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let why = format!(
                    "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {}; pod.spec.nodeSelector[{key}] = {}",
                    text(value),
                    text(own)
                );
                return Err(attributes.forbidden(Some(pod), &why));
            }
        }
        let spec = metadata::child(metadata::as_map(pod), "spec");
        metadata::child(spec, "nodeSelector").extend(wanted.clone());
    }
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let tolerations = merge(&list(&pod["spec"]["tolerations"]), &list(&scheduling["tolerations"]));
    metadata::child(metadata::as_map(pod), "spec").insert("tolerations".to_owned(), json!(tolerations));
    Ok(())
}

/// Both lists of tolerations, without those that another one covers.
fn merge(first: &[Value], second: &[Value]) -> Vec<Value> {
    let all: Vec<&Value> = first.iter().chain(second).collect();
    let mut merged: Vec<Value> = Vec::new();
    for (index, toleration) in all.iter().enumerate() {
        let is_covered = merged.iter().any(|other| covers(other, toleration))
            || all.iter().skip(index + 1).any(|other| other != toleration && covers(other, toleration));
        if !is_covered {
            merged.push((*toleration).clone());
        }
    }
    merged
}

/// Whether one toleration tolerates all that the other one does.
fn covers(wide: &Value, narrow: &Value) -> bool {
    if wide == narrow {
        return true;
    }
    let text = |toleration: &'_ Value, field: &str| toleration[field].as_str().unwrap_or_default().to_owned();
    let (key, operator, effect) = (text(wide, "key"), text(wide, "operator"), text(wide, "effect"));
    if text(narrow, "key") != key && !(key.is_empty() && operator == "Exists") {
        return false;
    }
    if !effect.is_empty() && text(narrow, "effect") != effect {
        return false;
    }
    if effect == "NoExecute"
        && let Some(seconds) = wide["tolerationSeconds"].as_i64()
        && narrow["tolerationSeconds"].as_i64().is_none_or(|own| own > seconds)
    {
        return false;
    }
    match operator.as_str() {
        "" | "Equal" => text(narrow, "operator") == "Equal" && text(narrow, "value") == text(wide, "value"),
        "Exists" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covered_tolerations_are_left_out() {
        let equal = |key: &str| json!({"key": key, "operator": "Equal", "value": "v"});
        let exists = |key: &str| json!({"key": key, "operator": "Exists"});
        assert_eq!(merge(&[equal("a"), equal("b")], &[exists("a")]), [equal("b"), exists("a")]);
        assert_eq!(merge(&[exists("a")], &[equal("a"), exists("a")]), [exists("a")]);
        let brief = json!({"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5});
        let long = json!({"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9});
        assert_eq!(merge(&[brief], std::slice::from_ref(&long)), [long]);
    }
}
