use std::{collections::BTreeSet, sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::{
    api::{
        batch::v1::{Job, JobCondition, JobSpec, JobStatus, UncountedTerminatedPods},
        core::v1::Pod,
    },
    apimachinery::pkg::apis::meta::v1::Time,
};

use super::{indexes, pods};
use crate::{note::Note, pod};

/// The wait after the first failed pod; it doubles with each further one.
const FIRST_BACKOFF: Duration = Duration::from_secs(10);
const MAX_BACKOFF: Duration = Duration::from_secs(600);
const DEFAULT_BACKOFF_LIMIT: i32 = 6;
/// The most pods that one reconciliation creates.
const BURST: i32 = 500;

/// What one reconciliation of a Job does, in this order: the status is written first, and what follows relies
/// on it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Plan {
    pub(super) status: JobStatus,
    /// Pods that the status knows, and that need no finalizer any more.
    pub(super) release: Vec<Arc<Pod>>,
    pub(super) delete: Vec<Arc<Pod>>,
    /// The pods to create, with their index for an indexed Job.
    pub(super) create: Vec<Option<i32>>,
    pub(super) notes: Vec<Note>,
    /// Whether the Job has outlived its time to live.
    pub(super) expired: bool,
    pub(super) check_after: Option<Duration>,
}

/// Decides about a Job and the `pods` that it controls, which must have all that were created.
pub(super) fn plan(job: &Job, pods: &[Arc<Pod>], now: Timestamp) -> Plan {
    let no_spec = JobSpec::default();
    let spec = job.spec.as_ref().unwrap_or(&no_spec);
    let status = job.status.clone().unwrap_or_default();
    let mut run = Run { spec, pods, now, plan: Plan { status, ..Plan::default() } };
    if run.has("Complete") || run.has("Failed") {
        run.finish();
    } else {
        run.advance(job.metadata.deletion_timestamp.is_some());
    }
    run.plan
}

struct Run<'a> {
    spec: &'a JobSpec,
    pods: &'a [Arc<Pod>],
    now: Timestamp,
    plan: Plan,
}

/// How the pods stand.
#[derive(Default)]
struct Counts {
    active: Vec<Arc<Pod>>,
    succeeded: i32,
    failed: i32,
    completed_indexes: BTreeSet<i32>,
    last_failure: Option<Timestamp>,
}

