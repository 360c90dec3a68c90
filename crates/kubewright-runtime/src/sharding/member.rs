use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kubewright_world::{Clock, Random};
use prometheus_client::metrics::gauge::Gauge;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::{
    Ownership, ShardBy, Table,
    leases::{LABEL, Leases, SEEN, Seen},
};
use crate::{
    Error, Result,
    client::{Client, ClientError},
    election::{Attempt, FencingToken, Leadership, LeaseLock, Running, Settings},
    health::CheckResult,
    metrics::Metrics,
};

/// A replica that takes its part of the work.
pub(crate) struct Member {
    /// This replica's name in the tables.
    id: String,
    settings: Settings,
    /// How long requests that go may run on.
    grace: Duration,
    lock: LeaseLock,
    leases: Leases,
    random: Random,
    term: Leadership,
    ownership: Ownership,
    gauges: Gauges,
    health: Arc<Mutex<CheckResult>>,
    /// The last table that was adopted, and when.
    adopted: Option<(Table, Instant)>,
    /// The epoch that is noted in this member's lease.
    noted: u32,
    /// The greatest epoch that any table had.
    latest: u32,
    holds: bool,
    /// The members that there should be, and since when.
    wanted: (Vec<String>, Instant),
}

/// What is to be seen of the sharding from outside.
struct Gauges {
    members: Gauge,
    epoch: Gauge,
    holds: Gauge,
}

/// While tables change, they are looked at so much more often.
const HASTE: u32 = 4;

// === impl Member ===

impl Member {
    /// A replica. The settings are those of its lease but for the name, which is the operator's.
    pub(crate) fn new(
        mut settings: Settings,
        by: ShardBy,
        grace: Duration,
        client: &Client,
        clock: Clock,
        random: Random,
        metrics: &Metrics,
    ) -> Self {
        let (id, operator) = (random.uid(), settings.name);
        settings.name = Leases::name_of(&operator, &id);
        // A request that hangs leaves time for another one before the deadline.
        let patience = (settings.renew_deadline / 2).max(Duration::from_secs(1));
        let client = client.clone().with_timeout(patience);
        let labels = [(LABEL.to_owned(), operator.clone())];
        let lock = LeaseLock::new(client.clone(), clock.clone(), &settings).with_labels(labels.into());
        let term = Leadership::standby();
        let leases = Leases::new(client, clock, operator, &settings);
        Self {
            ownership: Ownership::of_member(id.clone(), by, term.clone()),
            id,
            settings,
            grace,
            lock,
            leases,
            random,
            term,
            gauges: Gauges::register(metrics),
            health: Arc::new(Mutex::new(Ok(()))),
            adopted: None,
            noted: 0,
            latest: 0,
            holds: false,
            wanted: (Vec::new(), Instant::now()),
        }
    }

    /// Whether this replica may act at all: from when it has its lease until it may have lost it.
    pub(crate) fn term(&self) -> &Leadership {
        &self.term
    }

    pub(crate) fn ownership(&self) -> &Ownership {
        &self.ownership
    }

    /// A check for readiness: whether the last word of the API server about the leases was an answer.
    pub(crate) fn check(&self) -> impl Fn() -> CheckResult + Send + Sync + use<> {
        let health = self.health.clone();
        move || health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Joins. `lost` is called if the lease of this replica is lost.
    pub(crate) fn start(self, lost: impl FnOnce(Error) + Send + 'static) -> Running {
        Running::start(lost, |stop| self.run(stop))
    }

    async fn run(mut self, stop: CancellationToken) -> Result<()> {
        let Some(until) = self.join(&stop).await else {
            self.leave().await;
            return Ok(());
        };
        if !self.term.begin(until, FencingToken::of_epoch(0)) {
            return Err(self.lost("the process stood still as soon as it had it".to_owned()));
        }
        tracing::info!(lease = self.settings.name, "joined the replicas that share the work");
        let ended = self.serve(until, &stop).await;
        self.term.end();
        match ended {
            Ok(()) => {
                self.leave().await;
                Ok(())
            }
            Err(reason) => Err(self.lost(reason)),
        }
    }

    /// Makes the lease of this replica, and returns until when that lets it act. `None` means that it was stopped.
    async fn join(&mut self, stop: &CancellationToken) -> Option<Instant> {
        loop {
            let attempt = tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                attempt = self.lock.acquire() => attempt,
            };
            if let Some(Attempt::Held(sent)) = self.heard(attempt) {
                let until = sent + self.settings.renew_deadline;
                if Instant::now() < until {
                    return Some(until);
                }
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                () = sleep_until(self.later(1)) => {}
            }
        }
    }

