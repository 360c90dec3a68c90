//! StatefulSets and Jobs on the embedded API server.

mod harness;

use std::time::Duration;

use harness::{TestCluster, names};
use k8s_openapi::api::{
    apps::v1::{DaemonSet, StatefulSet},
    batch::v1::{CronJob, Job},
    core::v1::{PersistentVolumeClaim, Pod},
};
use kube::{
    ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::{Value, json};

fn stateful_set(replicas: i32) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "serviceName": "db",
            "selector": {"matchLabels": {"app": "db"}},
            "template": {
                "metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "db", "image": "redis:8"}]},
            },
            "volumeClaimTemplates": [{
                "metadata": {"name": "data"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            }],
        },
    })
}

fn job(change: impl FnOnce(&mut Value)) -> Value {
    let mut job = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "work", "namespace": "default"},
        "spec": {
            "completions": 3,
            "parallelism": 2,
            "backoffLimit": 1,
            "template": {
                "metadata": {"annotations": {"kubewright.dev/run-duration": "5s"}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "work", "image": "busybox:1"}]},
            },
        },
    });
    change(&mut job);
    job
}

fn is_updated(set: &StatefulSet, replicas: i32) -> bool {
    let Some(status) = &set.status else { return false };
    status.observed_generation >= set.metadata.generation
        && status.ready_replicas == Some(replicas)
        && status.updated_replicas == Some(replicas)
        && status.current_revision == status.update_revision
}

