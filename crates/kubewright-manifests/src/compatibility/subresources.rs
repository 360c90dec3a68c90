//! What a version offers besides its objects: subresources, printer columns, selectable fields.

use serde_json::Value;

use super::{
    change::Change,
    definition::{Version, list},
    rule::{
        PRINTER_COLUMNS_CHANGED, SCALE_PATHS_CHANGED, SCALE_SUBRESOURCE_ADDED, SCALE_SUBRESOURCE_REMOVED,
        SELECTABLE_FIELD_ADDED, SELECTABLE_FIELD_REMOVED, STATUS_SUBRESOURCE_ADDED,
        STATUS_SUBRESOURCE_REMOVED,
    },
};

pub(super) fn compare(crd: &str, old: &Version, new: &Version, changes: &mut Vec<Change>) {
    let at = |tail: &str| format!("{}{tail}", new.path());
    let subresource = |version: &Version, name: &str| {
        version.document["subresources"].get(name).filter(|it| !it.is_null()).cloned()
    };

    let rule = match (subresource(old, "status"), subresource(new, "status")) {
        (None, Some(_)) => Some(STATUS_SUBRESOURCE_ADDED),
        (Some(_), None) => Some(STATUS_SUBRESOURCE_REMOVED),
        _ => None,
    };
    changes.extend(rule.map(|rule| Change::new(rule, crd, at(".subresources.status"))));

    let (before, after) = (subresource(old, "scale"), subresource(new, "scale"));
    let rule = match (&before, &after) {
        (None, Some(_)) => Some(SCALE_SUBRESOURCE_ADDED),
        (Some(_), None) => Some(SCALE_SUBRESOURCE_REMOVED),
        (Some(before), Some(after)) if before != after => Some(SCALE_PATHS_CHANGED),
        _ => None,
    };
    if let Some(rule) = rule {
        changes.push(Change::new(rule, crd, at(".subresources.scale")).values(before, after));
    }

    if list(&old.document, "additionalPrinterColumns") != list(&new.document, "additionalPrinterColumns") {
        changes.push(Change::new(PRINTER_COLUMNS_CHANGED, crd, at(".additionalPrinterColumns")));
    }

    let selectable = |version: &Version| -> Vec<Value> {
        list(&version.document, "selectableFields").iter().map(|field| field["jsonPath"].clone()).collect()
    };
    let (before, after) = (selectable(old), selectable(new));
    for field in before.iter().filter(|field| !after.contains(field)) {
        changes.push(
            Change::new(SELECTABLE_FIELD_REMOVED, crd, at(".selectableFields"))
                .values(Some(field.clone()), None),
        );
    }
    for field in after.iter().filter(|field| !before.contains(field)) {
        changes.push(
            Change::new(SELECTABLE_FIELD_ADDED, crd, at(".selectableFields"))
                .values(None, Some(field.clone())),
        );
    }
}