    /// Renews the lease and follows the tables until it is stopped. An error is why the term is over.
    async fn serve(&mut self, mut until: Instant, stop: &CancellationToken) -> Result<(), String> {
        let mut renew = Instant::now() + self.settings.retry_period;
        let mut look = Instant::now();
        loop {
            if Instant::now() >= until || !self.term.is_leader() {
                return Err(self.overdue());
            }
            let drained = self.ownership.is_drained();
            let note = self.adopted.as_ref().map(|(table, _)| table.epoch());
            let note = note.filter(|epoch| drained && *epoch != self.noted);
            if let Some(epoch) = note {
                self.lock.annotate(SEEN, epoch.to_string());
            }
            if note.is_some() || Instant::now() >= renew {
                let began = Instant::now();
                // Not sent when it is too late: it would keep others from the keys for nothing.
                let renewal = timeout_at(until, self.term.while_leading(self.lock.renew()));
                let attempt = tokio::select! {
                    biased;
                    () = stop.cancelled() => return Ok(()),
                    attempt = renewal => attempt.ok().flatten(),
                };
                let Some(attempt) = attempt else { return Err(self.overdue()) };
                renew = began + self.settings.retry_period;
                match self.heard(attempt) {
                    Some(Attempt::Held(sent)) => {
                        until = sent + self.settings.renew_deadline;
                        self.noted = note.unwrap_or(self.noted);
                        if !self.term.extend(until) {
                            return Err(self.overdue());
                        }
                        if note.is_some() {
                            look = Instant::now();
                        }
                    }
                    Some(Attempt::Refused { .. }) => {
                        return Err("another replica took it, because it was not renewed".to_owned());
                    }
                    // Tried again soon: another note is of no use while this one does not get through.
                    None => {
                        tokio::select! {
                            biased;
                            () = stop.cancelled() => return Ok(()),
                            () = sleep_until(self.later(HASTE).min(until)) => {}
                        }
                        continue;
                    }
                }
            }
            if Instant::now() >= look {
                // Not so long that no time is left for a renewal that hangs.
                let end = until - self.settings.renew_deadline / 2;
                let looking =
                    timeout_at(end.max(Instant::now() + self.settings.retry_period / 2), self.look());
                let looked = tokio::select! {
                    biased;
                    () = stop.cancelled() => return Ok(()),
                    looked = looking => looked,
                };
                match looked {
                    Ok(Ok(())) => {}
                    Ok(Err(Failure::Lost(reason))) => return Err(reason),
                    Ok(Err(Failure::Request(error))) => drop(self.heard::<()>(Err(error))),
                    Err(_) => tracing::warn!(
                        lease = self.settings.name,
                        "no answer about the leases of the replicas"
                    ),
                }
                look = self.later(if self.is_at_rest() { 1 } else { HASTE });
                continue;
            }
            let drained = self.ownership.is_drained();
            let cut = self.adopted.as_ref().filter(|_| !drained).map(|(_, since)| *since + self.grace);
            if cut.is_some_and(|cut| Instant::now() >= cut) {
                self.ownership.cut();
            }
            let next = renew.min(look).min(until);
            let next = cut.filter(|cut| *cut > Instant::now()).map_or(next, |cut| cut.min(next));
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                () = self.term.ended() => {}
                () = self.ownership.turn_ended(), if !drained => {}
                () = sleep_until(next) => {}
            }
        }
    }

    /// Looks at the leases, and does what they call for.
    async fn look(&mut self) -> Result<(), Failure> {
        let seen = self.leases.list().await?;
        let _ = self.heard(Ok(()));
        let table = seen.table();
        if let Some(table) = &table {
            self.latest = self.latest.max(table.epoch());
        }
        self.adopt(table.as_ref())?;
        if let Some((adopted, _)) = &self.adopted
            && !self.holds
            && seen.all_saw(adopted)
        {
            self.holds = true;
            self.gauges.holds.set(1);
            self.ownership.settle();
            tracing::info!(epoch = adopted.epoch(), members = adopted.members().len(), "the work is divided");
        }
        self.propose(&seen, table.as_ref()).await
    }

    fn adopt(&mut self, table: Option<&Table>) -> Result<(), Failure> {
        let last = self.adopted.as_ref().map_or(0, |(table, _)| table.epoch());
        let Some(table) = table.filter(|table| table.epoch() > last) else { return Ok(()) };
        if !table.members().contains(&self.id) {
            // Before its first table it is one of those that come.
            return match self.adopted {
                Some(_) => Err(Failure::Lost("another replica took it for dead".to_owned())),
                None => Ok(()),
            };
        }
        tracing::info!(
            epoch = table.epoch(),
            members = table.members().len(),
            "the work is being divided anew"
        );
        self.ownership.adopt(table.clone());
        self.adopted = Some((table.clone(), Instant::now()));
        self.holds = false;
        self.gauges.table(table);
        Ok(())
    }

    /// Writes the next table, if there is to be one and it is this replica's turn.
    async fn propose(&mut self, seen: &Seen, table: Option<&Table>) -> Result<(), Failure> {
        let wanted = self.leases.wanted(table);
        if self.wanted.0 != wanted {
            self.wanted = (wanted, Instant::now());
        }
        let Some(rank) = self.wanted.0.iter().position(|member| *member == self.id) else { return Ok(()) };
        let is_old = table.is_none_or(|table| table.epoch() < self.latest);
        if !is_old && table.is_some_and(|table| table.members() == self.wanted.0) {
            if rank == 0 {
                self.leases.collect(seen).await?;
            }
            return Ok(());
        }
        // The first does it. Should it not be able to, the others do it in their order.
        let turn = self.wanted.1 + self.settings.retry_period * u32::try_from(rank).unwrap_or(u32::MAX);
        if Instant::now() < turn {
            return Ok(());
        }
        let next = Table::new(self.latest.saturating_add(1), self.wanted.0.iter().cloned());
        let written = self.term.while_leading(self.leases.replace(seen, &next)).await;
        if written.transpose()? == Some(true) {
            tracing::info!(epoch = next.epoch(), members = next.members().len(), "wrote who shares the work");
        }
        Ok(())
    }

    /// Whether there is nothing to wait for but the next renewal.
    fn is_at_rest(&self) -> bool {
        let table = self.adopted.as_ref().filter(|_| self.holds);
        table.is_some_and(|(table, _)| table.members() == self.wanted.0)
    }

    /// In a retry period, or the part of one, and a little more at random: replicas do not come in step.
    fn later(&self, parts: u32) -> Instant {
        Instant::now() + (self.settings.retry_period / parts).mul_f64(1.0 + 0.2 * self.random.unit())
    }

    /// Gives the lease up, so that others do not wait for its end.
    async fn leave(&mut self) {
        match timeout(self.settings.renew_deadline, self.lock.release()).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                tracing::warn!(lease = self.settings.name, %error, "cannot release the lease; it ends by itself");
            }
            Err(_) => tracing::warn!(lease = self.settings.name, "no answer to the release of the lease"),
        }
    }

    /// Notes for readiness and logs what came of a request.
    fn heard<T>(&self, answer: Result<T, ClientError>) -> Option<T> {
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Ok(answer) => {
                *health = Ok(());
                Some(answer)
            }
            Err(error) => {
                let error = error.to_string();
                if health.as_ref().err() != Some(&error) {
                    tracing::warn!(
                        lease = self.settings.name,
                        error,
                        "cannot read or write the leases of the replicas"
                    );
                }
                *health = Err(error);
                None
            }
        }
    }

    fn overdue(&self) -> String {
        let health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        let cause = health.as_ref().err().map(|error| format!(": {error}")).unwrap_or_default();
        format!("it could not be renewed within {:?}{cause}", self.settings.renew_deadline)
    }

    fn lost(&self, reason: String) -> Error {
        Error::ShardLost { lease: format!("{}/{}", self.settings.namespace, self.settings.name), reason }
    }
}

