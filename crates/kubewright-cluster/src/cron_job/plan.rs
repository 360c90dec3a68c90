use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::{
    api::{
        batch::v1::{CronJob, CronJobStatus, Job},
        core::v1::ObjectReference,
    },
    apimachinery::pkg::apis::meta::v1::Time,
};
use kube::ResourceExt;

use super::schedule::Schedule;
use crate::{note::Note, ownership};

const SCHEDULED_AT: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";
const SUCCESSFUL_LIMIT: i32 = 3;
const FAILED_LIMIT: i32 = 1;
/// So many times may be missed before it is told.
const MANY: usize = 100;

/// What one reconciliation of a CronJob does.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Plan {
    pub(super) delete: Vec<Arc<Job>>,
    pub(super) create: Option<Box<Job>>,
    pub(super) status: CronJobStatus,
    pub(super) notes: Vec<Note>,
    pub(super) check_after: Option<Duration>,
}

/// Decides about a CronJob and the `jobs` that it controls.
pub(super) fn plan(cron: &CronJob, jobs: &[Arc<Job>], now: Timestamp) -> Plan {
    let mut plan = Plan { status: cron.status.clone().unwrap_or_default(), ..Plan::default() };
    plan.observe(jobs);
    plan.clean_up(cron, jobs);
    if cron.metadata.deletion_timestamp.is_none() {
        plan.schedule(cron, jobs, now);
    }
    plan
}

impl Plan {
    /// Brings the list of active Jobs up to date.
    fn observe(&mut self, jobs: &[Arc<Job>]) {
        let before = self.status.active.take().unwrap_or_default();
        let known = |job: &Job| before.iter().any(|reference| reference.uid == job.metadata.uid);
        let mut active = Vec::new();
        for job in jobs {
            let Some(end) = end(job) else {
                active.push(reference(job));
                continue;
            };
            if known(job) {
                let message = format!("Saw completed job: {}, condition: {}", job.name_any(), end.kind);
                self.notes.push(Note::normal("SawCompletedJob", "Observing", message));
            }
            let last = self.status.last_successful_time.as_ref().map(|Time(time)| *time);
            if end.succeeded && end.at > last {
                self.status.last_successful_time = end.at.map(Time);
            }
        }
        active.sort_by(|one, two| one.name.cmp(&two.name));
        self.status.active = (!active.is_empty()).then_some(active);
    }

    /// Deletes the oldest ended Jobs beyond the history limits.
    fn clean_up(&mut self, cron: &CronJob, jobs: &[Arc<Job>]) {
        let successful = cron.spec.successful_jobs_history_limit.unwrap_or(SUCCESSFUL_LIMIT);
        let failed = cron.spec.failed_jobs_history_limit.unwrap_or(FAILED_LIMIT);
        for (limit, succeeded) in [(successful, true), (failed, false)] {
            let mut ended: Vec<_> = jobs
                .iter()
                .filter(|job| {
                    job.metadata.deletion_timestamp.is_none()
                        && end(job).is_some_and(|end| end.succeeded == succeeded)
                })
                .cloned()
                .collect();
            ended.sort_by_key(|job| (created(&**job), job.metadata.name.clone()));
            ended.truncate(ended.len().saturating_sub(usize::try_from(limit).unwrap_or(0)));
            self.delete.extend(ended);
        }
    }

