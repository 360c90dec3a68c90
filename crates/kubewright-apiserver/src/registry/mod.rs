//! The verbs of the API over the store.
//!
//! One generic implementation serves every resource: `create.rs`, `update.rs`, `delete.rs`, `read.rs` (get and
//! list) and `watch.rs`, each in the order in which kube-apiserver does things. Where kinds differ, the verb asks
//! the kind's `strategy`. What is served at the moment is a `Catalog` of `Served` resources (`served.rs`), which
//! is made anew when a CRD changes.
//!
//! Writes wait for admission webhooks, so verbs that write are `async`. No lock is held meanwhile; a commit is made
//! only in place of the object that was looked at.
//!
//! The wire calls the verbs with decoded objects and writes what they give. Start reading at `Registry`, then
//! `create.rs`.

pub(crate) mod access;
mod autoscaling;
mod coerce;
pub(crate) mod connect;
mod convert;
mod create;
mod delete;
mod events;
pub(crate) mod metadata;
mod patch;
mod pod_log;
mod pods;
mod read;
mod resource;
mod scale;
mod served;
mod service_ranges;
mod strategy;
mod update;
mod warnings;
mod watch;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use kubewright_world::{Clock, Random};
use serde_json::Value;

use self::strategy::Refusal;
pub(crate) use self::{
    delete::Deleted,
    patch::Patch,
    read::List,
    served::{Catalog, Presented, Served},
    update::Edit,
    warnings::Warnings,
    watch::{WatchEvent, WatchEvents, WatchSettings},
};
pub use self::{
    resource::{ResourceDefinition, Resources, Subresource},
    service_ranges::{ServiceRangeError, ServiceRanges},
};
use crate::{
    admission::{Admission, Admitters},
    authn::Authenticator,
    authz::Authorizer,
    crd,
    status::Status,
    store::{CommitError, Object, Store},
    user::User,
};

/// The verbs, and what they work on.
pub(crate) struct Registry {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    /// Where uids and generated names come from.
    pub(crate) random: Random,
    pub(crate) authenticator: Authenticator,
    pub(crate) authorizer: Arc<Authorizer>,
    pub(crate) admission: Admission,
    pub(crate) service_ranges: ServiceRanges,
    catalog: RwLock<Arc<Catalog>>,
    /// Held from the choice of an address or port until its owner is stored.
    allocation: Mutex<()>,
}

/// What a verb is called for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) served: Arc<Served>,
    pub(crate) namespace: String,
    /// The object's name, empty for a collection.
    pub(crate) name: String,
    /// Empty for the object itself.
    pub(crate) subresource: String,
    pub(crate) user: User,
    pub(crate) warnings: Warnings,
    pub(crate) admitters: Admitters,
}

// === impl Registry ===

impl Registry {
    pub(crate) fn new(
        store: Store,
        clock: Clock,
        random: Random,
        authenticator: Authenticator,
        authorizer: Authorizer,
        admission: Admission,
        service_ranges: ServiceRanges,
    ) -> Self {
        let registry = Self {
            store,
            clock,
            random,
            authenticator,
            authorizer: Arc::new(authorizer),
            admission,
            service_ranges,
            catalog: RwLock::default(),
            allocation: Mutex::default(),
        };
        registry.refresh_catalog();
        registry
    }

    /// What is served now.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.catalog.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Serves what the stored CRDs say.
    fn refresh_catalog(&self) {
        // The lock is held while the CRDs are read, so that of two concurrent writers the later one wins.
        let mut catalog = self.catalog.write().unwrap_or_else(PoisonError::into_inner);
        let listing = self.store.list(crd::BUCKET);
        *catalog = Arc::new(Catalog::new(&listing, &catalog));
    }

    /// Does what has to follow a commit at once.
    fn committed(&self, served: &Served, removed: Option<&Object>) {
        if &*served.bucket == crd::BUCKET {
            self.accept_crd_names(served);
            self.refresh_catalog();
        }
        if Admission::is_configured_by(&served.bucket) {
            self.admission.refresh();
        }
        if removed.is_some() && served.custom.is_some() {
            self.finish_crd_deletion(served);
        }
    }

    /// Brings the status of every CRD up to date with its names and those of the others.
    fn accept_crd_names(&self, served: &Served) {
        let listing = self.store.list(crd::BUCKET);
        let crds: Vec<_> = listing.range("", "").map(|(_, object)| object.clone()).collect();
        for crd in &crds {
            if let Some(accepted) = crd::accept_names(crd.value(), &crds, &self.now()) {
                let manager = served.field_manager("status");
                let accepted = manager.update(crd.value(), accepted, "kube-apiserver", self.clock.now());
                let name = metadata::name(crd.value());
                // A concurrent writer accepts the names of what it has written itself.
                let _ = self.store.replace(&Arc::from(crd::BUCKET), name, crd.revision(), accepted);
            }
        }
    }

    /// Lets nobody else choose what objects of the kind may not share, until the guard is gone.
    fn lock_allocation(&self, served: &Served) -> Option<MutexGuard<'_, ()>> {
        let lock = || self.allocation.lock().unwrap_or_else(PoisonError::into_inner);
        served.strategy.allocates().then(lock)
    }

    /// Hands out what only the server can, under the lock for it.
    fn allocate(&self, served: &Served, object: &mut Value) -> Result<(), Status> {
        let all = || self.store.list(&served.bucket);
        let allocated = served.strategy.allocate(object, all, &self.service_ranges);
        allocated.map_err(|refusal| match refusal {
            Refusal::Internal(what) => Status::internal(what),
            Refusal::Invalid(errors) => {
                let (kind, name) = (served.definition.group_kind(), metadata::name(object));
                Status::check(&kind, name, &errors).err().unwrap_or_else(Status::unprocessable)
            }
        })
    }

    /// A new uid.
    fn uid(&self) -> Value {
        Value::from(self.random.uid())
    }

    /// The current time, as objects carry it.
    fn now(&self) -> Value {
        metadata::time(self.clock.now())
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("store", &self.store).finish_non_exhaustive()
    }
}

// === impl Request ===

impl Request {
    /// A request that the server makes itself.
    pub(crate) fn internal(served: Arc<Served>, object: &Value) -> Self {
        Self {
            served,
            namespace: metadata::namespace(object).to_owned(),
            name: metadata::name(object).to_owned(),
            subresource: String::new(),
            user: User::admin(),
            warnings: Warnings::default(),
            admitters: Admitters::Plugins,
        }
    }

    /// The same request without admission, which has taken place.
    pub(crate) fn admitted(self) -> Self {
        Self { admitters: Admitters::None, ..self }
    }

    /// The same request to the version that is stored.
    fn as_stored(&self, catalog: &Catalog) -> Option<Self> {
        let definition = &self.served.definition;
        let served = catalog.by_kind(&self.served.storage_api_version, &definition.kind)?;
        Some(Self { served: served.clone(), ..self.clone() })
    }

    /// The key of the object that the request names.
    pub(crate) fn key(&self) -> String {
        self.served.key(&self.namespace, &self.name)
    }

    fn not_found(&self) -> Status {
        Status::not_found(&self.served.group_resource(), &self.name)
    }

    fn modified(&self) -> Status {
        Status::modified(&self.served.group_resource(), &self.name)
    }

    fn commit_error(&self, error: &CommitError) -> Status {
        match error {
            CommitError::Exists(_) => Status::already_exists(&self.served.group_resource(), &self.name),
            CommitError::Modified(_) => self.modified(),
            CommitError::Missing => self.not_found(),
        }
    }
}
