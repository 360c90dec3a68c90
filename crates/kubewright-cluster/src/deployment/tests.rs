//! The plan, driven against a model of the ReplicaSet controller.

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::{
            Deployment, DeploymentSpec, DeploymentStatus, DeploymentStrategy, ReplicaSet, ReplicaSetStatus,
            RollingUpdateDeployment,
        },
        core::v1::{Container, Pod, PodSpec, PodTemplateSpec},
    },
    apimachinery::pkg::{
        apis::meta::v1::{LabelSelector, ObjectMeta, Time},
        util::intstr::IntOrString,
    },
};
use proptest::prelude::*;

use super::{
    plan::{self, Change, Plan},
    revision,
    scale::size,
    status, strategy,
};
use crate::ownership;

/// A Deployment, its ReplicaSets, and for each of those how many of its pods are available.
struct Model {
    deployment: Deployment,
    replica_sets: BTreeMap<String, ReplicaSet>,
    now: Timestamp,
    serial: u64,
    events: Vec<String>,
}

impl Model {
    fn new(replicas: i32, surge: i32, unavailable: i32) -> Self {
        let labels = BTreeMap::from([("app".to_owned(), "web".to_owned())]);
        let deployment = Deployment {
            metadata: ObjectMeta {
                name: Some("web".into()),
                namespace: Some("ns".into()),
                uid: Some("d".into()),
                generation: Some(1),
                ..ObjectMeta::default()
            },
            spec: DeploymentSpec {
                replicas: Some(replicas),
                progress_deadline_seconds: Some(600),
                revision_history_limit: Some(10),
                selector: LabelSelector { match_labels: Some(labels.clone()), ..LabelSelector::default() },
                strategy: Some(DeploymentStrategy {
                    type_: Some("RollingUpdate".into()),
                    rolling_update: Some(RollingUpdateDeployment {
                        max_surge: Some(IntOrString::Int(surge)),
                        max_unavailable: Some(IntOrString::Int(unavailable)),
                    }),
                }),
                template: template(&labels, "web:1"),
                ..DeploymentSpec::default()
            },
            status: None,
        };
        let now = "2030-01-01T00:00:00Z".parse().expect("a valid timestamp");
        Self { deployment, replica_sets: BTreeMap::new(), now, serial: 0, events: Vec::new() }
    }

    fn spec(&mut self) -> &mut DeploymentSpec {
        let generation = self.deployment.metadata.generation.get_or_insert(1);
        *generation += 1;
        &mut self.deployment.spec
    }

    fn set_image(&mut self, image: &str) {
        let labels = BTreeMap::from([("app".to_owned(), "web".to_owned())]);
        self.spec().template = template(&labels, image);
    }

    fn plan(&self, pods: &[Arc<Pod>]) -> Plan {
        let replica_sets = self.replica_sets.values().cloned().map(Arc::new).collect();
        plan::plan(&self.deployment, replica_sets, pods, self.now)
    }

    /// Reconciles once; says whether anything changed.
    fn step(&mut self) -> bool {
        let plan = self.plan(&[]);
        let changed = !plan.changes.is_empty()
            || plan.revision.is_some()
            || self.deployment.status.as_ref() != Some(&plan.status);
        for change in plan.changes {
            match change {
                Change::Create { replica_set } => {
                    self.serial += 1;
                    let mut created = *replica_set;
                    created.metadata.uid = Some(format!("rs{}", self.serial));
                    created.metadata.creation_timestamp = Some(Time(self.now));
                    created.status = Some(ReplicaSetStatus::default());
                    self.events.push(format!("create {}", size(&created)));
                    let taken = self.replica_sets.insert(plan::name(&created).to_owned(), created);
                    assert!(taken.is_none(), "a ReplicaSet is created once");
                }
                Change::Update { replica_set, scaled_from } => {
                    if let Some(from) = scaled_from {
                        self.events.push(format!("{from} to {}", size(&replica_set)));
                    }
                    self.replica_sets.insert(plan::name(&replica_set).to_owned(), *replica_set);
                }
                Change::Delete { replica_set } => {
                    self.replica_sets.remove(plan::name(&replica_set));
                }
            }
        }
        if let Some(revision) = plan.revision {
            let annotations = self.deployment.metadata.annotations.get_or_insert_default();
            annotations.insert(revision::REVISION.into(), revision.to_string());
        }
        self.deployment.status = Some(plan.status);
        changed
    }

    /// Lets the ReplicaSet controller run: pods come and go at once, and at most `ready` become available.
    fn run_pods(&mut self, ready: i32) {
        self.run_some_pods(ready, |_| true);
    }

    /// The same for the ReplicaSets that `runs` names; the others lag behind.
    fn run_some_pods(&mut self, mut ready: i32, runs: impl Fn(usize) -> bool) {
        for (_, replica_set) in self.replica_sets.values_mut().enumerate().filter(|(index, _)| runs(*index)) {
            let replicas = size(replica_set);
            let status = replica_set.status.get_or_insert_default();
            let available = status.available_replicas.unwrap_or(0).min(replicas);
            let more = (replicas - available).min(ready);
            ready -= more;
            status.replicas = replicas;
            status.available_replicas = status::nonzero(available + more);
            status.ready_replicas = status.available_replicas;
            status.terminating_replicas = Some(0);
            status.observed_generation = replica_set.metadata.generation;
        }
    }

