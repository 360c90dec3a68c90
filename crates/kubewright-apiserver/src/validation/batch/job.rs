use kubewright_schema::names;
use serde_json::Value;

use super::{pod_failure_policy, success_policy};
use crate::validation::{Field, core::pod, selector};

const MANY: i64 = 100_000;
const MANY_IN_PARALLEL: i64 = 10_000;
const MANAGER_LENGTH: usize = 63;

/// The labels of the pods of a job: of its uid and of its name, as they were called first and are called now.
const UID_LABELS: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];
const NAME_LABELS: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];

pub(super) fn create(job: Field<'_>) {
    let spec = job.child("spec");
    validate_generated_selector(job);
    validate_with_selector(spec, None);
    validate_pod_names(job);
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    let (spec, old_spec) = (new.child("spec"), old.child("spec"));
    validate_with_selector(spec, Some(old_spec));
    validate_completions_update(spec, old_spec);
    spec.child("selector").immutable_as(old_spec.child("selector"), "*meta.LabelSelector");
    validate_template_update(new, old);
    spec.child("completionMode").immutable(old_spec.child("completionMode"));
    let policy = spec.child("podFailurePolicy");
    policy.immutable_as(old_spec.child("podFailurePolicy"), "*batch.PodFailurePolicy");
    spec.child("backoffLimitPerIndex").immutable(old_spec.child("backoffLimitPerIndex"));
    spec.child("managedBy").immutable(old_spec.child("managedBy"));
    let policy = spec.child("successPolicy");
    policy.immutable_as(old_spec.child("successPolicy"), "*batch.SuccessPolicy");
    validate_pod_names(new);
}

/// The selector and the labels that a job gets are as they must be, whatever the client wrote.
fn validate_generated_selector(job: Field<'_>) {
    let spec = job.child("spec");
    if spec.child("manualSelector").is_true() || !spec.child("selector").is_set() {
        return;
    }
    let (uid, name) = (job.child("metadata").child("uid").text(), job.child("metadata").child("name").text());
    let labels = spec.child("template").child("metadata").child("labels");
    let [old_uid, new_uid] = UID_LABELS;
    let [old_name, new_name] = NAME_LABELS;
    let expected = [(old_uid, uid), (old_name, name), (new_uid, uid), (new_name, name)];
    for (key, value) in expected {
        let place = labels.at_key(key);
        match labels.value().get(key).and_then(Value::as_str) {
            None => place.required(format!("must be '{value}'")),
            Some(own) if own != value => {
                place.invalid(labels.value().clone(), format!("must be '{value}'"));
            }
            Some(_) => {}
        }
    }
    let all: serde_json::Map<String, Value> =
        expected.into_iter().map(|(key, value)| (key.to_owned(), Value::from(value))).collect();
    let selector = spec.child("selector");
    if selector::selects(selector, Some(&all)) == Some(false) {
        selector.invalid_as("*meta.LabelSelector", "`selector` not auto-generated");
    }
}

/// The pods of an indexed job are called by their index too.
fn validate_pod_names(job: Field<'_>) {
    let (spec, name) = (job.child("spec"), job.child("metadata").child("name"));
    let completions = spec.child("completions").number();
    if is_indexed(spec) && completions > 0 {
        let last = format!("{}-{}", name.text(), completions - 1);
        if !names::dns1123_label(&last).is_empty() {
            name.invalid(name.text(), format!("will not able to create pod with invalid DNS label: {last}"));
        }
    }
}

pub(super) fn is_indexed(spec: Field<'_>) -> bool {
    spec.child("completionMode").text() == "Indexed"
}

fn validate_with_selector(spec: Field<'_>, old: Option<Field<'_>>) {
    validate(spec, old);
    let selector = spec.child("selector");
    if selector.is_set() {
        selector::validate_label_selector(selector);
    } else {
        selector.required("");
    }
    pod::Template::new(spec.child("template"), None).validate_selected_by(selector);
}

/// Checks the spec of a job but for its selector, which one that is yet to be made has not.
pub(super) fn validate(spec: Field<'_>, old: Option<Field<'_>>) {
    for number in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        spec.child(number).not_negative();
    }
    let (per_index, failed) = (spec.child("backoffLimitPerIndex"), spec.child("maxFailedIndexes"));
    if failed.is_set() && !per_index.is_set() {
        per_index.required("when maxFailedIndexes is specified");
    }
    validate_manager(spec.child("managedBy"));
    let mode = spec.child("completionMode");
    if mode.is_set() {
        mode.one_of(&["NonIndexed", "Indexed"]);
    }
    if is_indexed(spec) {
        validate_indexed(spec);
    }
    if !mode.is_set() || mode.text() == "NonIndexed" {
        for number in [per_index, failed].into_iter().filter(|number| number.is_set()) {
            number.invalid(number.number(), "requires indexed completion mode");
        }
    }
    let failure_policy = spec.child("podFailurePolicy");
    if failure_policy.is_set() {
        pod_failure_policy::validate(spec, failure_policy);
    }
    let success_policy = spec.child("successPolicy");
    if success_policy.is_set() {
        if is_indexed(spec) {
            success_policy::validate(spec, success_policy);
        } else {
            success_policy.invalid_as("*batch.SuccessPolicy", "requires indexed completion mode");
        }
    }
    let replacement = spec.child("podReplacementPolicy");
    if replacement.is_set() {
        let supported: &[&str] =
            if failure_policy.is_set() { &["Failed"] } else { &["Failed", "TerminatingOrFailed"] };
        replacement.one_of(supported);
    }
    let template = pod::Template::new(spec.child("template"), old.map(|old| old.child("template")));
    template.validate();
    let policy = template.spec().child("restartPolicy");
    match policy.text() {
        "Always" | "" => policy.required("valid values: \"OnFailure\", \"Never\""),
        "OnFailure" if failure_policy.is_set() => {
            policy.invalid("OnFailure", "only \"Never\" is supported when podFailurePolicy is specified");
        }
        _ => policy.one_of(&["OnFailure", "Never"]),
    }
}