impl Run<'_> {
    /// A Job that has ended keeps nothing back, and goes after its time to live.
    fn finish(&mut self) {
        self.plan.release = self.pods.iter().filter(|pod| pods::is_tracked(pod)).cloned().collect();
        let Some(ttl) = self.spec.ttl_seconds_after_finished.and_then(|ttl| u64::try_from(ttl).ok()) else {
            return;
        };
        let conditions = self.plan.status.conditions.iter().flatten();
        let ended = conditions
            .filter(|condition| matches!(condition.type_.as_str(), "Complete" | "Failed"))
            .filter_map(|condition| condition.last_transition_time.as_ref())
            .map(|Time(time)| *time)
            .max();
        let left = Duration::from_secs(ttl).saturating_sub(since(ended.unwrap_or(self.now), self.now));
        if left.is_zero() {
            self.plan.expired = true;
        } else {
            self.wake_after(left);
        }
    }

    fn advance(&mut self, deleting: bool) {
        let suspended = self.spec.suspend == Some(true);
        self.note_suspension(suspended);
        let counts = self.count();
        let ready = counts.active.iter().filter(|pod| pod::is_ready(pod)).count();
        let terminating = self.pods.iter().filter(|pod| pod::is_terminating(pod)).count();
        self.plan.status.ready = Some(count_of(ready));
        self.plan.status.terminating = Some(count_of(terminating));
        self.plan.status.active = nonzero(count_of(counts.active.len()));
        if deleting {
            return;
        }
        if let Some((reason, message)) = self.failure(&counts) {
            return self.end("FailureTarget", "Failed", reason, message, &counts);
        }
        if self.is_complete(&counts) {
            let message = "Reached expected number of succeeded pods";
            return self.end("SuccessCriteriaMet", "Complete", "CompletionsReached", message, &counts);
        }
        if suspended {
            self.plan.delete = counts.active;
            self.plan.status.active = None;
        } else {
            self.balance(counts);
        }
    }

    /// Notes in the Suspended condition, and in the start time, that the Job was suspended or resumed.
    fn note_suspension(&mut self, suspended: bool) {
        if suspended {
            if !self.has("Suspended") {
                self.set("Suspended", "True", "JobSuspended", "Job suspended");
                self.plan.notes.push(Note::normal("Suspended", "Suspending", "Job suspended"));
            }
            self.plan.status.start_time = None;
            return;
        }
        if self.has("Suspended") {
            self.set("Suspended", "False", "JobResumed", "Job resumed");
            self.plan.notes.push(Note::normal("Resumed", "Resuming", "Job resumed"));
        }
        let now = self.now;
        self.plan.status.start_time.get_or_insert(Time(now));
    }

    /// Counts pods that have ended into the status: first by their uid, and as a number once their finalizer
    /// is gone.
    fn count(&mut self) -> Counts {
        let mut counts = Counts::default();
        let tracked = self.plan.status.uncounted_terminated_pods.take().unwrap_or_default();
        let mut waiting_succeeded: BTreeSet<String> = tracked.succeeded.into_iter().flatten().collect();
        let mut waiting_failed: BTreeSet<String> = tracked.failed.into_iter().flatten().collect();
        let held: BTreeSet<String> = self
            .pods
            .iter()
            .filter(|pod| pods::is_tracked(pod))
            .filter_map(|pod| pod.metadata.uid.clone())
            .collect();
        let mut completed =
            self.plan.status.completed_indexes.as_deref().map(indexes::parse).unwrap_or_default();

        let settle = |waiting: &mut BTreeSet<String>, count: &mut Option<i32>| {
            let before = waiting.len();
            waiting.retain(|uid| held.contains(uid));
            *count = nonzero(count.unwrap_or(0) + count_of(before - waiting.len()));
        };
        settle(&mut waiting_succeeded, &mut self.plan.status.succeeded);
        settle(&mut waiting_failed, &mut self.plan.status.failed);

        for pod in self.pods {
            let uid = pod.metadata.uid.clone().unwrap_or_default();
            let succeeded = pod::phase(pod) == "Succeeded";
            if pod::is_active(pod) {
                counts.active.push(pod.clone());
                continue;
            }
            let tracked = pods::is_tracked(pod);
            // A pod that somebody deletes before its end has failed; one that this controller deleted was
            // released before, and has not.
            if !succeeded && (tracked || pod::is_finished(pod)) {
                counts.last_failure = counts.last_failure.max(Some(ended_at(pod).unwrap_or(self.now)));
            }
            if !tracked {
                continue;
            }
            if succeeded {
                completed.extend(pods::index(pod));
                waiting_succeeded.insert(uid);
            } else {
                waiting_failed.insert(uid);
            }
            self.plan.release.push(pod.clone());
        }
        counts.succeeded = self.plan.status.succeeded.unwrap_or(0) + count_of(waiting_succeeded.len());
        counts.failed = self.plan.status.failed.unwrap_or(0) + count_of(waiting_failed.len());
        if self.is_indexed() {
            counts.succeeded = count_of(completed.len());
            let text = indexes::format(&completed);
            self.plan.status.completed_indexes = (!text.is_empty()).then_some(text);
        }
        counts.completed_indexes = completed;
        let list = |uids: BTreeSet<String>| (!uids.is_empty()).then(|| uids.into_iter().collect());
        self.plan.status.uncounted_terminated_pods = Some(UncountedTerminatedPods {
            succeeded: list(waiting_succeeded),
            failed: list(waiting_failed),
        });
        counts
    }

    fn failure(&mut self, counts: &Counts) -> Option<(&'static str, &'static str)> {
        if counts.failed > self.spec.backoff_limit.unwrap_or(DEFAULT_BACKOFF_LIMIT) {
            return Some(("BackoffLimitExceeded", "Job has reached the specified backoff limit"));
        }
        let deadline = self.spec.active_deadline_seconds.and_then(|seconds| u64::try_from(seconds).ok())?;
        let Time(start) = self.plan.status.start_time.clone()?;
        let left = Duration::from_secs(deadline).saturating_sub(since(start, self.now));
        if left.is_zero() {
            return Some(("DeadlineExceeded", "Job was active longer than specified deadline"));
        }
        self.wake_after(left);
        None
    }

    fn is_complete(&self, counts: &Counts) -> bool {
        match self.spec.completions {
            Some(completions) => counts.succeeded >= completions,
            // A Job that shares its work: one success means that there is none left.
            None => counts.succeeded > 0 && counts.active.is_empty(),
        }
    }

    /// Ends the Job: says how it will, ends its pods, and says that it has once all are counted.
    fn end(&mut self, target: &str, end: &str, reason: &'static str, message: &'static str, counts: &Counts) {
        self.set(target, "True", reason, message);
        self.plan.delete.clone_from(&counts.active);
        let uncounted = self.plan.status.uncounted_terminated_pods.as_ref();
        let all_counted = uncounted.is_none_or(|uids| uids.succeeded.is_none() && uids.failed.is_none());
        if !counts.active.is_empty() || !all_counted {
            return;
        }
        self.set(end, "True", reason, message);
        if end == "Complete" {
            self.plan.status.completion_time = Some(Time(self.now));
            self.plan.notes.push(Note::normal("Completed", "Completing", "Job completed"));
        } else {
            self.plan.notes.push(Note::warning(reason, "Failing", message));
        }
    }

    /// Creates or deletes pods so that as many run as should.
    fn balance(&mut self, counts: Counts) {
        let parallelism = self.spec.parallelism.unwrap_or(1).max(0);
        let active = count_of(counts.active.len());
        let wanted = match self.spec.completions {
            Some(completions) => parallelism.min(completions - counts.succeeded),
            None if counts.succeeded > 0 => active.min(parallelism),
            None => parallelism,
        };
        if active > wanted {
            let mut surplus = counts.active;
            surplus.sort_by_key(|pod| (pod::is_ready(pod), pod.metadata.name.clone()));
            surplus.truncate(usize::try_from(active - wanted).unwrap_or(0));
            self.plan.delete = surplus;
            return;
        }
        let missing = (wanted - active).min(BURST);
        if missing == 0 {
            return;
        }
        if let Some(left) = backoff_left(&counts, self.now) {
            self.wake_after(left);
            return;
        }
        self.plan.create = if self.is_indexed() {
            let running: BTreeSet<i32> = counts.active.iter().filter_map(|pod| pods::index(pod)).collect();
            (0..self.spec.completions.unwrap_or(0))
                .filter(|index| !running.contains(index) && !counts.completed_indexes.contains(index))
                .take(usize::try_from(missing).unwrap_or(0))
                .map(Some)
                .collect()
        } else {
            (0..missing).map(|_| None).collect()
        };
        self.plan.status.active = nonzero(active + count_of(self.plan.create.len()));
    }

    fn is_indexed(&self) -> bool {
        self.spec.completion_mode.as_deref() == Some("Indexed")
    }

    fn has(&self, kind: &str) -> bool {
        let mut conditions = self.plan.status.conditions.iter().flatten();
        conditions.any(|condition| condition.type_ == kind && condition.status == "True")
    }

    fn set(&mut self, kind: &str, status: &str, reason: &str, message: &str) {
        let conditions = self.plan.status.conditions.get_or_insert_default();
        if conditions.iter().any(|condition| condition.type_ == kind && condition.status == status) {
            return;
        }
        let condition = JobCondition {
            type_: kind.into(),
            status: status.into(),
            reason: Some(reason.into()),
            message: Some(message.into()),
            last_probe_time: Some(Time(self.now)),
            last_transition_time: Some(Time(self.now)),
        };
        match conditions.iter_mut().find(|current| current.type_ == kind) {
            Some(current) => *current = condition,
            None => conditions.push(condition),
        }
    }

    fn wake_after(&mut self, delay: Duration) {
        self.plan.check_after = Some(self.plan.check_after.map_or(delay, |earlier| earlier.min(delay)));
    }
}

