use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::Value;

use super::{
    condition::{Conditions, webhook_scope},
    matching::Matching,
    policy::{Binding, MutatingPolicy, ValidatingPolicy},
};
use crate::{registry::metadata, store::Store, webhook::ClientConfig};

const MUTATING: &str = "admissionregistration.k8s.io/mutatingwebhookconfigurations";
const VALIDATING: &str = "admissionregistration.k8s.io/validatingwebhookconfigurations";
const MUTATING_POLICIES: &str = "admissionregistration.k8s.io/mutatingadmissionpolicies";
const MUTATING_BINDINGS: &str = "admissionregistration.k8s.io/mutatingadmissionpolicybindings";
const VALIDATING_POLICIES: &str = "admissionregistration.k8s.io/validatingadmissionpolicies";
const VALIDATING_BINDINGS: &str = "admissionregistration.k8s.io/validatingadmissionpolicybindings";

/// The buckets of the store whose objects tell who is asked.
pub(super) const BUCKETS: [&str; 6] =
    [MUTATING, VALIDATING, MUTATING_POLICIES, MUTATING_BINDINGS, VALIDATING_POLICIES, VALIDATING_BINDINGS];

/// A policy that is bound to something, with its bindings.
pub(super) type Bound<P> = (Arc<P>, Vec<Arc<Binding>>);

/// Who is asked, as the stored configurations say.
#[derive(Debug, Default)]
pub(super) struct Configurations {
    /// In the order in which they are asked.
    pub(super) mutating: Vec<Arc<Webhook>>,
    pub(super) validating: Vec<Arc<Webhook>>,
    pub(super) mutating_policies: Vec<Bound<MutatingPolicy>>,
    pub(super) validating_policies: Vec<Bound<ValidatingPolicy>>,
    /// What each configuration comes to, by bucket and name, with its revision.
    compiled: BTreeMap<(&'static str, String), (u64, Compiled)>,
}

#[derive(Clone, Debug)]
enum Compiled {
    Webhooks(Vec<Arc<Webhook>>),
    MutatingPolicy(Arc<MutatingPolicy>),
    ValidatingPolicy(Arc<ValidatingPolicy>),
    Binding(Arc<Binding>),
}

/// A webhook of a configuration.
#[derive(Debug)]
pub(super) struct Webhook {
    pub(super) name: String,
    /// Tells it from all others.
    pub(super) id: String,
    pub(super) client: ClientConfig,
    pub(super) matching: Matching,
    pub(super) conditions: Conditions,
    /// Whether a request goes on if the webhook cannot be asked.
    pub(super) ignores_failures: bool,
    /// Whether it does nothing but answer when it is told that the request is a dry run.
    pub(super) knows_dry_run: bool,
    pub(super) timeout: Duration,
    /// `v1` or `v1beta1`: the first one of its versions that the server knows. It has one of them.
    pub(super) review_version: &'static str,
    /// Whether it is asked again if others have changed the object after it.
    pub(super) is_reinvoked: bool,
}

impl Configurations {
    /// Reads the stored configurations. What has not changed since `previous` is taken from there.
    pub(super) fn new(store: &Store, previous: &Self) -> Self {
        let mut configurations = Self::default();
        let (mut mutating, mut validating) = (Vec::new(), Vec::new());
        let (mut of_mutating, mut of_validating) = (Vec::new(), Vec::new());
        for bucket in BUCKETS {
            // The store lists them by name, which is the order in which they are asked.
            for (name, object) in store.list(bucket).range("", "") {
                let key = (bucket, name.to_string());
                let compiled = match previous.compiled.get(&key) {
                    Some((revision, compiled)) if *revision == object.revision() => compiled.clone(),
                    _ => Compiled::new(bucket, object.value()),
                };
                match &compiled {
                    Compiled::Webhooks(webhooks) if bucket == MUTATING => {
                        configurations.mutating.extend(webhooks.iter().cloned());
                    }
                    Compiled::Webhooks(webhooks) => {
                        configurations.validating.extend(webhooks.iter().cloned());
                    }
                    Compiled::MutatingPolicy(policy) => mutating.push(policy.clone()),
                    Compiled::ValidatingPolicy(policy) => validating.push(policy.clone()),
                    Compiled::Binding(binding) if bucket == MUTATING_BINDINGS => {
                        of_mutating.push(binding.clone());
                    }
                    Compiled::Binding(binding) => of_validating.push(binding.clone()),
                }
                configurations.compiled.insert(key, (object.revision(), compiled));
            }
        }
        configurations.mutating_policies = bound(mutating, &of_mutating, |policy| &policy.definition.name);
        configurations.validating_policies =
            bound(validating, &of_validating, |policy| &policy.definition.name);
        configurations
    }
}

/// The policies that are bound to something.
fn bound<P>(policies: Vec<Arc<P>>, bindings: &[Arc<Binding>], name: fn(&P) -> &str) -> Vec<Bound<P>> {
    let with_bindings = policies.into_iter().map(|policy| {
        let own = bindings.iter().filter(|binding| binding.policy == name(&policy)).cloned().collect();
        (policy, own)
    });
    with_bindings.filter(|(_, bindings): &Bound<P>| !bindings.is_empty()).collect()
}

impl Compiled {
    fn new(bucket: &str, object: &Value) -> Self {
        match bucket {
            MUTATING_POLICIES => Self::MutatingPolicy(Arc::new(MutatingPolicy::read(object))),
            VALIDATING_POLICIES => Self::ValidatingPolicy(Arc::new(ValidatingPolicy::read(object))),
            MUTATING_BINDINGS | VALIDATING_BINDINGS => Self::Binding(Arc::new(Binding::read(object))),
            _ => Self::Webhooks(read_all(object)),
        }
    }
}

fn read_all(configuration: &Value) -> Vec<Arc<Webhook>> {
    let webhooks = configuration["webhooks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let configuration = metadata::name(configuration);
    let read = |webhook: &Value| {
        // Names are unique within a configuration.
        let id = format!("{configuration}/{}", webhook["name"].as_str().unwrap_or_default());
        Arc::new(Webhook::read(id, webhook))
    };
    webhooks.iter().map(read).collect()
}

impl Webhook {
    fn read(id: String, webhook: &Value) -> Self {
        let text = |field: &str| webhook[field].as_str().unwrap_or_default();
        let versions = webhook["admissionReviewVersions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let known = versions.iter().find_map(|version| match version.as_str() {
            Some("v1") => Some("v1"),
            Some("v1beta1") => Some("v1beta1"),
            _ => None,
        });
        Self {
            name: text("name").to_owned(),
            id,
            client: ClientConfig::read(&webhook["clientConfig"]),
            matching: Matching::of_webhook(webhook),
            conditions: Conditions::read(&webhook["matchConditions"], webhook_scope()),
            ignores_failures: text("failurePolicy") == "Ignore",
            knows_dry_run: matches!(text("sideEffects"), "None" | "NoneOnDryRun"),
            timeout: Duration::from_secs(webhook["timeoutSeconds"].as_u64().unwrap_or(10)),
            review_version: known.unwrap_or("v1"),
            is_reinvoked: text("reinvocationPolicy") == "IfNeeded",
        }
    }
}
