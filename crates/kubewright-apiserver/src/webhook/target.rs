use std::net::SocketAddr;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde_json::Value;

/// Where a webhook is, in the extensions of each request to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookTarget {
    /// The service, if the configuration names one and no URL.
    pub service: Option<ServiceReference>,
    /// The authorities that the webhook's certificate must come from, as PEM. The system's if absent.
    pub ca_bundle: Option<Bytes>,
    /// Where to connect to, if that is not what the URL says; why it is not known, if that is so. Of services only.
    pub address: Option<Result<SocketAddr, String>>,
}

/// A port of a service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct ServiceReference {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The port; 443 unless the configuration says another one.
    pub port: u16,
}

/// A `clientConfig`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientConfig {
    /// Without a query.
    pub(super) url: String,
    pub(super) service: Option<ServiceReference>,
    pub(super) ca_bundle: Option<Bytes>,
}

impl ClientConfig {
    /// Reads a `clientConfig` that was found valid.
    pub(crate) fn read(config: &Value) -> Self {
        let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
        // What is no base64 is refused when the configuration is decoded.
        let ca_bundle = STANDARD.decode(text(config, "caBundle")).unwrap_or_default();
        let ca_bundle = (!ca_bundle.is_empty()).then(|| ca_bundle.into());
        let service = &config["service"];
        if !service.is_object() {
            return Self { url: text(config, "url"), service: None, ca_bundle };
        }
        let (namespace, name, path) =
            (text(service, "namespace"), text(service, "name"), text(service, "path"));
        let port = service["port"].as_u64().and_then(|port| u16::try_from(port).ok()).unwrap_or(443);
        let slash = if path.starts_with('/') { "" } else { "/" };
        Self {
            url: format!("https://{name}.{namespace}.svc:{port}{slash}{path}"),
            service: Some(ServiceReference { namespace, name, port }),
            ca_bundle,
        }
    }
}
