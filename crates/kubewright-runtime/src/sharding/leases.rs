use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
};
use kube::core::ObjectMeta;
use kubewright_world::Clock;
use tokio::time::Instant;

use super::Table;
use crate::{
    client::{Client, ClientError, DeleteOptions, ListOptions, Result},
    election::Settings,
};

/// On all leases of one operator's sharding, with the name of the operator as its value.
pub(super) const LABEL: &str = "kubewright.dev/shards";
/// The epoch of the last table that a member has seen, in its lease.
pub(super) const SEEN: &str = "kubewright.dev/seen-epoch";
/// The members, with commas between, in the lease of the table.
const MEMBERS: &str = "kubewright.dev/members";

/// The leases of an operator's members and of their table.
pub(super) struct Leases {
    pub(super) client: Client,
    pub(super) clock: Clock,
    pub(super) namespace: String,
    /// The name of the operator, which the names of its leases begin with.
    pub(super) operator: String,
    /// Who writes.
    pub(super) identity: String,
    /// By the member's id.
    observed: BTreeMap<String, Observed>,
    lease_duration: Duration,
    /// How long a member may be silent, and one that comes has to be there, for the latter to get a part.
    patience: Duration,
}

/// The lease of a member, and since when it has been as it is, by this process's own monotonic clock.
struct Observed {
    lease: Option<Lease>,
    since: Instant,
    /// When it was first seen.
    first: Instant,
}

/// What one list of the leases has shown.
pub(super) struct Seen {
    table: Option<Lease>,
    members: BTreeMap<String, Lease>,
}

// === impl Leases ===

impl Leases {
    pub(super) fn new(client: Client, clock: Clock, operator: String, settings: &Settings) -> Self {
        Self {
            client,
            clock,
            namespace: settings.namespace.clone(),
            operator,
            identity: settings.identity.clone(),
            observed: BTreeMap::new(),
            lease_duration: settings.lease_duration,
            patience: settings.renew_deadline / 2,
        }
    }

    /// The name of a member's lease.
    pub(super) fn name_of(operator: &str, member: &str) -> String {
        format!("{operator}-shard-{member}")
    }

    fn table_name(&self) -> String {
        format!("{}-shards", self.operator)
    }

    /// The leases as they are now, all of one moment.
    pub(super) async fn list(&mut self) -> Result<Seen> {
        let options = ListOptions::in_namespace(&*self.namespace).label(LABEL, &*self.operator);
        let leases = self.client.live().list::<Lease>(options).await?;
        let (table_name, prefix) = (self.table_name(), Self::name_of(&self.operator, ""));
        let mut seen = Seen { table: None, members: BTreeMap::new() };
        for lease in leases {
            let name = lease.metadata.name.clone().unwrap_or_default();
            if name == table_name {
                seen.table = Some(lease);
            } else if let Some(member) = name.strip_prefix(&prefix) {
                seen.members.insert(member.to_owned(), lease);
            }
        }
        self.observe(&seen);
        Ok(seen)
    }

    fn observe(&mut self, seen: &Seen) {
        let now = Instant::now();
        let table = seen.table();
        let known = table.iter().flat_map(|table| table.members().iter().cloned());
        let known: Vec<_> = seen.members.keys().cloned().chain(known).collect();
        self.observed.retain(|member, _| known.contains(member));
        for member in known {
            // A member of the table without a lease may act until its time is over: somebody has deleted it.
            let lease = seen.members.get(&member).cloned();
            match self.observed.get_mut(&member) {
                Some(observed) if observed.lease.as_ref().map(spec) == lease.as_ref().map(spec) => {
                    observed.lease = lease;
                }
                Some(observed) => (observed.lease, observed.since) = (lease, now),
                None => drop(self.observed.insert(member, Observed { lease, since: now, first: now })),
            }
        }
    }

    /// The members that may act: those that hold a lease and have renewed it.
    pub(super) fn alive(&self) -> Vec<String> {
        let now = Instant::now();
        let alive = |(member, observed): (&String, &Observed)| {
            let (is_held, duration) = match &observed.lease {
                Some(lease) => (!holder(lease).is_empty(), duration(lease)),
                None => (true, self.lease_duration),
            };
            (is_held && now < observed.since + duration).then(|| member.clone())
        };
        self.observed.iter().filter_map(alive).collect()
    }

    /// The members that the next table is to have.
    pub(super) fn wanted(&self, table: Option<&Table>) -> Vec<String> {
        let mut wanted = self.alive();
        let is_member = |id: &String| table.is_some_and(|table| table.members().contains(id));
        if !wanted.iter().any(is_member) {
            return wanted;
        }
        let now = Instant::now();
        let lasts = |id: &String, since: fn(&Observed) -> Instant| {
            self.observed.get(id).is_some_and(|observed| now >= since(observed) + self.patience)
        };
        let is_silent = wanted.iter().any(|id| is_member(id) && lasts(id, |observed| observed.since));
        wanted.retain(|id| is_member(id) || !is_silent && lasts(id, |observed| observed.first));
        wanted
    }

