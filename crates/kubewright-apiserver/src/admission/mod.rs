//! Admission: what may change a write, or refuse it, after the client is known to be allowed to make it.
//!
//! The registry asks twice: [`Registry::admit`] when it has read what the client means, and [`Registry::allow`] when
//! the object is as it would be stored. Between the two it sets defaults and validates. Both ask the built-in `plugins`
//! and then those who were configured. Who that is is told by the stored
//! configurations; `configuration.rs` keeps them compiled, and a commit of one of them counts for the next request.
//! (A real server notices it up to a second later.)
//!
//! `attributes.rs` is what is asked about. `rule.rs`, `condition.rs` and `matching.rs` decide whether a webhook is asked, `review.rs`
//! writes the question and reads the answer, `mutating.rs` and `validating.rs` ask, and `reinvocation.rs` knows who is asked
//! once more. `policy` is what asks nobody: the expressions of admission policies.

mod attributes;
mod condition;
mod configuration;
mod matching;
mod mutating;
pub(crate) mod plugins;
mod policy;
mod reinvocation;
mod review;
mod rule;
mod validating;

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use kubewright_world::Random;

use self::configuration::Configurations;
pub(crate) use self::{
    attributes::{Attributes, KindName, Operation, Options, ResourceName},
    condition::webhook_scope,
    plugins::{AdmissionPlugins, Admitters, Plugin},
    policy::{Scopes, Variables},
};
use crate::{
    store::Store,
    webhook::{ServiceAddresses, WebhookClient, Webhooks},
};

/// Who is asked, and how they are reached.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(crate) webhooks: Webhooks,
    pub(super) plugins: AdmissionPlugins,
    /// Where the uids of questions come from, apart from the randomness that ends up in objects.
    uids: Random,
    configurations: RwLock<Arc<Configurations>>,
    /// Held while quotas are charged.
    charging: Mutex<()>,
}

impl Admission {
    pub(crate) fn new(
        client: WebhookClient,
        addresses: ServiceAddresses,
        store: Store,
        uids: Random,
        plugins: AdmissionPlugins,
    ) -> Self {
        let webhooks = Webhooks { client, addresses, store };
        let admission =
            Self { webhooks, plugins, uids, configurations: RwLock::default(), charging: Mutex::default() };
        admission.refresh();
        admission
    }

    /// Whether objects of this bucket tell who is asked.
    pub(crate) fn is_configured_by(bucket: &str) -> bool {
        configuration::BUCKETS.contains(&bucket)
    }

    /// Asks whom the stored configurations name.
    pub(crate) fn refresh(&self) {
        // The lock is held while they are read, so that of two concurrent writers the later one wins.
        let mut configurations = self.configurations.write().unwrap_or_else(PoisonError::into_inner);
        *configurations = Arc::new(Configurations::new(&self.webhooks.store, &configurations));
    }

    /// A uid for a question to a webhook.
    pub(crate) fn uid(&self) -> String {
        self.uids.uid()
    }

    /// Whether somebody outside may change objects.
    fn may_be_mutated(&self) -> bool {
        let configurations = self.configurations();
        (self.plugins.has(Plugin::MutatingAdmissionWebhook) && !configurations.mutating.is_empty())
            || (self.plugins.has(Plugin::MutatingAdmissionPolicy)
                && !configurations.mutating_policies.is_empty())
    }

    fn configurations(&self) -> Arc<Configurations> {
        self.configurations.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