/// However it ends, this replica does not act any more.
impl Drop for Member {
    fn drop(&mut self) {
        self.term.end();
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member")
            .field("id", &self.id)
            .field("ownership", &self.ownership)
            .finish_non_exhaustive()
    }
}

/// Why a look at the leases came to nothing.
enum Failure {
    Request(ClientError),
    Lost(String),
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Request(error)
    }
}

// === impl Gauges ===

impl Gauges {
    fn register(metrics: &Metrics) -> Self {
        let gauges = Self { members: Gauge::default(), epoch: Gauge::default(), holds: Gauge::default() };
        metrics.register(|registry| {
            for (name, help, gauge) in [
                (
                    "kubewright_shards_members",
                    "Replicas that share the work, by the last table",
                    &gauges.members,
                ),
                ("kubewright_shards_epoch", "Number of the last table of who shares the work", &gauges.epoch),
                ("kubewright_shards_holds", "1 while all replicas act by the last table", &gauges.holds),
            ] {
                registry.register(name, help, gauge.clone());
            }
        });
        gauges
    }

    /// Another table was adopted, which does not hold yet.
    fn table(&self, table: &Table) {
        self.members.set(i64::try_from(table.members().len()).unwrap_or(i64::MAX));
        self.epoch.set(i64::from(table.epoch()));
        self.holds.set(0);
    }
}
