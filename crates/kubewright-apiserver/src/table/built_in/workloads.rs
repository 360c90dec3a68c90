use jiff::Timestamp;
use serde_json::Value;

use super::super::human_duration;
use super::{Cells, Object, row};

const CONTAINERS: &str = "/spec/template/spec/containers";

pub(super) fn cells(kind: &str) -> Option<Cells> {
    Some(match kind {
        "ControllerRevision" => controller_revision,
        "CronJob" => cron_job,
        "DaemonSet" => daemon_set,
        "Deployment" => deployment,
        "Job" => job,
        "ReplicaSet" => |object| replicas(object, object.selector("/spec/selector")),
        "ReplicationController" => |object| replicas(object, object.labels("/spec/selector")),
        "StatefulSet" => stateful_set,
        _ => return None,
    })
}

fn deployment(object: Object<'_>) -> Vec<Value> {
    let (names, images) = object.containers(CONTAINERS);
    row![
        object.name(),
        format!("{}/{}", object.int("/status/readyReplicas"), object.int("/spec/replicas")),
        object.int("/status/updatedReplicas"),
        object.int("/status/availableReplicas"),
        object.age(),
        names,
        images,
        object.selector_text("/spec/selector").unwrap_or_else(|| "<invalid>".into()),
    ]
}

fn replicas(object: Object<'_>, selector: String) -> Vec<Value> {
    let (names, images) = object.containers(CONTAINERS);
    row![
        object.name(),
        object.int("/spec/replicas"),
        object.int("/status/replicas"),
        object.int("/status/readyReplicas"),
        object.age(),
        names,
        images,
        selector,
    ]
}

fn stateful_set(object: Object<'_>) -> Vec<Value> {
    let ready = format!("{}/{}", object.int("/status/readyReplicas"), object.int("/spec/replicas"));
    let (names, images) = object.containers(CONTAINERS);
    row![object.name(), ready, object.age(), names, images]
}

fn daemon_set(object: Object<'_>) -> Vec<Value> {
    let (names, images) = object.containers(CONTAINERS);
    row![
        object.name(),
        object.int("/status/desiredNumberScheduled"),
        object.int("/status/currentNumberScheduled"),
        object.int("/status/numberReady"),
        object.int("/status/updatedNumberScheduled"),
        object.int("/status/numberAvailable"),
        object.labels("/spec/template/spec/nodeSelector"),
        object.age(),
        names,
        images,
        object.selector("/spec/selector"),
    ]
}

fn job(object: Object<'_>) -> Vec<Value> {
    let (names, images) = object.containers(CONTAINERS);
    row![
        object.name(),
        job_status(object),
        job_completions(object),
        job_duration(object),
        object.age(),
        names,
        images,
        object.selector("/spec/selector"),
    ]
}

fn job_status(job: Object<'_>) -> &str {
    match () {
        () if job.condition_is_true("Complete") => "Complete",
        () if job.condition_is_true("Failed") => "Failed",
        () if job.deleting() => "Terminating",
        () if job.condition_is_true("Suspended") => "Suspended",
        () if job.condition_is_true("FailureTarget") => "FailureTarget",
        () if job.condition_is_true("SuccessCriteriaMet") => "SuccessCriteriaMet",
        () => "Running",
    }
}

fn job_completions(job: Object<'_>) -> String {
    let succeeded = job.int("/status/succeeded");
    match (job.get("/spec/completions"), job.int("/spec/parallelism")) {
        (Some(completions), _) => format!("{succeeded}/{}", completions.to_text()),
        (None, parallelism @ 2..) => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    }
}

/// From start to completion, or until now.
fn job_duration(job: Object<'_>) -> String {
    let time = |path| job.text(path).parse::<Timestamp>().ok();
    let Some(start) = time("/status/startTime") else { return String::new() };
    let end = time("/status/completionTime").unwrap_or(job.now());
    human_duration(end.duration_since(start))
}

fn cron_job(object: Object<'_>) -> Vec<Value> {
    let (names, images) = object.containers("/spec/jobTemplate/spec/template/spec/containers");
    let suspend = match object.get("/spec/suspend") {
        None => "<unset>",
        Some(_) if object.bool("/spec/suspend") => "True",
        Some(_) => "False",
    };
    let last = object.get("/status/lastScheduleTime").map(|time| time.since(""));
    row![
        object.name(),
        object.text("/spec/schedule"),
        object.get("/spec/timeZone").map_or_else(|| "<none>".into(), Object::to_text),
        suspend,
        object.len("/status/active"),
        last.unwrap_or_else(|| "<none>".into()),
        object.age(),
        names,
        images,
        object.selector("/spec/jobTemplate/spec/selector"),
    ]
}

fn controller_revision(object: Object<'_>) -> Vec<Value> {
    let owner = object.list("/metadata/ownerReferences").find(|owner| owner.bool("/controller"));
    let controller = owner.map_or_else(
        || "<none>".into(),
        |owner| {
            let group = owner.text("/apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
            let kind = match group {
                "" => owner.text("/kind").to_owned(),
                group => format!("{}.{group}", owner.text("/kind")),
            };
            format!("{}/{}", kind.to_lowercase(), owner.text("/name"))
        },
    );
    row![object.name(), controller, object.int("/revision"), object.age()]
}