/// How long the next pod has to wait because of those that failed.
fn backoff_left(counts: &Counts, now: Timestamp) -> Option<Duration> {
    let last = counts.last_failure?;
    let doublings = u32::try_from(counts.failed.saturating_sub(1)).unwrap_or(0);
    let wait = FIRST_BACKOFF.saturating_mul(2_u32.saturating_pow(doublings)).min(MAX_BACKOFF);
    Some(wait.saturating_sub(since(last, now))).filter(|left| !left.is_zero())
}

/// When the last container of a pod ended.
fn ended_at(pod: &Pod) -> Option<Timestamp> {
    let statuses = pod.status.as_ref()?.container_statuses.as_ref()?;
    let ended = |status: &k8s_openapi::api::core::v1::ContainerStatus| {
        status.state.as_ref()?.terminated.as_ref()?.finished_at.as_ref().map(|Time(time)| *time)
    };
    statuses.iter().filter_map(ended).max()
}

fn since(time: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(time)).unwrap_or(Duration::ZERO)
}

fn count_of(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn nonzero(count: i32) -> Option<i32> {
    (count != 0).then_some(count)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::PodStatus;

    use super::*;

    struct Model {
        job: Job,
        pods: Vec<Arc<Pod>>,
        now: Timestamp,
        serial: u64,
        created: usize,
    }

    impl Model {
        fn new(change: impl FnOnce(&mut JobSpec)) -> Self {
            let mut job = Job::default();
            job.metadata.name = Some("work".into());
            let spec = job.spec.get_or_insert_default();
            spec.parallelism = Some(1);
            spec.completions = Some(1);
            spec.backoff_limit = Some(2);
            change(spec);
            let now = "2030-01-01T00:00:00Z".parse().expect("a valid timestamp");
            Self { job, pods: Vec::new(), now, serial: 0, created: 0 }
        }

        fn step(&mut self) -> Plan {
            let plan = plan(&self.job, &self.pods, self.now);
            self.job.status = Some(plan.status.clone());
            for pod in &plan.release {
                for own in &mut self.pods {
                    if own.metadata.uid == pod.metadata.uid {
                        Arc::make_mut(own).metadata.finalizers = None;
                    }
                }
            }
            self.pods.retain(|own| plan.delete.iter().all(|gone| gone.metadata.uid != own.metadata.uid));
            for index in &plan.create {
                self.serial += 1;
                let mut pod = pods::new_pod(&self.job, *index);
                pod.metadata.uid = Some(self.serial.to_string());
                self.pods.push(Arc::new(pod));
                self.created += 1;
            }
            plan
        }

        fn settle(&mut self) {
            for _ in 0..50 {
                let before = (self.job.status.clone(), self.created);
                self.step();
                if before == (self.job.status.clone(), self.created) {
                    return;
                }
            }
            panic!("the Job does not settle: {:?}", self.job.status);
        }

        /// Ends all pods that run.
        fn end(&mut self, phase: &str) {
            for pod in self.pods.iter_mut().filter(|pod| pod::is_active(pod)) {
                Arc::make_mut(pod).status =
                    Some(PodStatus { phase: Some(phase.into()), ..PodStatus::default() });
            }
        }

        fn status(&self) -> &JobStatus {
            self.job.status.as_ref().expect("a status")
        }

        fn conditions(&self) -> Vec<(&str, &str)> {
            let conditions = self.status().conditions.iter().flatten();
            conditions
                .map(|condition| (&*condition.type_, condition.reason.as_deref().unwrap_or("")))
                .collect()
        }
    }

    #[test]
    fn a_job_completes_when_enough_pods_succeeded() {
        let mut model = Model::new(|spec| {
            spec.completions = Some(5);
            spec.parallelism = Some(2);
        });
        model.settle();
        assert_eq!((model.created, model.status().active), (2, Some(2)));
        for _ in 0..3 {
            model.end("Succeeded");
            model.settle();
        }
        assert_eq!(model.created, 5);
        assert_eq!((model.status().succeeded, model.status().active), (Some(5), None));
        assert_eq!(
            model.conditions(),
            [("SuccessCriteriaMet", "CompletionsReached"), ("Complete", "CompletionsReached")]
        );
        assert!(model.status().completion_time.is_some());
        assert!(model.pods.iter().all(|pod| !pods::is_tracked(pod)));
    }

    #[test]
    fn a_pod_is_counted_once_even_if_it_goes() {
        let mut model = Model::new(|spec| spec.completions = Some(2));
        model.settle();
        model.end("Succeeded");
        // The uid is in the status, the pod's finalizer goes, and then the pod itself.
        model.step();
        let uncounted = model.status().uncounted_terminated_pods.clone().expect("a list");
        assert_eq!(uncounted.succeeded, Some(vec!["1".into()]));
        model.pods.remove(0);
        model.settle();
        assert_eq!(model.status().succeeded, Some(1));
    }

    #[test]
    fn failures_back_off_and_end_the_job() {
        let mut model = Model::new(|_| {});
        model.settle();
        for wait in [10, 20] {
            model.end("Failed");
            let start = model.now;
            model.settle();
            let after = model.step().check_after.expect("a wait");
            assert_eq!(after, Duration::from_secs(wait));
            // Failed pods without container statuses failed just now; here they are gone.
            model.pods.clear();
            model.now = start.saturating_add(after).expect("in range");
            model.settle();
        }
        model.end("Failed");
        model.settle();
        assert_eq!(model.status().failed, Some(3));
        assert_eq!(
            model.conditions(),
            [("FailureTarget", "BackoffLimitExceeded"), ("Failed", "BackoffLimitExceeded")]
        );
    }

    #[test]
    fn a_deadline_ends_the_job_and_its_pods() {
        let mut model = Model::new(|spec| spec.active_deadline_seconds = Some(60));
        model.settle();
        assert_eq!(model.step().check_after, Some(Duration::from_secs(60)));
        model.now = model.now.saturating_add(Duration::from_secs(60)).expect("in range");
        model.settle();
        assert!(model.pods.is_empty());
        assert_eq!(model.conditions()[1], ("Failed", "DeadlineExceeded"));
    }

    #[test]
    fn indexes_complete_each_once() {
        let mut model = Model::new(|spec| {
            spec.completion_mode = Some("Indexed".into());
            spec.completions = Some(3);
            spec.parallelism = Some(3);
        });
        model.settle();
        let indexes: Vec<_> = model.pods.iter().map(|pod| pods::index(pod)).collect();
        assert_eq!(indexes, [Some(0), Some(1), Some(2)]);
        model.end("Succeeded");
        model.settle();
        assert_eq!(model.status().completed_indexes.as_deref(), Some("0-2"));
        assert_eq!((model.created, model.status().succeeded), (3, Some(3)));
    }

    #[test]
    fn suspension_stops_and_resumes() {
        let mut model = Model::new(|_| {});
        model.settle();
        model.job.spec.as_mut().expect("a spec").suspend = Some(true);
        model.settle();
        assert!(model.pods.is_empty() && model.status().start_time.is_none());
        assert_eq!(model.conditions(), [("Suspended", "JobSuspended")]);
        model.job.spec.as_mut().expect("a spec").suspend = Some(false);
        model.settle();
        assert_eq!((model.pods.len(), model.conditions()), (1, vec![("Suspended", "JobResumed")]));
    }

    #[test]
    fn a_finished_job_expires() {
        let mut model = Model::new(|spec| spec.ttl_seconds_after_finished = Some(30));
        model.settle();
        model.end("Succeeded");
        model.settle();
        assert_eq!(model.step().check_after, Some(Duration::from_secs(30)));
        model.now = model.now.saturating_add(Duration::from_secs(30)).expect("in range");
        assert!(model.step().expired);
    }
}
