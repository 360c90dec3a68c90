use k8s_openapi::api::batch::v1::{CronJob, Job};
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    client::DeleteOptions,
    controller::Controller,
    manager::Manager,
};

use super::plan;
use crate::{
    cluster::Settings,
    context::{self, Context, RetryConflicts},
    note::Note,
    ownership,
};

const NAME: &str = "cronjob-controller";

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let crons = manager.cache().declare(InformerOptions::<CronJob>::new())?;
    let jobs = manager.cache().declare(InformerOptions::<Job>::new())?;
    Controller::for_kind::<CronJob>(manager).named(NAME).owns::<Job>().run(RetryConflicts(
        CronJobReconciler { context: Context::new(manager, settings, NAME), crons, jobs },
    ))
}

struct CronJobReconciler {
    context: Context,
    crons: Informer<CronJob>,
    jobs: Informer<Job>,
}

impl Reconciler for CronJobReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let client = &self.context.client;
        let Some(cron) = self.crons.get(&request) else { return Ok(Action::done()) };
        let mut jobs = self.jobs.list(Some(request.namespace()));
        jobs.retain(|job| ownership::is_controlled_by(&job.metadata, cron.metadata.uid.as_deref()));
        let mut plan = plan::plan(&cron, &jobs, self.context.clock.now());

        for job in &plan.delete {
            let options = DeleteOptions::background().uid(job.uid().unwrap_or_default());
            if client.delete::<Job>(Request::of(&**job), options).await? {
                let message = format!("Deleted job {}", job.name_any());
                self.context.tell(&*cron, &Note::normal("SuccessfulDelete", "Deleting", message));
            }
        }
        if let Some(job) = plan.create {
            match client.create(&*job).await {
                Ok(created) => {
                    let message = format!("Created job {}", created.name_any());
                    self.context.tell(&*cron, &Note::normal("SuccessfulCreate", "Creating", message));
                    plan.status.active.get_or_insert_default().push(plan::reference(&created));
                }
                // The Job of this time was created before, and the cache does not show it yet.
                Err(error) if error.is_already_exists() => {}
                Err(error) if context::has_cause(&error, "NamespaceTerminating") => return Ok(Action::done()),
                Err(error) => {
                    let message = format!("Error creating job: {error}");
                    self.context.tell(&*cron, &Note::warning("FailedCreate", "Creating", message));
                    return Err(error.into());
                }
            }
        }
        if cron.status.as_ref() != Some(&plan.status) {
            let mut updated = (*cron).clone();
            updated.status = Some(plan.status);
            self.context.write_status(&updated).await?;
        }
        for note in &plan.notes {
            self.context.tell(&*cron, note);
        }
        Ok(plan.check_after.map_or(Action::done(), Action::requeue_after))
    }
}