    /// Creates the Job that is due, and finds the time of the next one.
    fn schedule(&mut self, cron: &CronJob, jobs: &[Arc<Job>], now: Timestamp) {
        let spec = &cron.spec;
        if spec.suspend == Some(true) {
            return;
        }
        if !matches!(spec.time_zone.as_deref(), None | Some("" | "UTC" | "Etc/UTC")) {
            let zone = spec.time_zone.as_deref().unwrap_or_default();
            let message = format!("invalid timeZone: {zone:?}: this cluster knows UTC alone");
            self.notes.push(Note::warning("UnknownTimeZone", "Scheduling", message));
            return;
        }
        let schedule = match Schedule::parse(&spec.schedule) {
            Ok(schedule) => schedule,
            Err(error) => {
                let message = format!("unparseable schedule: {:?} : {error}", spec.schedule);
                self.notes.push(Note::warning("UnparseableSchedule", "Scheduling", message));
                return;
            }
        };
        let deadline = spec.starting_deadline_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let deadline = deadline.map(Duration::from_secs);
        let last = self.status.last_schedule_time.as_ref().map(|Time(time)| *time);
        let mut earliest = last.or_else(|| created(cron)).unwrap_or(now);
        if let Some(deadline) = deadline {
            earliest = earliest.max(now.saturating_sub(deadline).unwrap_or(Timestamp::MIN));
        }

        let (due, missed) = schedule.last(earliest, now);
        if let Some(next) = schedule.next(due.unwrap_or(earliest)) {
            let wait = Duration::try_from(next.duration_since(now)).unwrap_or(Duration::ZERO);
            self.check_after = Some(wait.max(Duration::from_millis(1)));
        }
        let Some(due) = due else { return };
        if missed > MANY {
            let message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
            self.notes.push(Note::warning("TooManyMissedTimes", "Scheduling", message));
        }

        let active: Vec<_> = jobs.iter().filter(|job| end(job).is_none()).cloned().collect();
        match spec.concurrency_policy.as_deref() {
            Some("Forbid") if !active.is_empty() => {
                let message =
                    "Not starting job because prior execution is running and concurrency policy is Forbid";
                self.notes.push(Note::normal("JobAlreadyActive", "Scheduling", message));
                return;
            }
            Some("Replace") => {
                self.delete.extend(active);
                self.status.active = None;
            }
            _ => {}
        }
        let job = new_job(cron, due);
        // The cache may not show yet that this time has had its Job.
        if jobs.iter().all(|own| own.metadata.name != job.metadata.name) {
            self.create = Some(Box::new(job));
        }
        self.status.last_schedule_time = Some(Time(due));
    }
}

struct End {
    kind: String,
    succeeded: bool,
    at: Option<Timestamp>,
}

/// How a Job ended, if it has.
fn end(job: &Job) -> Option<End> {
    let status = job.status.as_ref()?;
    let is_end = |kind: &str| matches!(kind, "Complete" | "Failed");
    let condition = status.conditions.iter().flatten().find(|c| is_end(&c.type_) && c.status == "True")?;
    let at = status.completion_time.as_ref().or(condition.last_transition_time.as_ref());
    Some(End {
        kind: condition.type_.clone(),
        succeeded: condition.type_ == "Complete",
        at: at.map(|Time(time)| *time),
    })
}

fn created<K: kube::Resource>(object: &K) -> Option<Timestamp> {
    object.meta().creation_timestamp.as_ref().map(|Time(time)| *time)
}

/// The entry of a Job in the list of active ones.
pub(super) fn reference(job: &Job) -> ObjectReference {
    ObjectReference {
        api_version: Some("batch/v1".into()),
        kind: Some("Job".into()),
        namespace: job.metadata.namespace.clone(),
        name: job.metadata.name.clone(),
        uid: job.metadata.uid.clone(),
        resource_version: job.metadata.resource_version.clone(),
        ..ObjectReference::default()
    }
}

