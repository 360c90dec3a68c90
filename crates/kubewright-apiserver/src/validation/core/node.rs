use kubewright_schema::{FieldError, names};
use serde_json::Value;

use super::{
    super::{Field, cidr, shape},
    resource_name,
};

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const TAINTS_ANNOTATION: &str = "scheduler.alpha.kubernetes.io/taints";
const AVOID_ANNOTATION: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";
const FEATURE_LENGTH: usize = 253;

pub(super) fn create(node: Field<'_>) {
    let (spec, status) = (node.child("spec"), node.child("status"));
    check_annotated_taints(node);
    check_avoided_pods(node);
    // Kubernetes looks for taints there.
    check_taints(node.child("metadata").at("taints").with(spec.child("taints").value()));
    check_resources(status);
    check_features(status.child("declaredFeatures"));
    check_ranges(spec.child("podCIDRs"));
}

pub(super) fn update(subresource: &str, new: Field<'_>, old: Field<'_>) {
    if subresource.is_empty() {
        create(new);
    }
    let (spec, old_spec, status) = (new.child("spec"), old.child("spec"), new.child("status"));
    check_annotated_taints(new);
    check_avoided_pods(new);
    check_resources(status);
    check_features(status.child("declaredFeatures"));
    let addresses = status.child("addresses");
    for (index, address) in addresses.items().enumerate() {
        if addresses.list().iter().take(index).any(|other| other == address.value()) {
            address.duplicate_as("core.NodeAddress");
        }
    }
    let (ranges, old_ranges) = (spec.child("podCIDRs"), old_spec.child("podCIDRs"));
    if !old_ranges.is_empty() && ranges.value() != old_ranges.value() {
        ranges.forbidden("node updates may not change podCIDR except from \"\" to valid");
    }
    let (provider, old_provider) = (spec.child("providerID"), old_spec.child("providerID"));
    if !old_provider.is_empty() && provider.text() != old_provider.text() {
        let what = if provider.is_empty() { "cleared" } else { "modified" };
        provider.invalid(Value::Null, format!("field cannot be {what} once set"));
    }
    check_taints(new.child("metadata").at("taints").with(spec.child("taints").value()));
    if spec.child("externalID").text() != old_spec.child("externalID").text() {
        spec.child("externalID").forbidden("may not be updated");
    }
}

pub(super) fn warnings(node: Field<'_>) -> Vec<String> {
    let spec = node.child("spec");
    let mut warnings = Vec::new();
    if spec.child("configSource").is_set() {
        warnings.push("spec.configSource: the feature is removed".to_owned());
    }
    if !spec.child("externalID").is_empty() {
        let text = "spec.externalID: this field is deprecated, and is unused by Kubernetes";
        warnings.push(text.to_owned());
    }
    warnings.extend(spec.child("podCIDRs").items().flat_map(cidr::warnings));
    warnings
}

/// Checks the taints of a node.
fn check_taints(taints: Field<'_>) {
    for (index, taint) in taints.items().enumerate() {
        let (key, value, effect) = (taint.child("key"), taint.child("value"), taint.child("effect"));
        key.check(names::label_key);
        let reasons = names::label_value(value.text());
        if !reasons.is_empty() {
            value.invalid(value.text(), reasons.join(";"));
        }
        if effect.require() {
            effect.one_of(&EFFECTS);
        }
        let is_same = |other: &Value| {
            ["key", "effect"].iter().all(|field| other.get(field) == taint.value().get(field))
        };
        if taints.list().iter().take(index).any(is_same) {
            let mut error = FieldError::duplicate(&taint.path(), taint.value().clone());
            error.detail = "taints must be unique by key and effect pair".to_owned();
            taint.push(error.shown_as(shape::show("core.Taint", taint.value())));
        }
    }
}

/// Checks the taints that the oldest nodes have in an annotation.
fn check_annotated_taints(node: Field<'_>) {
    let annotations = node.child("metadata").child("annotations");
    let text = annotations.entry(TAINTS_ANNOTATION).text();
    if let Ok(taints) = serde_json::from_str::<Value>(text) {
        check_taints(annotations.at(TAINTS_ANNOTATION).with(&taints));
    }
}

/// Checks which pods the oldest nodes do not want, as an annotation says it.
fn check_avoided_pods(node: Field<'_>) {
    let annotations = node.child("metadata").child("annotations");
    let text = annotations.entry(AVOID_ANNOTATION).text();
    let Ok(avoided) = serde_json::from_str::<Value>(text) else { return };
    let entries = avoided.get("preferAvoidPods").unwrap_or(&Value::Null);
    for entry in annotations.at(AVOID_ANNOTATION).with(entries).items() {
        let signature = entry.at("PodSignature");
        let controller = entry.child("podSignature").child("podController");
        if !controller.is_set() {
            signature.required("");
        } else if !controller.child("controller").is_true() {
            signature.at("PodController").at("Controller").invalid(false, "must point to a controller");
        }
    }
}

fn check_resources(status: Field<'_>) {
    for field in ["capacity", "allocatable"] {
        let amounts = status.child(field);
        for (name, amount) in amounts.entries() {
            // Here the name stands like that of a field.
            resource_name::validate_amount(amounts.at_owned(name).with(amount.value()), name);
        }
    }
}

fn check_features(features: Field<'_>) {
    let mut before: Option<&str> = None;
    for feature in features.items() {
        let name = feature.text();
        match before {
            Some(other) if other == name => feature.duplicate(name),
            Some(other) if other > name => feature.invalid(name, "list must be sorted alphabetically"),
            _ => {}
        }
        before = Some(name);
        if name.len() > FEATURE_LENGTH {
            let why = format!("must be no more than {FEATURE_LENGTH} characters");
            feature.invalid(name, format!("invalid feature name {name:?}: {why}"));
        } else if !is_feature(name) {
            let why = "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., \
                       MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
            feature.invalid(name, format!("invalid feature name {name:?}: {why}"));
        }
    }
}

fn is_feature(name: &str) -> bool {
    let is_word = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.split('/').all(is_word)
}

fn check_ranges(ranges: Field<'_>) {
    for range in ranges.items() {
        cidr::check_new(range, range.text(), &[]);
    }
    if ranges.len() < 2 {
        return;
    }
    let families: Vec<bool> =
        ranges.items().filter_map(|range| cidr::Cidr::parse(range.text())).map(cidr::Cidr::is_v6).collect();
    if families.len() != ranges.len() {
        let bad = ranges.items().map(Field::text).find(|text| cidr::Cidr::parse(text).is_none());
        let why = format!("invalid CIDR address: {}", bad.unwrap_or_default());
        ranges.internal(format!("invalid PodCIDRs. failed to check with dual stack with error:{why}"));
    }
    if families.len() != 2 || families.first() == families.last() {
        let detail = "may specify no more than one CIDR for each IP family";
        ranges.invalid(ranges.value().clone(), detail);
    }
}
