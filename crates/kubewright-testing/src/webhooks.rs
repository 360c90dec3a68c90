//! The webhooks that a test cluster calls, by host.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use kubewright_apiserver::{ApiServer, WebhookClient, webhook::BoxError};
use kubewright_runtime::webhook::Webhooks;
use serde_json::{Value, json};
use tower::{ServiceExt, service_fn};

/// The namespace of the services that operators are behind. They need not exist.
const NAMESPACE: &str = "default";

/// Who answers for which host. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Hosts {
    hosts: Arc<RwLock<BTreeMap<String, Host>>>,
}

enum Host {
    Service(WebhookClient),
    /// The replicas of an operator.
    Operator(Vec<Webhooks>),
}

// === impl Hosts ===

impl Hosts {
    pub(crate) fn insert(&self, host: String, client: WebhookClient) {
        self.hosts.write().unwrap_or_else(PoisonError::into_inner).insert(host, Host::Service(client));
    }

    /// Adds a replica of the operator `name`, and returns the service that it is behind.
    pub(crate) fn insert_operator(&self, name: &str, webhooks: &Webhooks) -> Value {
        let mut hosts = self.hosts.write().unwrap_or_else(PoisonError::into_inner);
        let host =
            hosts.entry(format!("{name}.{NAMESPACE}.svc")).or_insert_with(|| Host::Operator(Vec::new()));
        match host {
            Host::Operator(replicas) => {
                replicas.retain(|replica| !replica.is_closed());
                replicas.push(webhooks.clone());
            }
            // What a test answers itself, it answers.
            Host::Service(_) => {}
        }
        json!({"namespace": NAMESPACE, "name": name})
    }

    /// The client of the API server.
    pub(crate) fn client(&self) -> WebhookClient {
        let hosts = self.clone();
        WebhookClient::new(service_fn(move |request| {
            let hosts = hosts.clone();
            async move { hosts.send(request).await }
        }))
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Full<Bytes>>, BoxError> {
        let name = request.uri().host().unwrap_or_default();
        let known = match self.hosts.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            Some(Host::Service(client)) => Some(Ok(client.clone())),
            // As a service does: of those that are ready any, else one that is to be.
            Some(Host::Operator(replicas)) => {
                let ready = replicas.iter().find(|replica| replica.is_serving());
                Some(Err(ready.or_else(|| replicas.iter().find(|replica| !replica.is_closed())).cloned()))
            }
            None => None,
        };
        match known {
            Some(Ok(client)) => client.oneshot(request).await,
            Some(Err(Some(webhooks))) => webhooks.service().oneshot(request).await,
            Some(Err(None)) => {
                Err(BoxError::from(format!("dial tcp {name}:443: connect: connection refused")))
            }
            None => Err(BoxError::from(format!("dial tcp: lookup {name}: no such host"))),
        }
    }
}

impl fmt::Debug for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts = self.hosts.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_set().entries(hosts.keys()).finish()
    }
}

/// Creates the webhook configurations of an operator, with its service in the place of the one that they name.
///
/// # Panics
///
/// If they are no YAML, or the server refuses one.
pub(crate) fn configure(
    server: &ApiServer,
    operator: &str,
    webhooks: &Webhooks,
    given: Option<&str>,
    service: &Value,
) {
    let mut documents = match given {
        Some(text) => match serde_saphyr::from_multiple(text) {
            Ok(documents) => documents,
            Err(error) => panic!("the webhook configurations of {operator} are no YAML: {error}"),
        },
        None => webhooks.configurations(NAMESPACE, operator),
    };
    for document in &mut documents {
        let kind = document["kind"].as_str().unwrap_or_default();
        if !matches!(kind, "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration") {
            continue;
        }
        let what = format!("{kind} {}", document["metadata"]["name"]);
        for hook in document["webhooks"].as_array_mut().into_iter().flatten() {
            if let Some(own) = hook["clientConfig"]["service"].as_object_mut() {
                own.insert("namespace".to_owned(), service["namespace"].clone());
                own.insert("name".to_owned(), service["name"].clone());
            }
        }
        match server.create(document.clone()) {
            Ok(_) => {}
            // Replicas of one operator have one configuration.
            Err(status) if status.code == 409 => {}
            Err(status) => panic!("the API server refuses the {what} of {operator}: {status}"),
        }
    }
}
