use std::sync::Arc;

use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    client::{DeleteOptions, ListOptions, Patch},
    controller::Controller,
    manager::Manager,
};
use serde_json::json;

use super::{TRACKING, plan, pods};
use crate::{
    cluster::Settings,
    context::{self, Context, RetryConflicts},
    note::Note,
    ownership,
};

const NAME: &str = "job-controller";

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let jobs = manager.cache().declare(InformerOptions::<Job>::new())?;
    Controller::for_kind::<Job>(manager)
        .named(NAME)
        .owns::<Pod>()
        .run(RetryConflicts(JobReconciler { context: Context::new(manager, settings, NAME), jobs }))
}

struct JobReconciler {
    context: Context,
    jobs: Informer<Job>,
}

impl Reconciler for JobReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        // Without the pods of its own making in it, the list would have it make them again.
        let pods = ListOptions::in_namespace(request.namespace());
        let mut pods = self.context.client.read_your_writes().list::<Pod>(pods).await?;
        let Some(job) = self.jobs.get(&request) else {
            return self.release_orphans(&request, &pods).await;
        };
        pods.retain(|pod| ownership::is_controlled_by(&pod.metadata, job.metadata.uid.as_deref()));

        let plan = plan::plan(&job, &pods, self.context.clock.now());
        if job.status.as_ref() != Some(&plan.status) {
            let mut updated = (*job).clone();
            updated.status = Some(plan.status);
            self.context.write_status(&updated).await?;
        }
        for note in &plan.notes {
            self.context.tell(&*job, note);
        }
        for pod in &plan.release {
            self.release(pod).await?;
        }
        for pod in &plan.delete {
            self.delete(&job, pod).await?;
        }
        for index in plan.create {
            if !self.create(&job, index).await? {
                return Ok(Action::done());
            }
        }
        if plan.expired {
            let options = DeleteOptions::foreground().uid(job.uid().unwrap_or_default());
            self.context.client.delete::<Job>(&request, options).await?;
            return Ok(Action::done());
        }
        Ok(plan.check_after.map_or(Action::done(), Action::requeue_after))
    }
}

impl JobReconciler {
    /// `false` means that the namespace is going, and nothing can be created in it.
    async fn create(&self, job: &Job, index: Option<i32>) -> Result<bool> {
        match self.context.client.create(&pods::new_pod(job, index)).await {
            Ok(created) => {
                let message = format!("Created pod: {}", created.name_any());
                self.context.tell(job, &Note::normal("SuccessfulCreate", "Creating", message));
                Ok(true)
            }
            Err(error) if context::has_cause(&error, "NamespaceTerminating") => Ok(false),
            Err(error) => {
                let message = format!("Error creating: {error}");
                self.context.tell(job, &Note::warning("FailedCreate", "Creating", message));
                Err(error.into())
            }
        }
    }

    async fn delete(&self, job: &Job, pod: &Pod) -> Result<()> {
        // Released first, so that it does not count as one that failed.
        self.release(pod).await?;
        let options = DeleteOptions::background().uid(pod.uid().unwrap_or_default());
        self.context.client.delete::<Pod>(Request::of(pod), options).await?;
        let message = format!("Deleted pod: {}", pod.name_any());
        self.context.tell(job, &Note::normal("SuccessfulDelete", "Deleting", message));
        Ok(())
    }

    /// Pods of a Job that is gone need not be counted any more.
    async fn release_orphans(&self, request: &Request, pods: &[Arc<Pod>]) -> Result<Action> {
        let is_orphan = |pod: &&Arc<Pod>| {
            pods::is_tracked(pod)
                && ownership::controller_of(&pod.metadata)
                    .is_some_and(|controller| controller.kind == "Job" && controller.name == request.name)
        };
        for pod in pods.iter().filter(is_orphan) {
            self.release(pod).await?;
        }
        Ok(Action::done())
    }

    async fn release(&self, pod: &Pod) -> Result<()> {
        let finalizers = pod.metadata.finalizers.iter().flatten();
        let kept: Vec<_> = finalizers.filter(|finalizer| *finalizer != TRACKING).collect();
        let kept = (!kept.is_empty()).then_some(kept);
        let patch = json!({
            "metadata": {
                "uid": pod.metadata.uid,
                "resourceVersion": pod.metadata.resource_version,
                "finalizers": kept,
            }
        });
        match self.context.client.patch::<Pod>(Request::of(pod), Patch::merge(patch)).await {
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(()),
        }
    }
}
