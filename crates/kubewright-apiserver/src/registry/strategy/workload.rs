//! The kinds that run pods from a template.

use serde_json::Value;

use crate::registry::metadata;

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
            // What the client has set stays, and is refused if it is something else.
            labels.entry(key).or_insert_with(|| Value::from(value.as_str()));
        }
        let selector = metadata::child(metadata::child(spec, "selector"), "matchLabels");
        selector.entry("batch.kubernetes.io/controller-uid").or_insert_with(|| Value::from(uid));
    }
    // A job without labels takes those of its pods.
    let labels = job["spec"]["template"]["metadata"]["labels"].clone();
    if metadata::get(job, "labels").is_none() && labels.as_object().is_some_and(|labels| !labels.is_empty()) {
        metadata::set(job, "labels", Some(labels));
    }
}