fn validate_indexed(spec: Field<'_>) {
    let (completions, parallelism, failed) =
        (spec.child("completions"), spec.child("parallelism"), spec.child("maxFailedIndexes"));
    let too_many = |number: Field<'_>, most: i64, when: &str| {
        if number.number() > most {
            number.invalid(number.number(), format!("must be less than or equal to {most}{when}"));
        }
    };
    if !completions.is_set() {
        completions.required("when completion mode is Indexed");
    }
    too_many(parallelism, MANY, " when completion mode is Indexed");
    if let (Some(most), Some(number)) = (completions.int(), failed.int())
        && number > most
    {
        failed.invalid(number, "must be less than or equal to completions");
    }
    too_many(failed, MANY, "");
    if completions.number() > MANY && spec.child("backoffLimitPerIndex").is_set() {
        if !failed.is_set() {
            failed.required(format!("must be specified when completions is above {MANY}"));
        }
        let when = format!(" when completions are above {MANY} and used with backoff limit per index");
        too_many(parallelism, MANY_IN_PARALLEL, &when);
        too_many(failed, MANY_IN_PARALLEL, &when);
    }
}

/// Checks who looks after the job: `example.com/controller`.
fn validate_manager(manager: Field<'_>) {
    if !manager.is_set() {
        return;
    }
    let text = manager.text();
    match text.split_once('/').filter(|(domain, path)| !domain.is_empty() && !path.is_empty()) {
        None if text.is_empty() => manager.required(""),
        None => manager.invalid(text, "must be a domain-prefixed path (such as \"acme.io/foo\")"),
        Some((domain, path)) => {
            for reason in names::dns1123_subdomain(domain) {
                manager.invalid(domain, reason);
            }
            let fits = |c: char| c.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:".contains(c);
            if !path.chars().all(fits) {
                let detail = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
                manager.invalid(path, detail);
            }
        }
    }
    if text.len() > MANAGER_LENGTH {
        manager.too_long(63);
    }
}

/// The completions of an indexed job may follow its parallelism.
fn validate_completions_update(spec: Field<'_>, old: Field<'_>) {
    let completions = spec.child("completions");
    if !is_indexed(spec) {
        return completions.immutable(old.child("completions"));
    }
    if completions.is_set()
        && completions.value() != old.child("completions").value()
        && completions.number() != spec.child("parallelism").number()
    {
        completions.invalid(completions.number(), "can only be modified in tandem with spec.parallelism");
    }
}

/// The template stays as it is, but for what tells where and with how much the pods run, while a job is suspended and
/// none of its pods is there.
fn validate_template_update(new: Field<'_>, old: Field<'_>) {
    let (template, old_template) = (new.child("spec").child("template"), old.child("spec").child("template"));
    if template.value() == old_template.value() {
        return;
    }
    let status = old.child("status");
    let is_suspended = old.child("spec").child("suspend").is_true();
    let has_not_begun =
        !status.child("startTime").is_set() || super::job_status::is_true(status, "Suspended");
    if !is_suspended || !has_not_begun || status.child("active").number() > 0 {
        return template.invalid_as("core.PodTemplateSpec", "field is immutable");
    }
    let spec = template.child("spec");
    if without_directives(spec) != without_directives(old_template.child("spec")) {
        let place = new.child("spec").at("template.spec").with(spec.value());
        place.invalid_as("core.PodSpec", "field is immutable");
    }
}

/// What of the spec of a suspended job's pods may not change.
fn without_directives(spec: Field<'_>) -> Value {
    let mut fields = spec.map().cloned().unwrap_or_default();
    for field in ["nodeSelector", "tolerations", "schedulingGates"] {
        fields.remove(field);
    }
    if let Some(affinity) = fields.get_mut("affinity").and_then(Value::as_object_mut) {
        affinity.remove("nodeAffinity");
        if affinity.is_empty() {
            fields.remove("affinity");
        }
    }
    for sort in ["containers", "initContainers"] {
        for container in fields.get_mut(sort).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(container) = container.as_object_mut() {
                container.remove("resources");
            }
        }
    }
    Value::from(fields)
}

pub(super) fn warnings(job: Field<'_>, old: Option<Field<'_>>) -> Vec<String> {
    match old {
        None => {
            let mut warnings = Vec::from_iter(pod::name_warning(job));
            warnings.extend(warnings_of_spec(job.child("spec")));
            warnings
        }
        Some(old) => {
            let generation = |job: Field<'_>| job.child("metadata").child("generation").number();
            if generation(job) == generation(old) { Vec::new() } else { warnings_of_spec(job.child("spec")) }
        }
    }
}

pub(super) fn warnings_of_spec(spec: Field<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    let number = |field| spec.child(field).number();
    if is_indexed(spec) && number("completions") > MANY && number("parallelism") > MANY_IN_PARALLEL {
        warnings.push(format!(
            "{}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, \
             Kubernetes might not be able to track completedIndexes when a big number of indexes fail",
            spec.path()
        ));
    }
    warnings.extend(pod::Template::new(spec.child("template"), None).warnings());
    warnings
}