/// The Job of a scheduled time. Its name is a function of the time, so that there is never a second one.
fn new_job(cron: &CronJob, scheduled: Timestamp) -> Job {
    let template = cron.spec.job_template.clone();
    let meta = template.metadata.unwrap_or_default();
    let mut job = Job { spec: template.spec, ..Job::default() };
    job.metadata.name = Some(format!("{}-{}", cron.name_any(), scheduled.as_second() / 60));
    job.metadata.namespace = cron.namespace();
    job.metadata.labels = meta.labels;
    let mut annotations = meta.annotations.unwrap_or_default();
    annotations.insert(SCHEDULED_AT.into(), scheduled.to_string());
    job.metadata.annotations = Some(annotations);
    job.metadata.owner_references = Some(vec![ownership::controller_reference(cron)]);
    job
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::batch::v1::{CronJobSpec, JobCondition, JobStatus};

    use super::*;

    fn at(time: &str) -> Timestamp {
        time.parse().expect("a valid timestamp")
    }

    fn cron(change: impl FnOnce(&mut CronJobSpec)) -> CronJob {
        let mut cron = CronJob::default();
        cron.metadata.name = Some("tick".into());
        cron.metadata.creation_timestamp = Some(Time(at("2030-01-01T00:00:00Z")));
        let spec = &mut cron.spec;
        spec.schedule = "*/5 * * * *".into();
        change(spec);
        cron
    }

    fn job(minute: &str, end: Option<&str>) -> Arc<Job> {
        let mut job = new_job(&cron(|_| {}), at(&format!("2030-01-01T00:{minute}:00Z")));
        job.metadata.uid = Some(minute.into());
        job.metadata.creation_timestamp = Some(Time(at(&format!("2030-01-01T00:{minute}:00Z"))));
        job.status = Some(JobStatus {
            conditions: end.map(|kind| {
                vec![JobCondition { type_: kind.into(), status: "True".into(), ..JobCondition::default() }]
            }),
            ..JobStatus::default()
        });
        Arc::new(job)
    }

    #[test]
    fn a_job_is_made_when_it_is_due() {
        let cron = cron(|_| {});
        let early = plan(&cron, &[], at("2030-01-01T00:04:00Z"));
        assert_eq!((early.create, early.check_after), (None, Some(Duration::from_secs(60))));
        let due = plan(&cron, &[], at("2030-01-01T00:05:00Z"));
        let job = due.create.expect("a job");
        assert_eq!(job.name_any(), format!("tick-{}", at("2030-01-01T00:05:00Z").as_second() / 60));
        assert_eq!(job.annotations()[SCHEDULED_AT], "2030-01-01T00:05:00Z");
        assert_eq!(due.status.last_schedule_time, Some(Time(at("2030-01-01T00:05:00Z"))));
        assert_eq!(due.check_after, Some(Duration::from_secs(300)));
    }

    #[test]
    fn missed_times_are_made_up_for_once() {
        let mut cron = cron(|_| {});
        let late = plan(&cron, &[], at("2030-01-01T00:17:00Z"));
        assert_eq!(late.status.last_schedule_time, Some(Time(at("2030-01-01T00:15:00Z"))));
        cron.spec.starting_deadline_seconds = Some(60);
        assert_eq!(plan(&cron, &[], at("2030-01-01T00:17:00Z")).create, None);
    }

    #[test]
    fn policies_decide_about_overlap() {
        let running = [job("00", None)];
        let policy = |policy: &str| cron(|spec| spec.concurrency_policy = Some(policy.into()));
        let now = at("2030-01-01T00:05:00Z");
        assert!(plan(&policy("Allow"), &running, now).create.is_some());
        let forbidden = plan(&policy("Forbid"), &running, now);
        assert_eq!((forbidden.create, forbidden.notes[0].reason), (None, "JobAlreadyActive"));
        let replaced = plan(&policy("Replace"), &running, now);
        assert!(replaced.create.is_some() && replaced.delete.len() == 1);
    }

    #[test]
    fn history_is_bounded() {
        let jobs: Vec<_> = ["01", "02", "03", "04", "05"].map(|m| job(m, Some("Complete"))).into();
        let plan = plan(&cron(|spec| spec.suspend = Some(true)), &jobs, at("2030-01-01T01:00:00Z"));
        let deleted: Vec<_> = plan.delete.iter().map(|job| job.metadata.uid.as_deref()).collect();
        assert_eq!(deleted, [Some("01"), Some("02")]);
        assert_eq!((plan.create, plan.check_after), (None, None));
    }
}
