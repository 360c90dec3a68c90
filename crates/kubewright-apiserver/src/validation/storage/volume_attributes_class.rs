use super::storage_class::{check_parameters, check_provisioner};
use crate::validation::Field;

pub(super) fn validate(class: Field<'_>) {
    let (driver, parameters) = (class.child("driverName"), class.child("parameters"));
    driver.require();
    check_provisioner(driver);
    check_parameters(parameters);
    if parameters.is_empty() {
        parameters.required("must contain at least one key/value pair");
    }
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    for field in ["driverName", "parameters"] {
        if new.child(field).value() != old.child(field).value() {
            new.child(field).forbidden(format!("updates to {field} are forbidden."));
        }
    }
    validate(new);
}