fn ended(job: &Job) -> Option<(String, String)> {
    let conditions = job.status.as_ref()?.conditions.as_ref()?;
    let end = conditions.iter().find(|c| matches!(c.type_.as_str(), "Complete" | "Failed"))?;
    Some((end.type_.clone(), end.reason.clone().unwrap_or_default()))
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_fills_updates_and_shortens_its_line() {
    let cluster = TestCluster::start(1);
    cluster.create(stateful_set(3));
    let api = cluster.api::<StatefulSet>();
    let get = async || api.get("db").await.expect("the set");
    cluster.until("three pods are ready", async || is_updated(&get().await, 3)).await;
    let mut pods = names(cluster.pods().await.iter().map(|pod| &pod.metadata));
    pods.sort();
    assert_eq!(pods, ["db-0", "db-1", "db-2"]);
    let mut claims = names(cluster.list::<PersistentVolumeClaim>().await.iter().map(|claim| &claim.metadata));
    claims.sort();
    assert_eq!(claims, ["data-db-0", "data-db-1", "data-db-2"]);

    let before = get().await.status.and_then(|status| status.update_revision);
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "db", "image": "redis:9"}]}}}});
    api.patch("db", &PatchParams::default(), &Patch::Merge(image)).await.expect("the patch");
    cluster
        .until("all pods are updated", async || {
            let set = get().await;
            is_updated(&set, 3) && set.status.and_then(|status| status.update_revision) != before
        })
        .await;
    let images: Vec<_> = cluster
        .pods()
        .await
        .iter()
        .filter_map(|pod| pod.spec.as_ref()?.containers.first()?.image.clone())
        .collect();
    assert_eq!(images, ["redis:9", "redis:9", "redis:9"]);

    let scale = json!({"spec": {"replicas": 1}});
    api.patch("db", &PatchParams::default(), &Patch::Merge(scale)).await.expect("the patch");
    cluster.until("one pod is left", async || cluster.pods().await.len() == 1).await;
    assert_eq!(names(cluster.pods().await.iter().map(|pod| &pod.metadata)), ["db-0"]);
    assert_eq!(cluster.list::<PersistentVolumeClaim>().await.len(), 3, "data outlives pods");
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_job_completes() {
    let cluster = TestCluster::start(2);
    cluster.create(job(|_| {}));
    let api = cluster.api::<Job>();
    let get = async || api.get("work").await.expect("the job");
    cluster.until("it completes", async || ended(&get().await).is_some()).await;
    let job = get().await;
    assert_eq!(ended(&job), Some(("Complete".into(), "CompletionsReached".into())));
    let status = job.status.clone().expect("a status");
    assert_eq!((status.succeeded, status.failed, status.active), (Some(3), None, None));
    let pods = cluster.pods().await;
    assert_eq!(pods.len(), 3);
    assert!(pods.iter().all(|pod| pod.finalizers().is_empty()), "every pod is counted and free");
    let start = status.start_time.expect("a start").0;
    let end = status.completion_time.expect("an end").0;
    assert!(end.duration_since(start) >= jiff::SignedDuration::from_secs(10), "two rounds of five seconds");

    api.delete("work", &DeleteParams::background()).await.expect("the deletion");
    cluster.until("its pods are gone", async || cluster.pods().await.is_empty()).await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_job_that_fails_gives_up() {
    let cluster = TestCluster::start(3);
    cluster.create(job(|job| {
        job["spec"]["template"]["metadata"]["annotations"]["kubewright.dev/exit-code"] = json!("3");
    }));
    let api = cluster.api::<Job>();
    cluster.until("it fails", async || ended(&api.get("work").await.expect("the job")).is_some()).await;
    let job = api.get("work").await.expect("the job");
    assert_eq!(ended(&job), Some(("Failed".into(), "BackoffLimitExceeded".into())));
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn deleting_a_running_job_releases_its_pods() {
    let cluster = TestCluster::start(4);
    cluster.create(job(|job| {
        job["spec"]["template"]["metadata"]["annotations"]["kubewright.dev/run-duration"] = json!("1h");
    }));
    let running = async || {
        let pods: Vec<Pod> = cluster.pods().await;
        pods.iter()
            .filter(|pod| pod.status.as_ref().is_some_and(|s| s.phase.as_deref() == Some("Running")))
            .count()
    };
    cluster.until("two pods run", async || running().await == 2).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(running().await, 2);
    let api = cluster.api::<Job>();
    api.delete("work", &DeleteParams::background()).await.expect("the deletion");
    cluster.until("its pods are gone", async || cluster.pods().await.is_empty()).await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_cron_job_runs_on_time_and_keeps_its_history() {
    let cluster = TestCluster::start(5);
    let template = job(|job| job["spec"]["completions"] = json!(1));
    cluster.create(json!({
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "tick", "namespace": "default"},
        "spec": {"schedule": "*/10 * * * *", "jobTemplate": {"spec": template["spec"]}},
    }));
    tokio::time::sleep(Duration::from_secs(9 * 60)).await;
    assert!(cluster.list::<Job>().await.is_empty());
    tokio::time::sleep(Duration::from_secs(63 * 60)).await;
    let jobs = cluster.list::<Job>().await;
    assert_eq!(
        jobs.len(),
        3,
        "seven have run, three are kept: {:?}",
        names(jobs.iter().map(|job| &job.metadata))
    );
    assert!(jobs.iter().all(|job| ended(job).is_some_and(|(end, _)| end == "Complete")));
    let tick = cluster.api::<CronJob>().get("tick").await.expect("the cron job");
    let status = tick.status.expect("a status");
    assert_eq!(status.last_schedule_time.expect("a time").0.to_string(), "2030-01-01T01:10:00Z");
    assert!(status.last_successful_time.is_some());
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_has_a_pod_on_the_node_and_updates_it() {
    let cluster = TestCluster::start(6);
    cluster.create(json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": {
                "metadata": {"labels": {"app": "agent"}},
                "spec": {"containers": [{"name": "agent", "image": "agent:1"}]},
            },
        },
    }));
    let api = cluster.api::<DaemonSet>();
    let is_updated = async || {
        let set = api.get("agent").await.expect("the set");
        set.status.is_some_and(|status| {
            status.observed_generation >= set.metadata.generation
                && status.desired_number_scheduled == 1
                && status.number_available == Some(1)
                && status.updated_number_scheduled == Some(1)
        })
    };
    cluster.until("its pod is available", is_updated).await;
    let image =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "agent", "image": "agent:2"}]}}}});
    api.patch("agent", &PatchParams::default(), &Patch::Merge(image)).await.expect("the patch");
    cluster
        .until("its pod is updated", async || {
            let pods = cluster.pods().await;
            let image = |pod: &Pod| pod.spec.as_ref().and_then(|spec| spec.containers[0].image.clone());
            is_updated().await && pods.len() == 1 && image(&pods[0]).as_deref() == Some("agent:2")
        })
        .await;
    cluster.stop().await;
}