    /// Runs until nothing changes, with all pods becoming available.
    fn settle(&mut self) {
        for _ in 0..200 {
            let changed = self.step();
            self.run_pods(i32::MAX);
            if !changed && !self.step() {
                return;
            }
        }
        panic!("the Deployment does not settle: {:?}", self.deployment.status);
    }

    fn total(&self) -> i32 {
        self.replica_sets.values().map(size).sum()
    }

    fn available(&self) -> i32 {
        self.replica_sets.values().map(|rs| status::available(rs).min(size(rs))).sum()
    }

    fn status(&self) -> &DeploymentStatus {
        self.deployment.status.as_ref().expect("a status")
    }

    fn condition(&self, kind: &str) -> (String, String, String) {
        let condition = status::condition(self.status(), kind).expect("the condition");
        (
            condition.status.clone().unwrap_or_default(),
            condition.reason.clone().unwrap_or_default(),
            condition.message.clone().unwrap_or_default(),
        )
    }

    fn sizes(&self) -> Vec<i32> {
        let mut sets: Vec<_> = self.replica_sets.values().collect();
        sets.sort_by_key(|rs| revision::revision(&rs.metadata));
        sets.into_iter().map(size).collect()
    }
}

fn template(labels: &BTreeMap<String, String>, image: &str) -> PodTemplateSpec {
    PodTemplateSpec {
        metadata: Some(ObjectMeta { labels: Some(labels.clone()), ..ObjectMeta::default() }),
        spec: Some(PodSpec {
            containers: vec![Container {
                name: "web".into(),
                image: Some(image.into()),
                ..Container::default()
            }],
            ..PodSpec::default()
        }),
    }
}

fn condition(status: &str, reason: &str, message: String) -> (String, String, String) {
    (status.into(), reason.into(), message)
}

#[test]
fn a_new_deployment_becomes_available() {
    let mut model = Model::new(3, 1, 0);
    model.step();
    let name = model.replica_sets.keys().next().cloned().expect("a ReplicaSet");
    let created = &model.replica_sets[&name];
    let hash = name.strip_prefix("web-").expect("the Deployment's name");
    assert_eq!(
        created.metadata.labels.as_ref().expect("labels")[crate::pod_template::POD_TEMPLATE_HASH],
        hash
    );
    let spec = &created.spec;
    assert_eq!(
        spec.selector.match_labels.as_ref().expect("labels")[crate::pod_template::POD_TEMPLATE_HASH],
        hash
    );
    assert!(ownership::is_controlled_by(&created.metadata, Some("d")));
    assert_eq!(
        model.condition("Progressing"),
        condition("True", "NewReplicaSetCreated", format!("Created new replica set {name:?}"))
    );
    assert_eq!(
        model.condition("Available"),
        condition(
            "False",
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.".into()
        )
    );

    model.settle();
    assert_eq!(
        model.condition("Progressing"),
        condition(
            "True",
            "NewReplicaSetAvailable",
            format!("ReplicaSet {name:?} has successfully progressed.")
        )
    );
    assert_eq!(
        model.condition("Available"),
        condition("True", "MinimumReplicasAvailable", "Deployment has minimum availability.".into())
    );
    let status = model.status();
    assert_eq!(
        (status.replicas, status.updated_replicas, status.ready_replicas, status.available_replicas),
        (Some(3), Some(3), Some(3), Some(3))
    );
    assert_eq!((status.unavailable_replicas, status.observed_generation), (None, Some(1)));
    assert_eq!(model.events, ["create 3"]);
}

#[test]
fn rollouts_number_revisions_and_a_rollback_reuses_its_replica_set() {
    let mut model = Model::new(2, 1, 0);
    model.settle();
    model.set_image("web:2");
    model.settle();
    assert_eq!(model.sizes(), [0, 2]);
    assert_eq!(revision::revision(&model.deployment.metadata), 2);

    model.set_image("web:1");
    model.settle();
    assert_eq!(model.replica_sets.len(), 2);
    assert_eq!(revision::revision(&model.deployment.metadata), 3);
    let current = model.replica_sets.values().find(|rs| size(rs) == 2).expect("the new ReplicaSet");
    let annotations = current.metadata.annotations.as_ref().expect("annotations");
    assert_eq!(annotations["deployment.kubernetes.io/revision"], "3");
    assert_eq!(annotations["deployment.kubernetes.io/revision-history"], "1");
}

