use std::{collections::BTreeMap, time::Duration};

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
};
use kube::core::ObjectMeta;
use kubewright_world::Clock;
use tokio::time::Instant;

use super::{FencingToken, Settings};
use crate::{
    Request,
    client::{Client, Result},
};

/// One candidate's view of the lease, and what it writes into it. Every write names the version that it replaces.
pub(crate) struct LeaseLock {
    client: Client,
    clock: Clock,
    key: Request,
    identity: String,
    lease_duration: Duration,
    /// Labels and annotations that every write sets.
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    observed: Option<Observed>,
}

/// The lease as it was last seen.
struct Observed {
    lease: Lease,
    /// When it was first seen with this content, by this process's own monotonic clock.
    since: Instant,
}

/// What came of an attempt to get or to keep the lease.
#[derive(Debug, PartialEq)]
pub(crate) enum Attempt {
    /// It is this process's, by a request that was sent at this time.
    Held(Instant),
    /// It is not, and will not be before this time.
    Refused {
        /// The holder, or who was faster.
        holder: String,
        until: Instant,
    },
}

// === impl LeaseLock ===

impl LeaseLock {
    pub(crate) fn new(client: Client, clock: Clock, settings: &Settings) -> Self {
        Self {
            client,
            clock,
            key: Request::namespaced(&settings.namespace, &settings.name),
            identity: settings.identity.clone(),
            lease_duration: settings.lease_duration,
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            observed: None,
        }
    }

    /// The same for a lease with these labels.
    pub(crate) fn with_labels(mut self, labels: BTreeMap<String, String>) -> Self {
        self.labels = labels;
        self
    }

    /// Sets an annotation in the renewals from now on.
    pub(crate) fn annotate(&mut self, name: &str, value: String) {
        self.annotations.insert(name.to_owned(), value);
    }

    /// The lease as it was last seen.
    pub(super) fn lease(&self) -> Option<&Lease> {
        self.observed.as_ref().map(|observed| &observed.lease)
    }

    /// The number of the term that this process holds.
    pub(super) fn fencing_token(&self) -> FencingToken {
        FencingToken::new(self.transitions())
    }

    /// Takes the lease if it is free or was not renewed for its duration.
    pub(crate) async fn acquire(&mut self) -> Result<Attempt> {
        let Some(fetched) = self.client.live().get::<Lease>(&self.key).await? else {
            // A lease that was deleted: its holder still acts.
            if let Some(refused) = self.refused() {
                return Ok(refused);
            }
            let transitions = self.observed.as_ref().map_or(0, |_| self.transitions().saturating_add(1));
            return self.create(transitions).await;
        };
        self.observe(fetched);
        if let Some(refused) = self.refused() {
            return Ok(refused);
        }
        let mut next = self.lease().cloned().unwrap_or_default();
        let spec = next.spec.get_or_insert_default();
        // Also from this process itself, whose request was answered by nobody: the number says that a term began.
        spec.lease_transitions = Some(spec.lease_transitions.unwrap_or_default().saturating_add(1));
        spec.acquire_time = Some(micros(self.clock.now()));
        self.update(next).await
    }

    /// Renews the lease that this process holds. If somebody else has it, or it is free, the term is over.
    pub(crate) async fn renew(&mut self) -> Result<Attempt> {
        let held = self.lease().cloned().unwrap_or_default();
        match self.update(held).await? {
            Attempt::Refused { .. } => {}
            held => return Ok(held),
        }
        // It was changed or is gone: by somebody, or by a renewal of which no answer came.
        let Some(fetched) = self.client.live().get::<Lease>(&self.key).await? else {
            return self.create(self.transitions()).await;
        };
        self.observe(fetched);
        match self.lease() {
            Some(lease) if holder(lease) == self.identity => self.update(lease.clone()).await,
            lease => Ok(Attempt::Refused {
                holder: lease.map(holder).unwrap_or_default().to_owned(),
                until: Instant::now(),
            }),
        }
    }

