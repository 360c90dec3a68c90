//! The kinds that run pods from a template.

use kubewright_schema::{ErrorList, FieldError, FieldPath, names};
use serde_json::{Value, json};

use super::{
    copy_field, items,
    pod_spec::{self, Owner},
    text,
};
use crate::{registry::metadata, selector::LabelSelector};

/// What is wrong with a Deployment, ReplicaSet, StatefulSet or DaemonSet.
pub(super) fn validate(object: &Value) -> ErrorList {
    let spec = &object["spec"];
    let path = FieldPath::new("spec");
    let mut errors = ErrorList::new();
    if let Some(replicas) = spec["replicas"].as_i64().filter(|replicas| *replicas < 0) {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(&path.child("replicas"), replicas, detail));
    }
    let selector = &spec["selector"];
    let kind = text(object, "kind");
    if selector.is_null() {
        // That of a DaemonSet is only found not to match.
        if kind != "DaemonSet" {
            errors.push(FieldError::required(&path.child("selector"), ""));
        }
    } else {
        errors.extend(names::validate_label_selector(selector, &path.child("selector")));
        let is_empty = |requirements: &Value| match requirements {
            Value::Object(labels) => labels.is_empty(),
            Value::Array(expressions) => expressions.is_empty(),
            _ => true,
        };
        if selector.as_object().is_some_and(|selector| selector.values().all(is_empty)) {
            let detail = match kind {
                "StatefulSet" => "empty selector is invalid for statefulset",
                "DaemonSet" => "empty selector is invalid for daemonset",
                // ReplicaSets are called so too.
                _ => "empty selector is invalid for deployment",
            };
            errors.push(FieldError::invalid(&path.child("selector"), json!({}), detail));
        }
    }
    let template = &spec["template"];
    let template_path = path.child("template");
    let labels = &template["metadata"]["labels"];
    let selects = LabelSelector::from_object(Some(selector))
        .is_ok_and(|selector| selector.matches_labels(labels.as_object()));
    if selector.is_null() || !selects {
        let path = template_path.child("metadata").child("labels");
        let detail = "`selector` does not match template `labels`";
        errors.push(FieldError::invalid(&path, labels.clone(), detail));
    }
    errors.extend(pod_spec::validate(&template["spec"], Owner::Controller, &template_path.child("spec")));
    errors
}

/// What is wrong with a change of a Deployment, ReplicaSet or DaemonSet.
pub(super) fn validate_update(object: &Value, old: &Value) -> ErrorList {
    let mut errors = validate(object);
    errors.extend(immutable(object, old, "selector"));
    errors
}

/// What is wrong with a change of a StatefulSet.
pub(super) fn validate_stateful_set_update(object: &Value, old: &Value) -> ErrorList {
    const MUTABLE: [&str; 7] = [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    ];
    let mut errors = validate(object);
    let fixed = |object: &Value| {
        let mut spec = object["spec"].clone();
        let fields = metadata::as_map(&mut spec);
        for field in MUTABLE {
            fields.remove(field);
        }
        spec
    };
    if fixed(object) != fixed(old) {
        let detail = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
                      'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
                      'minReadySeconds' are forbidden";
        errors.push(FieldError::forbidden(&FieldPath::new("spec"), detail));
    }
    errors
}

/// Counts the versions of a DaemonSet's template in the annotation that keeps them.
pub(super) fn count_template(object: &mut Value, old: Option<&Value>) {
    const ANNOTATION: &str = "deprecated.daemonset.template.generation";
    let count = |object: &Value| {
        let annotations = metadata::get(object, "annotations")?;
        annotations.get(ANNOTATION)?.as_str()?.parse::<i64>().ok()
    };
    let count = match old {
        None => 1,
        Some(old) => {
            let is_same = object["spec"]["template"] == old["spec"]["template"];
            count(old).unwrap_or(1) + i64::from(!is_same)
        }
    };
    metadata::child(metadata::edit(object), "annotations")
        .insert(ANNOTATION.to_owned(), Value::from(count.to_string()));
}

/// Makes a job select its pods by its uid, unless it says how it does.
pub(super) fn prepare_job(job: &mut Value) {
    let uid = metadata::uid(job).to_owned();
    let name = metadata::name(job).to_owned();
    let spec = metadata::child(metadata::as_map(job), "spec");
    if spec.get("manualSelector") != Some(&Value::Bool(true)) {
        let template = metadata::child(spec, "template");
        let labels = metadata::child(metadata::child(template, "metadata"), "labels");
        for (key, value) in [
            ("batch.kubernetes.io/controller-uid", &uid),
            ("batch.kubernetes.io/job-name", &name),
            ("controller-uid", &uid),
            ("job-name", &name),
        ] {
            labels.insert(key.to_owned(), Value::from(value.as_str()));
        }
        let selector = metadata::child(metadata::child(spec, "selector"), "matchLabels");
        selector.insert("batch.kubernetes.io/controller-uid".to_owned(), Value::from(uid));
    }
    // A job without labels takes those of its pods.
    let labels = job["spec"]["template"]["metadata"]["labels"].clone();
    if metadata::get(job, "labels").is_none() && labels.as_object().is_some_and(|labels| !labels.is_empty()) {
        metadata::set(job, "labels", Some(labels));
    }
}

