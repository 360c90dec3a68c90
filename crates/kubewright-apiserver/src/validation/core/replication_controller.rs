use super::pod;
use crate::validation::Field;

pub(super) fn create(controller: Field<'_>) {
    validate(controller, None);
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    validate(new, Some(old));
}

fn validate(controller: Field<'_>, old: Option<Field<'_>>) {
    let spec = controller.child("spec");
    let selector = spec.child("selector");
    if selector.is_empty() {
        selector.required("");
    }
    validate_template(spec, old);
    // The real server looks at the numbers last, and only at those that have changed.
    let is_new = |field: &'static str| {
        old.is_none_or(|old| old.child("spec").child(field).value() != spec.child(field).value())
    };
    let replicas = spec.child("replicas");
    if !replicas.is_set() {
        replicas.required("");
    } else if is_new("replicas") {
        replicas.not_negative();
    }
    if is_new("minReadySeconds") {
        spec.child("minReadySeconds").not_negative();
    }
}

fn validate_template(spec: Field<'_>, old: Option<Field<'_>>) {
    let (template, selector) = (spec.child("template"), spec.child("selector"));
    if !template.is_set() {
        return template.required("");
    }
    let labels = template.child("metadata").child("labels");
    let is_selected = |(key, value): (&String, _)| labels.value().get(key) == Some(value);
    if !selector.map().into_iter().flatten().all(is_selected) {
        labels.invalid(labels.value().clone(), "`selector` does not match template `labels`");
    }
    let template = pod::Template::new(template, old.map(|old| old.child("spec").child("template")));
    template.validate();
    template.validate_runs_forever("ReplicationController");
}

pub(super) fn update_status(new: Field<'_>) {
    let status = new.child("status");
    let number = |field| status.child(field).number();
    let counts =
        ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"];
    for field in counts {
        status.child(field).not_negative();
    }
    for field in ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"] {
        if number(field) > number("replicas") {
            status.child(field).invalid(number(field), "cannot be greater than status.replicas");
        }
    }
    if number("availableReplicas") > number("readyReplicas") {
        let detail = "cannot be greater than readyReplicas";
        status.child("availableReplicas").invalid(number("availableReplicas"), detail);
    }
}

pub(super) fn warnings(controller: Field<'_>, old: Option<Field<'_>>) -> Vec<String> {
    let template = controller.child("spec").child("template");
    let Some(old) = old else {
        let mut warnings = Vec::from_iter(pod::name_warning(controller));
        warnings.extend(pod::Template::new(template, None).warnings());
        return warnings;
    };
    let generation = |object: Field<'_>| object.child("metadata").child("generation").number();
    if generation(controller) == generation(old) {
        return Vec::new();
    }
    // The real server warns about the template that the change takes away.
    let old = old.child("spec").child("template");
    pod::Template::new(template.with(old.value()), None).warnings()
}