    /// Gives the lease up, if the lease that is there now is this process's. Whether it was.
    pub(crate) async fn release(&mut self) -> Result<bool> {
        loop {
            let Some(mut lease) = self.client.live().get::<Lease>(&self.key).await? else { return Ok(false) };
            if holder(&lease) != self.identity {
                return Ok(false);
            }
            let now = micros(self.clock.now());
            let spec = lease.spec.get_or_insert_default();
            spec.holder_identity = Some(String::new());
            spec.lease_duration_seconds = Some(1);
            spec.acquire_time = Some(now.clone());
            spec.renew_time = Some(now);
            match self.client.update(&lease).await {
                Ok(_) => return Ok(true),
                // By a renewal of this process that was on its way, or by somebody who has it now.
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Who else has the lease and still has time.
    fn refused(&self) -> Option<Attempt> {
        let Observed { lease, since } = self.observed.as_ref()?;
        let holder = holder(lease);
        if holder.is_empty() || holder == self.identity {
            return None;
        }
        let seconds = lease.spec.as_ref().and_then(|spec| spec.lease_duration_seconds).unwrap_or_default();
        let until = *since + Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
        (Instant::now() < until).then(|| Attempt::Refused { holder: holder.to_owned(), until })
    }

    async fn create(&mut self, transitions: i32) -> Result<Attempt> {
        let metadata = ObjectMeta {
            namespace: self.key.namespace.clone(),
            name: Some(self.key.name.clone()),
            ..Default::default()
        };
        let spec = LeaseSpec {
            lease_transitions: Some(transitions),
            acquire_time: Some(micros(self.clock.now())),
            ..Default::default()
        };
        let lease = self.held(Lease { metadata, spec: Some(spec) });
        let sent = Instant::now();
        match self.client.create(&lease).await {
            Ok(lease) => Ok(self.taken(lease, sent)),
            Err(error) if error.is_already_exists() => Ok(faster()),
            Err(error) => Err(error),
        }
    }

    async fn update(&mut self, lease: Lease) -> Result<Attempt> {
        let lease = self.held(lease);
        let sent = Instant::now();
        match self.client.update(&lease).await {
            Ok(lease) => Ok(self.taken(lease, sent)),
            Err(error) if error.is_conflict() || error.is_not_found() => Ok(faster()),
            Err(error) => Err(error),
        }
    }

    fn taken(&mut self, lease: Lease, sent: Instant) -> Attempt {
        self.observe(lease);
        Attempt::Held(sent)
    }

    /// The lease with this process as its holder, from now on.
    fn held(&self, mut lease: Lease) -> Lease {
        let spec = lease.spec.get_or_insert_default();
        let mut now = micros(self.clock.now());
        if spec.renew_time.as_ref() == Some(&now) {
            // A clock that stands still must not make a renewal a write that changes nothing, and that nobody sees.
            now = MicroTime(now.0.saturating_add(SignedDuration::from_micros(1)).unwrap_or(now.0));
        }
        spec.renew_time = Some(now);
        let metadata = &mut lease.metadata;
        for (all, ours) in
            [(&mut metadata.labels, &self.labels), (&mut metadata.annotations, &self.annotations)]
        {
            if !ours.is_empty() {
                all.get_or_insert_default().extend(ours.clone());
            }
        }
        spec.holder_identity = Some(self.identity.clone());
        spec.lease_duration_seconds = i32::try_from(self.lease_duration.as_secs()).ok();
        lease
    }

    fn observe(&mut self, lease: Lease) {
        match &mut self.observed {
            // Another version, but nothing of the election in it.
            Some(observed) if observed.lease.spec == lease.spec => observed.lease = lease,
            observed => *observed = Some(Observed { lease, since: Instant::now() }),
        }
    }

    fn transitions(&self) -> i32 {
        let spec = self.lease().and_then(|lease| lease.spec.as_ref());
        spec.and_then(|spec| spec.lease_transitions).unwrap_or_default()
    }
}

fn faster() -> Attempt {
    Attempt::Refused { holder: "another candidate, who was faster".to_owned(), until: Instant::now() }
}

fn holder(lease: &Lease) -> &str {
    lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
}

/// `MicroTime` has microseconds.
fn micros(time: Timestamp) -> MicroTime {
    MicroTime(Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time))
}
