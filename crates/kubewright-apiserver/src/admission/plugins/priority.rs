//! Pods get their priority from their class, or from the class that is the default.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Attributes;
use crate::{
    admission::Operation,
    registry::{Registry, metadata},
    status::Status,
    store::Object,
};

const CLASSES: &str = "scheduling.k8s.io/priorityclasses";

pub(super) fn admit(
    registry: &Registry,
    attributes: &Attributes<'_>,
    pod: Option<&mut Value>,
) -> Result<(), Status> {
    let Some(pod) = pod.filter(|_| attributes.is_of("", "pods", "")) else { return Ok(()) };
    match attributes.operation() {
        Operation::Create => resolve(registry, attributes, pod),
        Operation::Update => {
            keep(pod, attributes.old);
            Ok(())
        }
        Operation::Delete | Operation::Connect => Ok(()),
    }
}

/// Refuses a second class that is the default.
pub(super) fn validate(
    registry: &Registry,
    attributes: &Attributes<'_>,
    class: Option<&Value>,
) -> Result<(), Status> {
    let Some(class) = class.filter(|_| attributes.is_of("scheduling.k8s.io", "priorityclasses", "")) else {
        return Ok(());
    };
    let Some(there) = default_class(registry).filter(|_| class["globalDefault"] == true) else {
        return Ok(());
    };
    let name = metadata::name(there.value());
    if attributes.operation() == Operation::Update && name == metadata::name(class) {
        return Ok(());
    }
    let why = format!("PriorityClass {name} is already marked as default. Only one default can exist");
    Err(attributes.forbidden(Some(class), &why))
}

/// The default class; of several, which come about by a race, the least.
fn default_class(registry: &Registry) -> Option<Arc<Object>> {
    let classes = registry.store.list(CLASSES);
    let defaults =
        classes.range("", "").map(|(_, class)| class).filter(|class| class.value()["globalDefault"] == true);
    defaults.min_by_key(|class| class.value()["value"].as_i64()).cloned()
}

fn resolve(registry: &Registry, attributes: &Attributes<'_>, pod: &mut Value) -> Result<(), Status> {
    let name = pod["spec"]["priorityClassName"].as_str().unwrap_or_default();
    let class = if name.is_empty() {
        default_class(registry)
    } else {
        let Some(class) = registry.store.get(CLASSES, name) else {
            let why = format!("no PriorityClass with name {name} was found");
            return Err(attributes.forbidden(Some(pod), &why));
        };
        Some(class)
    };
    let (priority, policy) = match &class {
        Some(class) => {
            (class.value()["value"].as_i64().unwrap_or_default(), &class.value()["preemptionPolicy"])
        }
        None => (0, &json!("PreemptLowerPriority")),
    };
    if let Some(given) = pod["spec"]["priority"].as_i64().filter(|given| *given != priority) {
        let why = format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller \
             computed {priority} from the given PriorityClass name"
        );
        return Err(attributes.forbidden(Some(pod), &why));
    }
    if let (Some(given), Some(policy)) = (pod["spec"]["preemptionPolicy"].as_str(), policy.as_str())
        && given != policy
    {
        let why = format!(
            "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission \
             controller computed {policy} from the given PriorityClass name"
        );
        return Err(attributes.forbidden(Some(pod), &why));
    }
    let spec = metadata::child(metadata::as_map(pod), "spec");
    if let Some(class) = &class {
        spec.insert("priorityClassName".to_owned(), Value::from(metadata::name(class.value())));
    }
    spec.insert("priority".to_owned(), Value::from(priority));
    if !policy.is_null() {
        spec.insert("preemptionPolicy".to_owned(), policy.clone());
    }
    Ok(())
}

/// Lets an update that does not speak of the priority not change it.
fn keep(pod: &mut Value, old: Option<&Value>) {
    let spec = metadata::child(metadata::as_map(pod), "spec");
    for field in ["priority", "preemptionPolicy"] {
        let there = old.map(|old| &old["spec"][field]).filter(|there| !there.is_null());
        if let Some(there) = there
            && spec.get(field).is_none_or(Value::is_null)
        {
            spec.insert(field.to_owned(), there.clone());
        }
    }
}
