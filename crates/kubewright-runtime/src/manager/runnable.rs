use std::{fmt, future::Future, pin::Pin};

use tokio_util::sync::CancellationToken;

use crate::{Result, controller::ControllerRunnable};

/// Something that runs as long as the manager: a controller, a server, a loop of one's own.
///
/// A closure is one:
///
/// ```
/// use std::time::Duration;
/// use kubewright_runtime::{Result, manager::Manager};
/// use tokio_util::sync::CancellationToken;
///
/// fn add(manager: &Manager) -> Result<()> {
///     manager.add("garbage", |stop: CancellationToken| async move {
///         let mut every_hour = tokio::time::interval(Duration::from_secs(3600));
///         loop {
///             tokio::select! {
///                 biased;
///                 () = stop.cancelled() => return Ok(()),
///                 _ = every_hour.tick() => { /* collect */ }
///             }
///         }
///     })
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be run by a manager",
    note = "it takes a closure `|stop: CancellationToken| async move {{ .. Ok(()) }}`, or a type that implements `Runnable`"
)]
pub trait Runnable: Send + 'static {
    /// Runs until the work is done, it fails, or `stop` is cancelled, after which it has to end soon. An error
    /// ends the manager.
    fn run(self, stop: CancellationToken) -> impl Future<Output = Result<()>> + Send;

    /// When it is started and stopped.
    fn group(&self) -> Group {
        Group::Elected
    }
}

impl<F, Fut> Runnable for F
where
    F: FnOnce(CancellationToken) -> Fut + Send + 'static,
    Fut: Future<Output = Result<()>> + Send,
{
    fn run(self, stop: CancellationToken) -> impl Future<Output = Result<()>> + Send {
        self(stop)
    }
}

impl Runnable for ControllerRunnable {
    fn run(self, stop: CancellationToken) -> impl Future<Output = Result<()>> + Send {
        Self::run(self, stop)
    }

    fn group(&self) -> Group {
        if self.needs_leader_election() { Group::Elected } else { Group::Always }
    }
}

/// When something is started and stopped. Groups start in this order; see
/// [`Manager::start`](super::Manager::start) for the order in which they stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Group {
    /// HTTP servers: probes and metrics. They answer before anything else runs and until nothing does.
    Servers,
    /// Webhook servers, which must be up before the API server lets the caches' objects be converted.
    Webhooks,
    /// Caches. The groups after this one start at once: a controller waits for the watches that it needs.
    Caches,
    /// What runs in every replica of the operator.
    Always,
    /// What runs in the elected replica only, as controllers do. The default.
    ///
    /// It is started when the replica is elected, or with the manager if there is no
    /// [leader election](crate::election). When the lease is lost it is not asked to stop but dropped, at its next
    /// await point, so that it does nothing more when another replica begins.
    Elected,
}

/// A runnable without its type.
pub(super) struct BoxedRunnable {
    pub(super) name: String,
    pub(super) group: Group,
    /// Whether it is started before the election, and waits for that itself.
    pub(super) stands_by: bool,
    pub(super) run: Box<dyn FnOnce(CancellationToken) -> BoxRun + Send>,
}

pub(super) type BoxRun = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

// === impl BoxedRunnable ===

impl BoxedRunnable {
    pub(super) fn new(name: String, runnable: impl Runnable) -> Self {
        let group = runnable.group();
        Self { name, group, stands_by: false, run: Box::new(|stop| Box::pin(runnable.run(stop))) }
    }

    /// A controller, which fills its queue while it waits for the election.
    pub(super) fn controller(controller: ControllerRunnable) -> Self {
        let name = format!("controller {}", controller.name());
        Self { stands_by: true, ..Self::new(name, controller) }
    }
}

impl fmt::Debug for BoxedRunnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxedRunnable").field("name", &self.name).field("group", &self.group).finish()
    }
}