pub(super) fn validate_job(job: &Value) -> ErrorList {
    let spec = &job["spec"];
    let path = FieldPath::new("spec");
    let mut errors = ErrorList::new();
    for field in ["parallelism", "completions", "backoffLimit", "activeDeadlineSeconds"] {
        if let Some(number) = spec[field].as_i64().filter(|number| *number < 0) {
            let detail = "must be greater than or equal to 0";
            errors.push(FieldError::invalid(&path.child(field), number, detail));
        }
    }
    let template = path.child("template").child("spec");
    errors.extend(pod_spec::validate(&spec["template"]["spec"], Owner::Job, &template));
    errors
}

pub(super) fn validate_job_update(job: &Value, old: &Value) -> ErrorList {
    let mut errors = validate_job(job);
    let is_indexed = text(&job["spec"], "completionMode") == "Indexed";
    let is_suspended = old["spec"]["suspend"] == true && old["status"]["startTime"].is_null();
    for field in ["completions", "selector", "template", "completionMode", "podFailurePolicy"] {
        // The completions of an indexed job may follow its parallelism, a suspended job may change its template.
        if (field == "completions" && is_indexed) || (field == "template" && is_suspended) {
            continue;
        }
        errors.extend(immutable(job, old, field));
    }
    errors
}

pub(super) fn validate_cron_job(cron_job: &Value) -> ErrorList {
    let spec = &cron_job["spec"];
    let path = FieldPath::new("spec");
    let mut errors = ErrorList::new();
    let schedule = text(spec, "schedule");
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if schedule.is_empty() {
        errors.push(FieldError::required(&path.child("schedule"), ""));
    } else if !schedule.starts_with('@') && fields.len() != 5 {
        let detail = format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" "));
        errors.push(FieldError::invalid(&path.child("schedule"), schedule, detail));
    }
    let policy = text(spec, "concurrencyPolicy");
    if !matches!(policy, "Allow" | "Forbid" | "Replace") {
        let supported = ["Allow", "Forbid", "Replace"];
        errors.push(FieldError::not_supported(&path.child("concurrencyPolicy"), policy, &supported));
    }
    let template = path.child("jobTemplate").child("spec").child("template").child("spec");
    errors.extend(pod_spec::validate(
        &spec["jobTemplate"]["spec"]["template"]["spec"],
        Owner::Job,
        &template,
    ));
    errors
}

fn immutable(object: &Value, old: &Value, field: &str) -> ErrorList {
    let mut errors = ErrorList::new();
    let value = &object["spec"][field];
    if *value != old["spec"][field] {
        let path = FieldPath::new("spec").child(field);
        errors.push(FieldError::invalid(&path, value.clone(), "field is immutable"));
    }
    errors
}

/// A change of a pod may not touch most of what it is made of.
pub(super) fn validate_pod_update(pod: &Value, old: &Value) -> ErrorList {
    let fixed = |pod: &Value| {
        let mut spec = pod["spec"].clone();
        let fields = metadata::as_map(&mut spec);
        for field in
            ["activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "schedulingGates"]
        {
            fields.remove(field);
        }
        for list in ["containers", "initContainers"] {
            for container in fields.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                metadata::as_map(container).remove("image");
            }
        }
        spec
    };
    let mut errors = ErrorList::new();
    let (mut new, old_spec) = (fixed(pod), fixed(old));
    let is_gated = !items(&old["spec"]["schedulingGates"]).is_empty();
    if is_gated {
        // What waits for its gates may still be told where to go.
        for field in ["nodeSelector", "affinity"] {
            copy_field(&mut new, &old_spec, field);
        }
    }
    if new != old_spec {
        let detail = "pod updates may not change fields other than `spec.containers[*].image`,\
                      `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions \
                      to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it \
                      was previously negative)";
        errors.push(FieldError::forbidden(&FieldPath::new("spec"), detail));
    }
    errors
}

/// What the plugins for priorities and for tolerations add to every pod.
pub(super) fn admit_pod(pod: &mut Value) {
    let spec = metadata::child(metadata::as_map(pod), "spec");
    if spec.get("priorityClassName").and_then(Value::as_str).is_none_or(str::is_empty) {
        spec.entry("priority").or_insert_with(|| json!(0));
        spec.entry("preemptionPolicy").or_insert_with(|| json!("PreemptLowerPriority"));
    }
    let tolerations = spec.entry("tolerations").or_insert_with(|| json!([]));
    if tolerations.is_null() {
        *tolerations = json!([]);
    }
    let Some(tolerations) = tolerations.as_array_mut() else { return };
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerates = |toleration: &Value| {
            let own = text(toleration, "key");
            (own == key || own.is_empty()) && matches!(text(toleration, "effect"), "" | "NoExecute")
        };
        if !tolerations.iter().any(tolerates) {
            tolerations.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300,
            }));
        }
    }
}