#[test]
fn a_template_that_never_becomes_available_stops_the_rollout_and_times_out() {
    let mut model = Model::new(4, 1, 1);
    model.settle();
    model.set_image("web:broken");
    for _ in 0..50 {
        model.step();
        model.run_pods(0);
    }
    assert_eq!(model.sizes(), [3, 2]);
    assert_eq!(model.available(), 3);
    assert_eq!(model.condition("Progressing").1, "ReplicaSetUpdated");

    let check = model.plan(&[]).check_after.expect("a time to look again");
    model.now = model.now.checked_add(check).expect("in range");
    model.step();
    let (status, reason, message) = model.condition("Progressing");
    assert_eq!((status.as_str(), reason.as_str()), ("False", "ProgressDeadlineExceeded"));
    assert!(message.ends_with("has timed out progressing."), "{message}");
    assert_eq!(model.plan(&[]).check_after, None);

    model.set_image("web:1");
    model.settle();
    assert_eq!(model.condition("Progressing").1, "NewReplicaSetAvailable");
}

#[test]
fn recreate_waits_for_old_pods() {
    let mut model = Model::new(2, 0, 0);
    model.spec().strategy = Some(DeploymentStrategy { type_: Some("Recreate".into()), rolling_update: None });
    model.settle();
    let old = model.replica_sets.values().next().cloned().expect("the first ReplicaSet");
    model.set_image("web:2");
    model.step();
    assert_eq!(model.sizes(), [0]);
    model.run_pods(0);

    let mut dying = Pod::default();
    dying.metadata.owner_references = Some(vec![ownership::controller_reference(&old)]);
    dying.metadata.deletion_timestamp = Some(Time(model.now));
    assert_eq!(model.plan(&[Arc::new(dying)]).changes, []);

    model.settle();
    assert_eq!(model.sizes(), [0, 2]);
}

#[test]
fn a_paused_deployment_scales_and_does_not_roll() {
    let mut model = Model::new(2, 1, 0);
    model.settle();
    model.spec().paused = Some(true);
    model.set_image("web:2");
    model.spec().replicas = Some(5);
    model.settle();
    assert_eq!(model.sizes(), [5]);
    assert_eq!(
        model.condition("Progressing"),
        condition("Unknown", "DeploymentPaused", "Deployment is paused".into())
    );
    model.spec().paused = Some(false);
    model.settle();
    assert_eq!(model.sizes(), [0, 5]);
    assert_eq!(model.condition("Progressing").1, "NewReplicaSetAvailable");
}

#[test]
fn scaling_during_a_rollout_is_proportional() {
    let mut model = Model::new(10, 3, 2);
    model.settle();
    model.set_image("web:broken");
    for _ in 0..50 {
        model.step();
        model.run_pods(0);
    }
    assert_eq!(model.sizes(), [8, 5]);
    model.spec().replicas = Some(15);
    model.step();
    assert_eq!(model.sizes(), [11, 7]);
}

#[test]
fn history_is_cleaned_up_to_its_limit() {
    let mut model = Model::new(1, 1, 0);
    model.spec().revision_history_limit = Some(2);
    for version in 0..6 {
        model.set_image(&format!("web:{version}"));
        model.settle();
        model.settle();
    }
    let mut revisions: Vec<_> =
        model.replica_sets.values().map(|rs| revision::revision(&rs.metadata)).collect();
    revisions.sort_unstable();
    assert_eq!(revisions, [4, 5, 6]);
}

#[test]
fn a_deployment_in_deletion_only_reports() {
    let mut model = Model::new(2, 1, 0);
    model.settle();
    model.deployment.metadata.deletion_timestamp = Some(Time(model.now));
    model.set_image("web:2");
    assert_eq!(model.plan(&[]).changes, []);
}

#[test]
fn without_a_deadline_there_is_no_progressing_condition() {
    let mut model = Model::new(1, 1, 0);
    model.spec().progress_deadline_seconds = Some(i32::MAX);
    model.settle();
    assert!(status::condition(model.status(), "Progressing").is_none());
}

proptest! {
    /// However pods become available, a rollout stays within its bounds and ends.
    #[test]
    fn rollouts_respect_their_bounds(
        replicas in 0..12_i32,
        surge in 0..5_i32,
        unavailable in 0..5_i32,
        ready in prop::collection::vec((0..4_i32, 0..4_usize), 0..40),
        resize in 0..12_i32,
    ) {
        let mut model = Model::new(replicas, surge, unavailable);
        model.settle();
        model.set_image("web:2");
        let min = replicas - strategy::max_unavailable(&model.deployment);
        let max = replicas + strategy::max_surge(&model.deployment);
        for (ready, lagging) in ready {
            model.step();
            prop_assert!(model.available() >= min, "{} available, {min} needed", model.available());
            prop_assert!(model.total() <= max, "{} pods, at most {max} allowed", model.total());
            // Which of the two ReplicaSets, if any, has not followed by the next step.
            model.run_some_pods(ready, |index| index != lagging);
        }
        model.spec().replicas = Some(resize);
        model.settle();
        prop_assert_eq!(model.sizes(), [0, resize]);
        prop_assert_eq!(model.condition("Progressing").1, "NewReplicaSetAvailable");
    }
}
