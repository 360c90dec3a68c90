use kubewright_schema::names;
use serde_json::Value;

use crate::validation::{Field, conditions, core::validate_csi_driver_name};

const NODE_ID_LENGTH: usize = 256;
const MOST_CONDITIONS: usize = 16;
const REASON_LENGTH: usize = 256;
const MESSAGE_LENGTH: usize = 1024;
const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

pub(super) fn validate(node: Field<'_>) {
    let drivers = node.child("spec").child("drivers");
    for (index, driver) in drivers.items().enumerate() {
        let (name, id) = (driver.child("name"), driver.child("nodeID"));
        validate_csi_driver_name(name);
        id.require();
        if id.text().len() > NODE_ID_LENGTH {
            id.invalid(id.text(), format!("must be {NODE_ID_LENGTH} characters or less"));
        }
        driver.child("allocatable").child("count").not_negative();
        if drivers.items().take(index).any(|other| other.child("name").text() == name.text()) {
            name.duplicate(name.text());
        }
        let keys = driver.child("topologyKeys").list();
        for (index, key) in keys.iter().enumerate() {
            // Kubernetes does not say which one.
            let text = key.as_str().unwrap_or_default();
            if text.is_empty() {
                driver.required("");
            }
            if keys.iter().take(index).any(|other| other == key) {
                driver.duplicate(text);
            }
            driver.with(key).check(names::label_key);
        }
    }
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    validate(new);
    let drivers = new.child("spec").child("drivers");
    let fixed = |driver: &Value| ["name", "nodeID", "topologyKeys"].map(|field| driver.get(field).cloned());
    for old in old.child("spec").child("drivers").list() {
        for driver in drivers.list().iter().filter(|driver| driver.get("name") == old.get("name")) {
            if fixed(driver) != fixed(old) {
                drivers.with(driver).invalid_as("storage.CSINodeDriver", "field is immutable");
            }
        }
    }
}

pub(super) fn update_status(new: Field<'_>) {
    let all = new.child("status").child("storageHealth");
    for (index, health) in all.items().enumerate() {
        let name = health.child("name");
        if all.items().take(index).any(|other| other.child("name").text() == name.text()) {
            health.duplicate(name.text());
        }
        validate_csi_driver_name(name);
        let list = health.child("healthConditions");
        if list.len() > MOST_CONDITIONS {
            list.too_many(MOST_CONDITIONS);
        } else {
            list.items().for_each(check_condition);
        }
    }
}

fn check_condition(condition: Field<'_>) {
    condition.child("status").one_of(&["StorageDegraded", "StorageUnreachable"]);
    let (reason, message) = (condition.child("reason"), condition.child("message"));
    if reason.require() {
        conditions::check_reason(reason);
        if reason.text().len() > REASON_LENGTH {
            reason.too_long(256);
        }
    }
    if message.text().len() > MESSAGE_LENGTH {
        message.too_long(1024);
    }
    if condition.child("accessMode").is_set() {
        condition.child("accessMode").one_of(&ACCESS_MODES);
    }
    if condition.child("volumeMode").is_set() {
        condition.child("volumeMode").one_of(&["Filesystem", "Block"]);
    }
}
