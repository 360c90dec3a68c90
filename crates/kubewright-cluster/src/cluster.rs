use std::{fmt, sync::Arc};

use kubewright_runtime::{
    Result,
    manager::{Manager, Options},
};
use kubewright_world::{Clock, Random};
use tokio_util::sync::CancellationToken;

use crate::{Selection, controllers::CONTROLLERS};

/// The field manager of what the controllers write.
const FIELD_MANAGER: &str = "kube-controller-manager";

/// The controllers of a cluster, ready to run.
///
/// They are operators as any other: they see the API server through a client and nothing else. One set of
/// them runs against one server; all share their watches.
///
/// ```no_run
/// use kubewright_cluster::{Cluster, Selection};
/// use kubewright_world::{Clock, Random};
/// use tokio_util::sync::CancellationToken;
///
/// # async fn example(client: kube::Client) -> kubewright_runtime::Result<()> {
/// let stop = CancellationToken::new();
/// let cluster = Cluster::builder(client, Clock::system(), Random::from_entropy())
///     .controllers(Selection::All)
///     .build();
/// tokio::spawn(cluster.run(stop.clone()));
/// // ...
/// stop.cancel();
/// # Ok(())
/// # }
/// ```
#[must_use = "a cluster does nothing until it is run"]
pub struct Cluster {
    client: kube::Client,
    selection: Selection,
    settings: Settings,
}

/// Makes a [`Cluster`]. Made by [`Cluster::builder`].
#[must_use = "a builder does nothing until its cluster is built and run"]
pub struct Builder {
    cluster: Cluster,
}

/// What the controllers are told.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) clock: Clock,
    pub(crate) random: Random,
    /// The certificates that `kube-root-ca.crt` holds, as PEM.
    pub(crate) root_ca: String,
    /// The name of the simulated node.
    pub(crate) node: Arc<str>,
}

impl Cluster {
    /// A cluster on the API server behind `client`, which needs every permission.
    ///
    /// Times in objects come from `clock`, jitter from `random`. With a virtual clock, a seeded source and an
    /// API server that has them too, in one thread under paused time, each run is the same as the one before.
    pub fn builder(client: kube::Client, clock: Clock, random: Random) -> Builder {
        let settings = Settings { clock, random, root_ca: String::new(), node: "kubewright-node".into() };
        Builder { cluster: Self { client, selection: Selection::All, settings } }
    }

    /// Runs the controllers until `stop`.
    ///
    /// # Errors
    ///
    /// If the API server does not answer for so long that a controller cannot start. Once they run they retry
    /// by themselves, whatever happens to the server.
    pub async fn run(self, stop: CancellationToken) -> Result<()> {
        if self.selection.names().next().is_none() {
            stop.cancelled().await;
            return Ok(());
        }
        let mut options = Options::default();
        options.name = FIELD_MANAGER.to_owned();
        let manager = Manager::builder(options)
            .client(self.client)
            .clock(self.settings.clock.clone())
            .random(self.settings.random.fork())
            .build()?;
        for controller in CONTROLLERS.iter().filter(|controller| self.selection.selects(controller.name)) {
            (controller.run)(&manager, &self.settings)?;
        }
        manager.start_until(stop).await
    }
}

impl Builder {
    /// Which controllers run; all unless set.
    pub fn controllers(mut self, selection: Selection) -> Self {
        self.cluster.selection = selection;
        self
    }

    /// The certificates, as PEM, by which the API server is verified: what the ConfigMap `kube-root-ca.crt` of
    /// each namespace holds. Empty unless set.
    pub fn root_ca(mut self, pem: impl Into<String>) -> Self {
        self.cluster.settings.root_ca = pem.into();
        self
    }

    /// The name of the simulated node; `kubewright-node` unless set.
    pub fn node(mut self, name: impl Into<Arc<str>>) -> Self {
        self.cluster.settings.node = name.into();
        self
    }

    /// The cluster.
    pub fn build(self) -> Cluster {
        self.cluster
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("controllers", &self.selection.to_string())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("cluster", &self.cluster).finish()
    }
}
