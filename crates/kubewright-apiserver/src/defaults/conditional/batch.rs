use super::fields::{Fields, absent, always, default, default_non_empty, object};

pub(super) fn set(kind: &str, job: &mut Fields) {
    // The spec of a job within a cron job gets its defaults when the job is made.
    if kind != "Job" {
        return;
    }
    let Some(spec) = always(job, "spec") else { return };
    if absent(spec, "completions") && absent(spec, "parallelism") {
        spec.insert("completions".into(), 1.into());
    }
    default(spec, "parallelism", 1);
    let attempts = if absent(spec, "backoffLimitPerIndex") { 6 } else { i32::MAX };
    default(spec, "backoffLimit", attempts);
    default(spec, "completionMode", "NonIndexed");
    default(spec, "suspend", false);
    let replace = if absent(spec, "podFailurePolicy") { "TerminatingOrFailed" } else { "Failed" };
    default(spec, "podReplacementPolicy", replace);
    default(spec, "manualSelector", false);

    let template = object(spec, "template").and_then(|template| object(template, "metadata"));
    let labels = template.and_then(|metadata| object(metadata, "labels")).cloned();
    if let (Some(labels), Some(metadata)) = (labels, always(job, "metadata")) {
        default_non_empty(metadata, "labels", labels);
    }
}
