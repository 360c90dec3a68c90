//! Which versions there are, and what each of them serves.

use serde_json::Value;

use super::{
    change::Change,
    definition::{Definition, Version},
    rule::{
        STORAGE_VERSION_CHANGED, STORED_VERSION_REMOVED, UNSERVED_VERSION_REMOVED, VERSION_ADDED,
        VERSION_DEPRECATED, VERSION_REMOVED, VERSION_SERVED, VERSION_UNSERVED,
    },
    schema, subresources,
};

pub(super) fn compare(old: &Definition, new: &Definition, changes: &mut Vec<Change>) {
    let crd = new.name.as_str();
    for version in &old.versions {
        match new.version(&version.name) {
            Some(successor) => both(crd, version, successor, changes),
            None => removed(crd, old, version, changes),
        }
    }
    for version in new.versions.iter().filter(|version| old.version(&version.name).is_none()) {
        changes.push(Change::new(VERSION_ADDED, crd, version.path()));
    }
    if let (Some(before), Some(after)) = (old.storage(), new.storage())
        && before.name != after.name
    {
        let names = (Some(Value::from(before.name.as_str())), Some(Value::from(after.name.as_str())));
        changes.push(Change::new(STORAGE_VERSION_CHANGED, crd, ".spec.versions").values(names.0, names.1));
    }
}

fn removed(crd: &str, old: &Definition, version: &Version, changes: &mut Vec<Change>) {
    let stored = old.stores(&version.name);
    let rules = [
        (stored, STORED_VERSION_REMOVED),
        (version.served, VERSION_REMOVED),
        (!stored && !version.served, UNSERVED_VERSION_REMOVED),
    ];
    for (_, rule) in rules.into_iter().filter(|(applies, _)| *applies) {
        changes.push(Change::new(rule, crd, version.path()));
    }
}

fn both(crd: &str, old: &Version, new: &Version, changes: &mut Vec<Change>) {
    match (old.served, new.served) {
        (true, false) => changes.push(Change::new(VERSION_UNSERVED, crd, new.path())),
        (false, true) => changes.push(Change::new(VERSION_SERVED, crd, new.path())),
        _ => {}
    }
    let deprecation = |version: &Version| {
        (version.document["deprecated"] == true, version.document.get("deprecationWarning").cloned())
    };
    if deprecation(old) != deprecation(new) {
        changes.push(Change::new(VERSION_DEPRECATED, crd, new.path()));
    }
    // Nobody reads or writes a version that is neither served nor stored.
    if old.served || old.storage {
        subresources::compare(crd, old, new, changes);
        schema::compare(crd, &new.name, &old.schema, &new.schema, changes);
    }
}
