use kubewright_schema::names;
use serde_json::{Value, json};

use super::rollout;
use crate::validation::{
    Field, Report,
    core::{pod, volume_claim},
    selector,
};

pub(super) fn create(set: Field<'_>) {
    validate(set, None, false);
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    // A template that was wrong before may stay so.
    let report = Report::default();
    validate(Field::root(old.value(), &report), Some(old), false);
    validate(new, Some(old), report.len() > 0);
    let (spec, old_spec) = (new.child("spec"), old.child("spec"));
    spec.child("selector").immutable_as(old_spec.child("selector"), "*meta.LabelSelector");
    let claims = spec.child("volumeClaimTemplates");
    claims.immutable_as(old_spec.child("volumeClaimTemplates"), "[]core.PersistentVolumeClaim");
    for field in ["serviceName", "podManagementPolicy"] {
        if spec.child(field).text() != old_spec.child(field).text() {
            spec.child(field).invalid(spec.child(field).text(), "field is immutable");
        }
    }
}

fn validate(set: Field<'_>, old: Option<Field<'_>>, skips_template: bool) {
    let spec = set.child("spec");
    let policy = spec.child("podManagementPolicy");
    if policy.require() && !matches!(policy.text(), "OrderedReady" | "Parallel") {
        policy.invalid(policy.text(), "must be 'OrderedReady' or 'Parallel'");
    }
    validate_strategy(spec.child("updateStrategy"));
    let retention = spec.child("persistentVolumeClaimRetentionPolicy");
    if retention.is_set() {
        retention.child("whenDeleted").one_of(&["Retain", "Delete"]);
        retention.child("whenScaled").one_of(&["Retain", "Delete"]);
    }
    if old.is_none() {
        for claim in spec.child("volumeClaimTemplates").items() {
            volume_claim::validate_spec(claim.child("spec"));
        }
    }
    rollout::validate_not_negative(spec, &["replicas", "minReadySeconds"]);
    let start = spec.child("ordinals").child("start");
    spec.at("ordinals.start").with(start.value()).not_negative();
    let service = spec.child("serviceName");
    if old.is_none() && !service.is_empty() {
        service.check(names::dns1123_label);
    }
    let selector = spec.child("selector");
    rollout::validate_selector(selector, "statefulset");
    validate_template(spec, old, skips_template);
}

fn validate_strategy(strategy: Field<'_>) {
    let update = strategy.child("rollingUpdate");
    match strategy.child("type").text() {
        "" => strategy.required(""),
        "OnDelete" => {
            if update.is_set() {
                let detail = "only allowed for updateStrategy 'RollingUpdate'";
                update.invalid_as("apps.RollingUpdateStatefulSetStrategy", detail);
            }
        }
        "RollingUpdate" => {
            update.child("partition").not_negative();
            let unavailable = update.child("maxUnavailable");
            if unavailable.is_set() {
                rollout::validate_int_or_percent(unavailable);
                if rollout::is_zero(unavailable) {
                    unavailable.invalid(unavailable.value().clone(), "cannot be 0");
                }
                rollout::validate_at_most_all(unavailable);
            }
        }
        _ => strategy.invalid_as("apps.StatefulSetUpdateStrategy", "must be 'RollingUpdate' or 'OnDelete'"),
    }
}

/// Checks the template as it will be for a pod: with the volumes that the set makes, and a name that it gives.
fn validate_template(spec: Field<'_>, old: Option<Field<'_>>, skips_template: bool) {
    let selector = spec.child("selector");
    let place = spec.child("template");
    let old_template = old.map(|old| old.child("spec").child("template"));
    let template = pod::Template::new(place, old_template);
    if selector::selects(selector, None).is_none() {
        selector.invalid_as("*meta.LabelSelector", "");
    } else {
        if !selector.is_set() || selector::requirements(selector) > 0 {
            template.validate_selected_by(selector);
        }
        if !skips_template {
            let pod_spec = with_own_volumes(spec, template.spec().value());
            match &pod_spec {
                Some(pod_spec) => template.validate_with(template.spec().with(pod_spec)),
                None => template.validate(),
            }
        }
        template.validate_metadata();
    }
    template.validate_runs_forever("StatefulSet");
}

/// The spec of a pod of the set, where it is not that of the template.
fn with_own_volumes(spec: Field<'_>, template: &Value) -> Option<Value> {
    let claims = spec.child("volumeClaimTemplates").list();
    let is_named = ["hostname", "subdomain"].iter().any(|field| template.get(*field).is_some());
    if claims.is_empty() && !is_named {
        return None;
    }
    let mut own = template.clone();
    let fields = own.as_object_mut()?;
    fields.remove("hostname");
    fields.remove("subdomain");
    if !claims.is_empty() {
        let name = |claim: &Value| claim["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let names: std::collections::BTreeSet<String> = claims.iter().map(name).collect();
        let mut volumes: Vec<Value> = names
            .iter()
            .map(|name| json!({ "name": name, "persistentVolumeClaim": { "claimName": name } }))
            .collect();
        let others = template["volumes"].as_array().into_iter().flatten();
        volumes.extend(
            others.filter(|volume| !names.contains(volume["name"].as_str().unwrap_or_default())).cloned(),
        );
        fields.insert("volumes".to_owned(), Value::from(volumes));
    }
    Some(own)
}

pub(super) fn update_status(new: Field<'_>, old: Field<'_>) {
    let status = new.child("status");
    let counts = [
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ];
    rollout::validate_not_negative(status, &counts);
    let counts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    rollout::validate_counts(status, &counts);
    rollout::validate_available(status, "status.readyReplicas");
    rollout::validate_collisions(new, old);
}

pub(super) fn warnings(set: Field<'_>, old: Option<Field<'_>>) -> Vec<String> {
    let spec = set.child("spec");
    let mut warnings = Vec::new();
    if old.is_none_or(|old| rollout::is_new_generation(set, old)) {
        warnings.extend(pod::Template::new(spec.child("template"), None).warnings());
    }
    for claim in spec.child("volumeClaimTemplates").items() {
        let place = if old.is_some() { claim.at("Spec") } else { claim };
        warnings.extend(volume_claim::warnings(place.with(claim.child("spec").value())));
    }
    if spec.child("revisionHistoryLimit").number() < 0 {
        let text = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is \
                    recommended";
        warnings.push(text.to_owned());
    }
    warnings
}
