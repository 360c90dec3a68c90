use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};

use super::{Condition, condition, set_condition, strings, text};
use crate::{registry::metadata, store::Object};

/// A CRD with its names accepted as far as no other CRD of the group has them; `None` if nothing changes.
///
/// A name that is taken stays what it was before. Once all names are accepted the CRD is established, and stays so.
pub(crate) fn accept_names(crd: &Value, all: &[Arc<Object>], now: &Value) -> Option<Value> {
    let (mut resources, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    for other in all.iter().map(|other| other.value()) {
        if other["spec"]["group"] != crd["spec"]["group"] || metadata::uid(other) == metadata::uid(crd) {
            continue;
        }
        let names = &other["status"]["acceptedNames"];
        resources.extend([text(names, "plural").to_owned(), text(names, "singular").to_owned()]);
        resources.extend(strings(&names["shortNames"]));
        kinds.extend([text(names, "kind").to_owned(), text(names, "listKind").to_owned()]);
    }
    let requested = &crd["spec"]["names"];
    let accepted = &crd["status"]["acceptedNames"];
    let mut names = accepted.clone();
    let mut conflict = None;
    let mut take = |field: &str, used: &BTreeSet<String>, reason: &'static str| {
        let name = text(requested, field);
        if name != text(accepted, field) && used.contains(name) {
            conflict = Some((reason, format!("{name:?} is already in use")));
        } else {
            metadata::as_map(&mut names).insert(field.to_owned(), Value::from(name));
        }
    };
    take("plural", &resources, "PluralConflict");
    take("singular", &resources, "SingularConflict");
    let had = strings(&accepted["shortNames"]);
    let taken: Vec<String> = strings(&requested["shortNames"])
        .into_iter()
        .filter(|name| !had.contains(name) && resources.contains(name))
        .map(|name| format!("{name:?} is already in use"))
        .collect();
    take("kind", &kinds, "KindConflict");
    take("listKind", &kinds, "ListKindConflict");
    if !taken.is_empty() && conflict.is_none() {
        let message = if taken.len() == 1 { taken.concat() } else { format!("[{}]", taken.join(", ")) };
        conflict = Some(("ShortNamesConflict", message));
    }
    let names = metadata::as_map(&mut names);
    for field in ["shortNames", "categories"] {
        let is_taken = field == "shortNames" && !taken.is_empty();
        match requested.get(field) {
            Some(value) if !is_taken => names.insert(field.to_owned(), value.clone()),
            Some(_) => None,
            None => names.remove(field),
        };
    }

    let names = json!(names);
    let is_true = |kind| condition(crd, kind).is_some_and(|condition| condition["status"] == "True");
    if conflict.is_none() && names == *accepted && is_true("NamesAccepted") && is_true("Established") {
        return None;
    }
    let mut new = crd.clone();
    metadata::child(metadata::as_map(&mut new), "status").insert("acceptedNames".to_owned(), names);
    let is_established = condition(crd, "Established").is_some_and(|old| old["status"] == "True");
    let (names_accepted, established) = match &conflict {
        None => (
            Condition {
                kind: "NamesAccepted",
                status: "True",
                reason: "NoConflicts",
                message: "no conflicts found",
            },
            Condition {
                kind: "Established",
                status: "True",
                reason: "InitialNamesAccepted",
                message: "the initial names have been accepted",
            },
        ),
        Some((reason, message)) => (
            Condition { kind: "NamesAccepted", status: "False", reason, message },
            Condition {
                kind: "Established",
                status: "False",
                reason: "NotAccepted",
                message: "not all names are accepted",
            },
        ),
    };
    set_condition(&mut new, &names_accepted, now);
    if !is_established {
        set_condition(&mut new, &established, now);
    }
    (new != *crd).then_some(new)
}
