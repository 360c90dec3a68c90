use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kube::Resource;
use kubewright_world::{Clock, Random};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    Leadership, Settings,
    lease::{Attempt, LeaseLock},
    options::JITTER,
};
use crate::{
    Error, Result,
    client::Client,
    events::{EventType, Recorder},
    health::CheckResult,
    metrics::LeaderElectionMetrics,
};

/// A candidate, and later the leader.
pub(crate) struct Elector {
    settings: Settings,
    lock: LeaseLock,
    random: Random,
    leadership: Leadership,
    recorder: Recorder,
    metrics: LeaderElectionMetrics,
    health: Arc<Mutex<CheckResult>>,
}

/// Something that holds a lease while it runs. Dropping it ends the term without giving up the lease.
pub(crate) struct Running {
    stop: CancellationToken,
    task: AbortOnDropHandle<()>,
}

// === impl Elector ===

impl Elector {
    pub(crate) fn new(
        settings: Settings,
        client: &Client,
        clock: Clock,
        random: Random,
        recorder: Recorder,
        metrics: LeaderElectionMetrics,
    ) -> Self {
        // A request that hangs leaves time for another one before the deadline.
        let patience = (settings.renew_deadline / 2).max(Duration::from_secs(1));
        let lock = LeaseLock::new(client.clone().with_timeout(patience), clock, &settings)
            .with_labels(settings.labels.clone());
        Self {
            settings,
            lock,
            random,
            leadership: Leadership::standby(),
            recorder,
            metrics,
            health: Arc::new(Mutex::new(Ok(()))),
        }
    }

    pub(crate) fn leadership(&self) -> &Leadership {
        &self.leadership
    }

    /// A check for readiness: whether the last word of the API server about the lease was an answer.
    pub(crate) fn check(&self) -> impl Fn() -> CheckResult + Send + Sync + use<> {
        let health = self.health.clone();
        move || health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stands for election. `lost` is called if the election was won and the lease is lost.
    pub(crate) fn start(self, lost: impl FnOnce(Error) + Send + 'static) -> Running {
        Running::start(lost, |stop| self.run(stop))
    }

    async fn run(mut self, stop: CancellationToken) -> Result<()> {
        let lock = self.lock_name();
        tracing::info!(lock, "Attempting to acquire leader lease...");
        let Some(until) = self.campaign(&stop).await else {
            // A request may have been cut off whose answer would have been the lease.
            self.release().await;
            return Ok(());
        };
        if !self.leadership.begin(until, self.lock.fencing_token()) {
            return Err(self.lost("the process stood still as soon as it had it".to_owned()));
        }
        tracing::info!(lock, "Successfully acquired lease");
        self.metrics.set_leader(true);
        self.record("BecomeLeader", "became leader");
        let ended = self.lead(until, &stop).await;
        self.leadership.end();
        self.metrics.set_leader(false);
        self.record("StopLeading", "stopped leading");
        match ended {
            Ok(()) => {
                self.release().await;
                Ok(())
            }
            Err(reason) => Err(self.lost(reason)),
        }
    }

    /// Tries until it has the lease, and returns until when that lets it act. `None` means that it was stopped.
    async fn campaign(&mut self, stop: &CancellationToken) -> Option<Instant> {
        let mut leader = String::new();
        loop {
            let attempt = tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                attempt = self.lock.acquire() => attempt,
            };
            // At random, so that candidates do not come in step.
            let pause = self.settings.retry_period.mul_f64(1.0 + JITTER * self.random.unit());
            let mut next = Instant::now() + pause;
            match self.noted(attempt) {
                Ok(Attempt::Held(sent)) => {
                    let until = sent + self.settings.renew_deadline;
                    if Instant::now() < until {
                        return Some(until);
                    }
                    // The answer came too late to act on it. Renewed, it is this process's.
                    next = Instant::now();
                }
                Ok(Attempt::Refused { holder, until }) => {
                    // Sooner than client-go, which may sleep through the end of the lease.
                    if until > Instant::now() {
                        next = next.min(until);
                    }
                    if holder != leader {
                        tracing::info!(lock = self.lock_name(), holder, "standing by");
                        leader = holder;
                    }
                }
                Err(_) => {}
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                () = sleep_until(next) => {}
            }
        }
    }

