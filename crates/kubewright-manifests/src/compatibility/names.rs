//! Group, names, scope and conversion.

use serde_json::Value;

use super::{
    change::Change,
    definition::Definition,
    rule::{
        CATEGORIES_CHANGED, CONVERSION_CHANGED, CONVERSION_WEBHOOK_ADDED, CONVERSION_WEBHOOK_REMOVED,
        GROUP_CHANGED, KIND_CHANGED, LIST_KIND_CHANGED, PLURAL_CHANGED, Rule, SCOPE_CHANGED,
        SHORT_NAMES_CHANGED, SINGULAR_CHANGED,
    },
};

/// The parts of the spec that are compared as they are.
const PARTS: [(&Rule, &str, &str); 8] = [
    (GROUP_CHANGED, "/group", ".spec.group"),
    (PLURAL_CHANGED, "/names/plural", ".spec.names.plural"),
    (KIND_CHANGED, "/names/kind", ".spec.names.kind"),
    (LIST_KIND_CHANGED, "/names/listKind", ".spec.names.listKind"),
    (SCOPE_CHANGED, "/scope", ".spec.scope"),
    (SINGULAR_CHANGED, "/names/singular", ".spec.names.singular"),
    (SHORT_NAMES_CHANGED, "/names/shortNames", ".spec.names.shortNames"),
    (CATEGORIES_CHANGED, "/names/categories", ".spec.names.categories"),
];

pub(super) fn compare(old: &Definition, new: &Definition, changes: &mut Vec<Change>) {
    for (rule, pointer, path) in PARTS {
        let (before, after) = (old.spec(pointer), new.spec(pointer));
        if before != after {
            changes.push(Change::new(rule, &new.name, path).values(present(before), present(after)));
        }
    }
    let (before, after) = (old.spec("/conversion"), new.spec("/conversion"));
    let rule = match (old.converts(), new.converts()) {
        (false, true) => CONVERSION_WEBHOOK_ADDED,
        // With one version there is nothing to convert, unless objects are stored in another.
        (true, false) if new.versions.len() > 1 || old.versions.len() > 1 => CONVERSION_WEBHOOK_REMOVED,
        _ if before != after => CONVERSION_CHANGED,
        _ => return,
    };
    let strategy = |conversion: &Value| present(&conversion["strategy"]);
    changes.push(Change::new(rule, &new.name, ".spec.conversion").values(strategy(before), strategy(after)));
}

fn present(value: &Value) -> Option<Value> {
    Some(value).filter(|value| !value.is_null()).cloned()
}