    /// Writes a table in the place of the one that was seen. The leases of members that it has not any more are taken from
    /// them before. `false` means that somebody else was faster.
    pub(super) async fn replace(&self, seen: &Seen, next: &Table) -> Result<bool> {
        let gone = seen.table();
        let gone = gone.iter().flat_map(Table::members).filter(|member| !next.members().contains(member));
        for member in gone {
            if !was_first(self.expel(seen, member).await)? {
                return Ok(false);
            }
        }
        let mut lease = seen.table.clone().unwrap_or_else(|| self.new_lease(self.table_name()));
        let members = next.members().join(",");
        lease.metadata.annotations.get_or_insert_default().insert(MEMBERS.to_owned(), members);
        let now = self.now();
        let spec = lease.spec.get_or_insert_default();
        spec.holder_identity = Some(self.identity.clone());
        spec.lease_transitions = i32::try_from(next.epoch()).ok();
        spec.acquire_time = Some(now.clone());
        spec.renew_time = Some(now);
        was_first(self.write(&lease).await)
    }

    /// Takes a member's lease from it, so that it cannot renew it.
    async fn expel(&self, seen: &Seen, member: &str) -> Result<()> {
        let mut lease = match seen.members.get(member) {
            Some(lease) if holder(lease).is_empty() => return Ok(()),
            Some(lease) => lease.clone(),
            None => self.new_lease(Self::name_of(&self.operator, member)),
        };
        let now = self.now();
        let spec = lease.spec.get_or_insert_default();
        spec.holder_identity = Some(String::new());
        spec.lease_duration_seconds = Some(1);
        spec.renew_time = Some(now);
        self.write(&lease).await
    }

    /// Deletes the leases of members that are gone and in no table.
    pub(super) async fn collect(&self, seen: &Seen) -> Result<()> {
        let (alive, table) = (self.alive(), seen.table());
        for (member, lease) in &seen.members {
            let in_table = table.as_ref().is_some_and(|table| table.members().contains(member));
            if in_table || alive.contains(member) {
                continue;
            }
            let key = (&*self.namespace, &*Self::name_of(&self.operator, member));
            let version = lease.metadata.resource_version.clone().unwrap_or_default();
            let only_this = DeleteOptions::default().resource_version(version);
            match self.client.delete::<Lease>(key, only_this).await {
                Ok(_) => {}
                // It is back.
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn write(&self, lease: &Lease) -> Result<()> {
        match lease.metadata.resource_version {
            Some(_) => self.client.update(lease).await.map(drop),
            None => self.client.create(lease).await.map(drop),
        }
    }

    fn new_lease(&self, name: String) -> Lease {
        let metadata = ObjectMeta {
            name: Some(name),
            namespace: Some(self.namespace.clone()),
            labels: Some([(LABEL.to_owned(), self.operator.clone())].into()),
            ..Default::default()
        };
        Lease { metadata, spec: Some(LeaseSpec::default()) }
    }

    fn now(&self) -> MicroTime {
        MicroTime(self.clock.now())
    }
}

// === impl Seen ===

impl Seen {
    /// The table, if there is one.
    pub(super) fn table(&self) -> Option<Table> {
        let lease = self.table.as_ref()?;
        let epoch = lease.spec.as_ref()?.lease_transitions?;
        let members = lease.metadata.annotations.as_ref()?.get(MEMBERS)?;
        let members = members.split(',').filter(|member| !member.is_empty()).map(str::to_owned);
        Some(Table::new(u32::try_from(epoch).ok()?, members))
    }

    /// Whether every member of `table` has seen it, and no later one.
    pub(super) fn all_saw(&self, table: &Table) -> bool {
        let saw = |member: &String| {
            let Some(lease) = self.members.get(member) else { return false };
            let seen = lease.metadata.annotations.as_ref().and_then(|annotations| annotations.get(SEEN));
            !holder(lease).is_empty() && seen.is_some_and(|seen| *seen == table.epoch().to_string())
        };
        self.table().as_ref() == Some(table) && table.members().iter().all(saw)
    }
}

/// `false` for a write whose place somebody else has taken.
fn was_first(result: Result<()>) -> Result<bool> {
    let is_late =
        |error: &ClientError| error.is_conflict() || error.is_already_exists() || error.is_not_found();
    match result {
        Ok(()) => Ok(true),
        Err(error) if is_late(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What changes when a member renews its lease.
fn spec(lease: &Lease) -> Option<&LeaseSpec> {
    lease.spec.as_ref()
}

fn holder(lease: &Lease) -> &str {
    lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
}

fn duration(lease: &Lease) -> Duration {
    let seconds = lease.spec.as_ref().and_then(|spec| spec.lease_duration_seconds).unwrap_or_default();
    Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
}