    /// Renews until it is stopped. An error is why the term is over.
    async fn lead(&mut self, mut until: Instant, stop: &CancellationToken) -> Result<(), String> {
        let mut last_error = None;
        let mut next = Instant::now() + self.settings.retry_period;
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                () = self.leadership.ended() => {}
                () = sleep_until(next.min(until)) => {}
            }
            let began = Instant::now();
            if began >= until || !self.leadership.is_leader() {
                return Err(self.overdue(last_error));
            }
            // Not sent when it is too late: it would keep others from the lease for nothing.
            let renewal = timeout_at(until, self.leadership.while_leading(self.lock.renew()));
            let attempt = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                attempt = renewal => attempt.ok().flatten(),
            };
            match attempt.map(|attempt| self.noted(attempt)) {
                Some(Ok(Attempt::Held(sent))) => {
                    until = sent + self.settings.renew_deadline;
                    next = sent + self.settings.retry_period;
                    last_error = None;
                    if !self.leadership.extend(until) {
                        return Err(self.overdue(None));
                    }
                }
                Some(Ok(Attempt::Refused { holder, .. })) if holder.is_empty() => {
                    return Err("somebody took this process's name off it".to_owned());
                }
                Some(Ok(Attempt::Refused { holder, .. })) => return Err(format!("it is held by {holder}")),
                Some(Err(error)) => {
                    last_error = Some(error);
                    next = began + self.settings.retry_period;
                }
                None => return Err(self.overdue(last_error)),
            }
        }
    }

    fn overdue(&self, last_error: Option<String>) -> String {
        let cause = last_error.map(|error| format!(": {error}")).unwrap_or_default();
        format!("it could not be renewed within {:?}{cause}", self.settings.renew_deadline)
    }

    /// Notes for readiness and logs what came of an attempt.
    fn noted(&self, attempt: crate::client::Result<Attempt>) -> Result<Attempt, String> {
        let attempt = attempt.map_err(|error| error.to_string());
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        *health = match &attempt {
            Ok(_) => Ok(()),
            Err(error) => {
                if health.as_ref().err() != Some(error) {
                    tracing::warn!(lock = self.lock_name(), error, "cannot get or renew the leader lease");
                }
                Err(error.clone())
            }
        };
        attempt
    }

    async fn release(&mut self) {
        match timeout(self.settings.renew_deadline, self.lock.release()).await {
            Ok(Ok(true)) => tracing::info!(lock = self.lock_name(), "released the leader lease"),
            Ok(Ok(false)) => {}
            Ok(Err(error)) => {
                tracing::warn!(lock = self.lock_name(), %error, "cannot release the leader lease; it ends by itself");
            }
            Err(_) => {
                tracing::warn!(
                    lock = self.lock_name(),
                    "no answer to the release of the leader lease; it ends by itself"
                );
            }
        }
    }

    fn record(&self, action: &str, what: &str) {
        let Some(lease) = self.lock.lease() else { return };
        let note = format!("{} {what}", self.settings.identity);
        self.recorder.record(EventType::Normal, lease.object_ref(&()), None, "LeaderElection", action, note);
    }

    fn lock_name(&self) -> String {
        format!("{}/{}", self.settings.namespace, self.settings.name)
    }

    fn lost(&self, reason: String) -> Error {
        Error::LeaderElectionLost { lease: self.lock_name(), reason }
    }
}

/// However the elector ends, nobody leads by it any more.
impl Drop for Elector {
    fn drop(&mut self) {
        self.leadership.end();
        self.metrics.set_leader(false);
    }
}

impl fmt::Debug for Elector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elector").field("settings", &self.settings).finish_non_exhaustive()
    }
}

// === impl Running ===

impl Running {
    /// Runs it. `lost` is called with its error.
    pub(crate) fn start<F>(
        lost: impl FnOnce(Error) + Send + 'static,
        run: impl FnOnce(CancellationToken) -> F,
    ) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let run = run(stop.clone());
        let task = tokio::spawn(async move {
            if let Err(error) = run.await {
                lost(error);
            }
        });
        Self { stop, task: AbortOnDropHandle::new(task) }
    }

    /// Ends the term and gives up the lease. Call it when the leader work has ended.
    pub(crate) async fn resign(self) {
        self.stop.cancel();
        // What runs does not panic; if it did, the lease ends by itself.
        let _ = self.task.await;
    }
}
