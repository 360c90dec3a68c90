use kubewright_schema::error::go;
use serde_json::Value;

use super::{annotations, validate_again};
use crate::validation::Field;

/// Checks a change of a pod's ephemeral containers: they only become more.
pub(super) fn validate(new: Field<'_>, old: Field<'_>) {
    if old.child("metadata").child("annotations").value().get(annotations::MIRROR).is_some() {
        return new.forbidden_nowhere("static pods do not support ephemeral containers");
    }
    validate_again(new, old);
    let notes = new.child("metadata").child("annotations");
    annotations::validate_update(notes, old.child("metadata").child("annotations"));
    annotations::validate(notes, new.child("spec"));
    let containers = new.child("spec").child("ephemeralContainers");
    for old in old.child("spec").child("ephemeralContainers").list() {
        let name = old["name"].as_str().unwrap_or_default();
        match containers.list().iter().rev().find(|new| new["name"] == old["name"]) {
            None => {
                let detail = format!("existing ephemeral containers {name:?} may not be removed\n");
                containers.forbidden(detail);
            }
            Some(new) if new != old => {
                let changes = changes(new, old);
                let detail = format!("existing ephemeral containers {name:?} may not be changed\n{changes}");
                containers.forbidden(detail);
            }
            Some(_) => {}
        }
    }
}

/// The fields that differ, a line for what each was and what it is.
fn changes(new: &Value, old: &Value) -> String {
    let names: std::collections::BTreeSet<&String> =
        [new, old].into_iter().filter_map(Value::as_object).flat_map(|fields| fields.keys()).collect();
    let differing = names.into_iter().filter(|name| new.get(*name) != old.get(*name));
    let shown = |value: Option<&Value>| value.map_or_else(|| "null".to_owned(), go::json);
    differing
        .map(|name| format!("  {name}:\n- {}\n+ {}\n", shown(old.get(name)), shown(new.get(name))))
        .collect()
}
