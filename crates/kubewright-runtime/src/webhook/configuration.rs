//! The webhook configurations of an operator, as far as it knows them itself.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::client::Kind;

/// A webhook of one kind, as its marker would have it that says nothing out of the ordinary.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) path: String,
    pub(super) mutating: bool,
    group: Cow<'static, str>,
    version: Cow<'static, str>,
    kind: Cow<'static, str>,
    plural: Cow<'static, str>,
}

// === impl Declared ===

impl Declared {
    pub(super) fn new<K: Kind>(path: String, mutating: bool) -> Self {
        Self {
            path,
            mutating,
            group: K::group(&()),
            version: K::version(&()),
            kind: K::kind(&()),
            plural: K::plural(&()),
        }
    }

    fn to_value(&self, service: &Value) -> Value {
        let letter = if self.mutating { 'm' } else { 'v' };
        let mut service = service.clone();
        service["path"] = self.path.as_str().into();
        json!({
            "name": format!("{letter}{}-{}.kb.io", self.kind.to_lowercase(), self.version),
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": service},
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "rules": [{
                "apiGroups": [self.group],
                "apiVersions": [self.version],
                "operations": ["CREATE", "UPDATE"],
                "resources": [self.plural],
            }],
        })
    }
}

/// The configurations of webhooks behind a service.
pub(super) fn documents(declared: &[Declared], name: &str, service: &Value) -> Vec<Value> {
    let mut documents = Vec::new();
    for (mutating, kind) in
        [(true, "MutatingWebhookConfiguration"), (false, "ValidatingWebhookConfiguration")]
    {
        let hooks: Vec<_> = declared.iter().filter(|hook| hook.mutating == mutating).collect();
        if hooks.is_empty() {
            continue;
        }
        let word = if mutating { "mutating" } else { "validating" };
        documents.push(json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": format!("{name}-{word}-webhook-configuration")},
            "webhooks": hooks.iter().map(|hook| hook.to_value(service)).collect::<Vec<_>>(),
        }));
    }
    documents
}

/// Where Kubebuilder's projects have the webhooks of a kind: `/mutate-cache-example-com-v1-memcached`.
pub(super) fn usual_path<K: Kind>(verb: &str) -> String {
    let (group, version, kind) = (K::group(&()), K::version(&()), K::kind(&()));
    format!("/{verb}-{}-{version}-{}", group.replace('.', "-"), kind.to_lowercase())
}
