//! Objects into a cluster, and out of it again.
//!
//! [`Deployer::apply`] brings a set of objects about by server-side apply: namespaces and definitions first, each definition served before an
//! object of its kind is sent, and what an earlier set had and this one has not pruned. [`Deployer::wait`] waits until all of it is
//! ready, and says why it is not. [`Deployer::delete`] takes it away, the other way round. Every step is told to a [`Progress`].
//!
//! A set is an [ApplySet], as `kubectl apply --applyset` has them: its members have a label, and a ConfigMap knows their kinds, so that other
//! tools see what belongs together. CustomResourceDefinitions are no members: with one go all objects of its kind, so it is never
//! pruned, and deleted only when it is said.
//!
//! | file | idea |
//! |---|---|
//! | `kinds.rs` | which resource an object is of |
//! | `order.rs` | what comes before what |
//! | `apply_set.rs` | who belongs to a set |
//! | `apply.rs`, `wait.rs`, `delete.rs` | the three things that are done |
//! | `diff.rs` | what an apply changes |
//!
//! It speaks to clusters through kube's client alone. The command line imports it.
//!
//! [ApplySet]: https://github.com/kubernetes/enhancements/tree/master/keps/sig-cli/3659-kubectl-apply-prune

mod apply;
mod apply_set;
mod delete;
mod diff;
mod error;
mod kinds;
mod order;
mod wait;

use kube::{Client, api::DynamicObject};

pub use self::{apply::Outcome, apply_set::ApplySet, error::DeployError};

/// The name under which fields are owned.
pub const FIELD_MANAGER: &str = "kubewright";

/// Brings objects into a cluster and takes them away.
#[derive(Clone)]
pub struct Deployer {
    client: Client,
    dry_run: bool,
    force_conflicts: bool,
}

/// What is told while it happens. Objects are told as `Kind name` or `Kind namespace/name`.
pub trait Progress {
    /// An object was applied, with this outcome. `diff` is what changed, as a unified diff of YAML; empty if nothing did.
    fn applied(&mut self, object: &str, outcome: Outcome, diff: &str);
    /// An object is waited for, and this is its state.
    fn waiting(&mut self, object: &str, state: &str);
    /// An object is ready.
    fn ready(&mut self, object: &str);
    /// An object was deleted.
    fn deleted(&mut self, object: &str);
    /// An object was left alone, for this reason.
    fn left(&mut self, object: &str, reason: &str);
}

// === impl Deployer ===

impl std::fmt::Debug for Deployer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deployer").field("dry_run", &self.dry_run).finish_non_exhaustive()
    }
}

impl Deployer {
    /// Works on the cluster of `client`.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client, dry_run: false, force_conflicts: false }
    }

    /// Asks the API server about every step, and lets it change nothing. Default: steps are taken.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Takes over fields that others own. Default: that is an error, which names the owner and the fields.
    #[must_use]
    pub fn force_conflicts(mut self, force: bool) -> Self {
        self.force_conflicts = force;
        self
    }
}

/// An object as it is told: `Deployment shop/web`.
#[must_use]
pub fn name_of(object: &DynamicObject) -> String {
    let kind = object.types.as_ref().map(|types| types.kind.as_str()).unwrap_or_default();
    let name = object.metadata.name.as_deref().unwrap_or_default();
    match &object.metadata.namespace {
        Some(namespace) => format!("{kind} {namespace}/{name}"),
        None => format!("{kind} {name}"),
    }
}
