use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use kube::core::ApiResource;

use super::{
    DynamicClient, HotLoops, Live, ReadYourWrites, Result, StatusClient, SubresourceClient, transport::Call,
};
use crate::cache::Cache;

/// Reads objects from the manager's cache and writes them to the API server. Clones are cheap and share the
/// connection and the cache.
///
/// * [`get`](Self::get) and [`list`](Self::list) answer from the cache. They cost no request, and may lag
///   behind the server, also behind a write of one's own. A kind that no controller declared with `.owns()` or
///   `.watches()` is an error: a read never starts a watch behind one's back.
/// * [`read_your_writes`](Self::read_your_writes) answers from the cache as well, once it shows what this client
///   wrote: where a stale answer would lead to another write, as for children without names of their own.
/// * [`live`](Self::live) reads from the server: for kinds that are read rarely, and where the answer
///   must not be old.
/// * Writes go to the server and return the object as it was stored.
///
/// Prefer [`apply`](Self::apply) for objects that the operator owns: say what it should be, the server
/// finds the difference, and fields of others stay as they are.
///
/// ```no_run
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// # use kubewright_runtime::{Result, client::Client};
/// # async fn example(client: Client) -> Result<()> {
/// let mut config = ConfigMap::default();
/// config.metadata.namespace = Some("shop".into());
/// config.metadata.name = Some("cart".into());
/// config.data = Some([("currency".to_owned(), "EUR".to_owned())].into());
/// client.apply(&config).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    kube: kube::Client,
    cache: Option<Cache>,
    hot_loops: Option<HotLoops>,
    settings: Settings,
}

/// What the server does about fields that the kind does not have, or that are given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValidation {
    /// Drops them silently.
    Ignore,
    /// Drops them and answers with a warning, which the client logs. The server's default.
    Warn,
    /// Refuses the request.
    Strict,
}

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) field_manager: Arc<str>,
    pub(super) field_validation: Option<FieldValidation>,
    pub(super) force: bool,
    pub(super) dry_run: bool,
    pub(super) timeout: Duration,
}

/// A little more than the server's own limit for a request, whose answer tells more than ours.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(70);

// === impl Client ===

impl Client {
    /// A client without a cache, that writes as `field_manager`: the name under which the server keeps who set which
    /// field. Keep it the same over versions of the operator, or fields of the old name stay behind.
    #[must_use]
    pub fn new(kube: kube::Client, field_manager: impl Into<Arc<str>>) -> Self {
        let settings = Settings {
            field_manager: field_manager.into(),
            field_validation: None,
            force: true,
            dry_run: false,
            timeout: DEFAULT_TIMEOUT,
        };
        Self { kube, cache: None, hot_loops: None, settings }
    }

    /// The same client, whose [`get`](Self::get) and [`list`](Self::list) answer from `cache`.
    #[must_use]
    pub fn with_cache(mut self, cache: Cache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// The same client, whose writes are counted in `hot_loops`. That of a manager is one.
    #[must_use]
    pub fn with_hot_loops(mut self, hot_loops: HotLoops) -> Self {
        self.hot_loops = Some(hot_loops);
        self
    }

    /// The same client under another field manager, as for a second controller that shares objects with
    /// the first.
    #[must_use]
    pub fn with_field_manager(mut self, field_manager: impl Into<Arc<str>>) -> Self {
        self.settings.field_manager = field_manager.into();
        self
    }

    /// Sets what the server does about unknown fields in writes.
    #[must_use]
    pub fn with_field_validation(mut self, validation: FieldValidation) -> Self {
        self.settings.field_validation = Some(validation);
        self
    }

    /// Whether [`apply`](Self::apply) takes over fields that another manager set (the default: a controller
    /// is the authority on what it applies), or fails with a conflict instead.
    #[must_use]
    pub fn with_force(mut self, force: bool) -> Self {
        self.settings.force = force;
        self
    }

    /// The same client, whose writes are checked and answered by the server but not stored.
    #[must_use]
    pub fn with_dry_run(mut self) -> Self {
        self.settings.dry_run = true;
        self
    }

    /// How long a request may take; 70 s unless set.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// The name under which this client writes.
    #[must_use]
    pub fn field_manager(&self) -> &str {
        &self.settings.field_manager
    }

    /// Reads from the server, past the cache.
    #[must_use]
    pub fn live(&self) -> Live {
        Live::new(self.clone())
    }

    /// Reads from the cache, once it shows what this client wrote, or fails. See [`ReadYourWrites`].
    #[must_use]
    pub fn read_your_writes(&self) -> ReadYourWrites {
        ReadYourWrites::new(self.clone())
    }

    /// Reads and writes objects of a kind known only at run time. Reads go to the server.
    #[must_use]
    pub fn dynamic(&self, resource: &ApiResource) -> DynamicClient {
        DynamicClient::new(self.clone(), resource)
    }

    /// Reads and writes the status of objects. Only this changes the status of a kind that has the
    /// subresource: a write to the object itself leaves it as it is.
    #[must_use]
    pub fn status(&self) -> StatusClient {
        StatusClient::new(self.clone())
    }

    /// Reads and writes any other subresource, as `scale` or `eviction`.
    #[must_use]
    pub fn subresource(&self, name: &'static str) -> SubresourceClient {
        SubresourceClient::new(self.clone(), name)
    }

    /// The kube client below, for what this one does not offer: logs, exec, discovery.
    #[must_use]
    pub fn kube(&self) -> &kube::Client {
        &self.kube
    }

    pub(super) fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) async fn send(&self, call: Call) -> Result<Bytes> {
        match &self.hot_loops {
            Some(hot_loops) => hot_loops.send(self, call).await,
            None => self.send_once(call).await,
        }
    }

    /// Past those who look at requests.
    pub(super) async fn send_once(&self, call: Call) -> Result<Bytes> {
        call.send(&self.kube, self.settings.timeout).await
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("field_manager", &self.settings.field_manager)
            .field("dry_run", &self.settings.dry_run)
            .finish_non_exhaustive()
    }
}

// === impl Settings ===

impl Settings {
    /// The parameters that every write carries.
    pub(super) fn on_write(&self, mut call: Call) -> Call {
        call = call.query("fieldManager", &*self.field_manager);
        if self.dry_run {
            call = call.query("dryRun", "All");
        }
        if let Some(validation) = self.field_validation {
            call = call.query("fieldValidation", validation.as_str());
        }
        call
    }
}

// === impl FieldValidation ===

impl FieldValidation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ignore => "Ignore",
            Self::Warn => "Warn",
            Self::Strict => "Strict",
        }
    }
}
