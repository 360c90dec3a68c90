//! Claims of persistent volumes. Their specs are in `volume_claim.rs`, because templates have such, too.

use kubewright_quota::Quantity;
use kubewright_schema::names;
use serde_json::Value;

use super::{
    super::{Field, diff, shape},
    resource_name, volume_claim,
};

const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";
const RESIZE_STATES: [&str; 5] = [
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

pub(super) fn create(claim: Field<'_>) {
    volume_claim::validate_spec(claim.child("spec"));
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    volume_claim::validate_spec(new.child("spec"));
    let (spec, old_spec) = (new.child("spec"), old.child("spec"));
    let is_bound = new.child("status").child("phase").text() == "Bound";
    let fixed = allowed(new, old, is_bound);
    if fixed != *old_spec.value() {
        let shown = |spec: &Value| shape::show_lines("core.PersistentVolumeClaimSpec", spec);
        let changes = diff::unified(&shown(old_spec.value()), &shown(&fixed));
        spec.forbidden(format!(
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n{changes}"
        ));
    }
    let storage = |field: Field<'_>, list| Quantity::of(field.child(list).entry("storage").value());
    let (size, old_size) =
        (storage(spec.child("resources"), "requests"), storage(old_spec.child("resources"), "requests"));
    if size < old_size && size <= storage(old.child("status"), "capacity") {
        let place = spec.child("resources").child("requests").child("storage");
        place.forbidden("field can not be less than status.capacity");
    }
    let mode = spec.child("volumeMode");
    if mode.value() != old_spec.child("volumeMode").value() {
        new.at("volumeMode").invalid(mode.value().clone(), "field is immutable");
    }
    let class = spec.child("volumeAttributesClassName");
    let has_class = old.child("status").child("currentVolumeAttributesClassName").is_set();
    if class.value() != old_spec.child("volumeAttributesClassName").value() && has_class {
        if !class.is_set() {
            class.forbidden(
                "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil",
            );
        } else if class.is_empty() {
            let detail =
                "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil";
            class.forbidden(detail);
        }
    }
}

/// The new spec without the changes that are allowed.
fn allowed(new: Field<'_>, old: Field<'_>, is_bound: bool) -> Value {
    let mut spec = new.child("spec").value().clone();
    let old_spec = old.child("spec");
    let keep = |spec: &mut Value, field: &str| {
        let Some(spec) = spec.as_object_mut() else { return };
        match old_spec.value().get(field) {
            Some(value) => spec.insert(field.to_owned(), value.clone()),
            None => spec.remove(field),
        };
    };
    if old_spec.child("volumeName").is_empty() {
        keep(&mut spec, "volumeName");
    }
    let annotation = |claim: Field<'_>| {
        claim
            .child("metadata")
            .child("annotations")
            .entry(CLASS_ANNOTATION)
            .value()
            .as_str()
            .map(str::to_owned)
    };
    let (class, old_class) =
        (new.child("spec").child("storageClassName"), old_spec.child("storageClassName"));
    let (new_annotation, old_annotation) = (annotation(new), annotation(old));
    let is_set_now = class.is_set() && !old_class.is_set();
    let is_named_so = old_annotation.as_deref() == Some(class.text());
    if is_set_now && is_named_so && new_annotation.as_deref().is_none_or(|own| own == class.text()) {
        // The class moves from the annotation to its field.
        keep(&mut spec, "storageClassName");
    } else {
        let text = |annotation: Option<String>| annotation.unwrap_or_default();
        let place = new.child("metadata").child("annotations").at(CLASS_ANNOTATION);
        let (own, before) = (text(new_annotation), text(old_annotation.clone()));
        if own != before {
            place.invalid(own, "field is immutable");
        }
        if is_set_now && (old_annotation.is_none() || is_named_so) {
            keep(&mut spec, "storageClassName");
        }
    }
    if is_bound {
        let old_storage = old_spec.child("resources").child("requests").entry("storage").value();
        if let Some(requests) = spec.pointer_mut("/resources/requests").and_then(Value::as_object_mut) {
            requests.insert("storage".to_owned(), old_storage.clone());
        }
        keep(&mut spec, "volumeAttributesClassName");
    }
    spec
}

pub(super) fn update_status(new: Field<'_>) {
    let status = new.child("status");
    for (_, amount) in status.child("capacity").entries() {
        check_amount(amount);
    }
    let states = status.child("allocatedResourceStatuses");
    for (name, state) in states.entries() {
        check_resource(states, name);
        if !RESIZE_STATES.contains(&state.text()) {
            states.not_supported(name, &RESIZE_STATES);
        }
    }
    let allocated = status.child("allocatedResources");
    for (name, amount) in allocated.entries() {
        if check_resource(allocated, name) && check_amount(amount) {
            resource_name::validate_amount(amount, "storage");
        }
    }
}

pub(super) fn warnings(claim: Field<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    let annotation = claim.child("metadata").child("annotations").entry(CLASS_ANNOTATION);
    if annotation.is_set() {
        warnings.push(format!(
            "{}: deprecated since v1.8; use \"storageClassName\" attribute instead",
            annotation.path()
        ));
    }
    for list in ["requests", "limits"] {
        let amount = claim.child("spec").child("resources").child(list).entry("storage");
        if !Quantity::of(amount.value()).is_integer() {
            warnings.push(format!(
                "{}: fractional byte value {:?} is invalid, must be an integer",
                amount.path(),
                amount.text()
            ));
        }
    }
    warnings
}

/// Checks that an amount of bytes is not negative. Gives whether it is not.
pub(super) fn check_amount(amount: Field<'_>) -> bool {
    let bytes = Quantity::of(amount.value()).value();
    if bytes < 0 {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MIN);
        amount.invalid(bytes, "must be a valid resource quantity");
    }
    bytes >= 0
}

/// Checks that a claim can have the resource. Gives whether it can.
fn check_resource(place: Field<'_>, name: &str) -> bool {
    let reasons = names::label_key(name);
    for reason in &reasons {
        place.invalid(name, reason.as_str());
    }
    let is_other = reasons.is_empty() && resource_name::is_native(name) && name != "storage";
    if is_other {
        place.not_supported(name, &["storage"]);
    }
    reasons.is_empty() && !is_other
}
