use kubewright_manifests::crd::CrdBuilder;
use kubewright_world::Random;

use super::{ControllerConfig, ControllerRunnable};
use crate::{
    Result, cache::Cache, diagnostics::Diagnostics, election::Leadership, metrics::Metrics,
    sharding::Ownership,
};

/// What a controller takes from its manager.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ControllerContext {
    /// Where it declares its informers.
    pub cache: Cache,
    /// Where it draws reconcile ids and jitter from.
    pub random: Random,
    /// Where it counts.
    pub metrics: Metrics,
    /// What it does unless the builder says otherwise.
    pub config: ControllerConfig,
    /// Whether it may reconcile, if it needs leader election.
    pub leadership: Leadership,
    /// Which requests it may reconcile, if it needs leader election.
    pub ownership: Ownership,
    /// Where it can be asked what it is doing.
    pub diagnostics: Diagnostics,
}

/// Runs controllers: the manager, or a test that needs less.
pub trait ControllerHost {
    /// What the controller is built from.
    fn controller_context(&self) -> ControllerContext;

    /// Takes a finished controller, to run it once the host runs. One that needs leader election waits for it
    /// itself, with its queue filled.
    ///
    /// # Errors
    ///
    /// If the host has a controller of this name, whose metrics would mix, or has stopped.
    fn add_controller(&self, controller: ControllerRunnable) -> Result<()>;

    /// Makes the definition of a custom resource one of those that the operator prints. A host that prints none
    /// ignores it, which is the default.
    fn register_crd(&self, definition: CrdBuilder) {
        let _ = definition;
    }
}

impl ControllerContext {
    /// A context with the default configuration, without leader election.
    #[must_use]
    pub fn new(cache: Cache, random: Random, metrics: Metrics) -> Self {
        let leadership = Leadership::without_election();
        let (ownership, diagnostics) = (Ownership::whole(), Diagnostics::new());
        let config = ControllerConfig::default();
        Self { cache, random, metrics, config, leadership, ownership, diagnostics }
    }

    /// The same, that can be asked through `diagnostics`.
    #[must_use]
    pub fn with_diagnostics(mut self, diagnostics: Diagnostics) -> Self {
        self.diagnostics = diagnostics;
        self
    }

    /// The same for a process that stands for election.
    #[must_use]
    pub fn with_leadership(mut self, leadership: Leadership) -> Self {
        self.leadership = leadership;
        self
    }

    /// The same for a process that has a part of the work.
    #[must_use]
    pub fn with_ownership(mut self, ownership: Ownership) -> Self {
        self.ownership = ownership;
        self
    }

    /// The same with another configuration.
    #[must_use]
    pub fn with_config(mut self, config: ControllerConfig) -> Self {
        self.config = config;
        self
    }
}
