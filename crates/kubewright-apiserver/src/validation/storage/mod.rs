//! Classes and drivers of storage, and what is attached where.

mod csi_driver;
mod csi_node;
mod csi_storage_capacity;
mod storage_class;
mod volume_attachment;
mod volume_attributes_class;

use super::Field;

pub(super) fn create(plural: &str, object: Field<'_>) {
    match plural {
        "storageclasses" => storage_class::create(object),
        "csidrivers" => csi_driver::validate(object.child("spec")),
        "csinodes" => csi_node::validate(object),
        "csistoragecapacities" => csi_storage_capacity::validate(object),
        "volumeattachments" => volume_attachment::create(object),
        "volumeattributesclasses" => volume_attributes_class::validate(object),
        _ => {}
    }
}

pub(super) fn update(plural: &str, subresource: &str, new: Field<'_>, old: Field<'_>) {
    match (plural, subresource) {
        ("storageclasses", _) => storage_class::update(new, old),
        ("csidrivers", _) => csi_driver::update(new, old),
        ("csinodes", "") => csi_node::update(new, old),
        ("csinodes", _) => csi_node::update_status(new),
        ("csistoragecapacities", _) => csi_storage_capacity::update(new, old),
        ("volumeattachments", _) => volume_attachment::update(new, old),
        ("volumeattributesclasses", _) => volume_attributes_class::update(new, old),
        _ => {}
    }
}

pub(super) fn warnings(plural: &str, object: Field<'_>, old: Option<Field<'_>>) -> Vec<String> {
    match plural {
        "storageclasses" => storage_class::warnings(object),
        "csidrivers" => csi_driver::warnings(object, old).into_iter().collect(),
        "csistoragecapacities" => csi_storage_capacity::warnings(object),
        _ => Vec::new(),
    }
}
