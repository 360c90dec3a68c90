//! Classes of priority.

use super::Field;

const HIGHEST: i64 = 1_000_000_000;
const SYSTEM: &str = "system-";
/// The classes that every cluster has.
const KNOWN: [(&str, i64); 2] =
    [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];

pub(super) fn create(class: Field<'_>) {
    let (name, value) = (class.child("metadata").child("name"), class.child("value"));
    if name.text().starts_with(SYSTEM) {
        if let Some(why) = why_not_known(class) {
            let detail = format!(
                "priority class names with '{SYSTEM}' prefix are reserved for system use only. error: {why}"
            );
            name.forbidden(detail);
        }
    } else if value.number() > HIGHEST {
        value.forbidden(format!("maximum allowed value of a user defined priority is {HIGHEST}"));
    }
    let policy = class.child("preemptionPolicy");
    if policy.is_set() && policy.require() {
        policy.one_of(&["PreemptLowerPriority", "Never"]);
    }
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    if new.child("value").number() != old.child("value").number() {
        new.child("value").forbidden("may not be changed in an update.");
    }
    new.child("preemptionPolicy").immutable(old.child("preemptionPolicy"));
}

/// Why a class is not the one of its name that every cluster has.
fn why_not_known(class: Field<'_>) -> Option<String> {
    let name = class.child("metadata").child("name").text();
    let Some((_, value)) = KNOWN.iter().find(|(known, _)| *known == name) else {
        return Some(format!("{name} is not a known system priority class"));
    };
    if class.child("value").number() != *value {
        Some(format!("value of {name} PriorityClass must be {value}"))
    } else if class.child("globalDefault").is_true() {
        Some(format!("globalDefault of {name} PriorityClass must be false"))
    } else {
        None
    }
}
