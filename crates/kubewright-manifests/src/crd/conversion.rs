//! How the API server converts objects between the versions of a kind.

use serde_json::{Map, Value, json};

/// The annotation by which cert-manager's CA injector learns whose certificate to put into a CRD.
pub(super) const INJECT_CA_FROM: &str = "cert-manager.io/inject-ca-from";

/// The webhook that converts the objects of a kind from one of its versions to another.
///
/// Without one, the API server changes the `apiVersion` alone, so fields that a version does not have are lost. The
/// defaults are the names of Kubebuilder's project layout: the service `webhook-service` in the namespace `system`,
/// which kustomize renames, at the path `/convert`.
///
/// ```
/// use kubewright_manifests::crd::ConversionWebhook;
///
/// let webhook = ConversionWebhook::service("memcached-system", "memcached-webhook")
///     .inject_ca_from("memcached-system/serving-cert");
/// assert_eq!(webhook, ConversionWebhook::service("memcached-system", "memcached-webhook").inject_ca_from("memcached-system/serving-cert"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct ConversionWebhook {
    target: Target,
    review_versions: Vec<String>,
    ca_bundle: Option<String>,
    inject_ca_from: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Service { namespace: String, name: String, path: String, port: Option<i32> },
    Url(String),
}

// === impl ConversionWebhook ===

impl ConversionWebhook {
    /// A webhook behind a service of the cluster, at the path `/convert` and the port 443.
    pub fn service(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self::at(Target::Service {
            namespace: namespace.into(),
            name: name.into(),
            path: "/convert".to_owned(),
            port: None,
        })
    }

    /// A webhook at an `https` URL outside the cluster.
    pub fn url(url: impl Into<String>) -> Self {
        Self::at(Target::Url(url.into()))
    }

    fn at(target: Target) -> Self {
        Self { target, review_versions: vec!["v1".to_owned()], ca_bundle: None, inject_ca_from: None }
    }

    /// Sets the path at the service. It has no meaning for a URL, which has its own.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        if let Target::Service { path: own, .. } = &mut self.target {
            *own = path.into();
        }
        self
    }

    /// Sets the port of the service. It has no meaning for a URL, which has its own.
    pub fn port(mut self, port: i32) -> Self {
        if let Target::Service { port: own, .. } = &mut self.target {
            *own = Some(port);
        }
        self
    }

    /// Sets which versions of `ConversionReview` the webhook understands, the preferred one first. Default: `v1`.
    pub fn review_versions(mut self, versions: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.review_versions = versions.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the certificates that the webhook is verified with, as base64 of PEM.
    pub fn ca_bundle(mut self, base64: impl Into<String>) -> Self {
        self.ca_bundle = Some(base64.into());
        self
    }

    /// Lets cert-manager put in the certificates of `NAMESPACE/CERTIFICATE`, by its annotation
    /// `cert-manager.io/inject-ca-from`.
    pub fn inject_ca_from(mut self, certificate: impl Into<String>) -> Self {
        self.inject_ca_from = Some(certificate.into());
        self
    }

    /// The value of the annotation for cert-manager.
    pub(super) fn injected_from(&self) -> Option<&str> {
        self.inject_ca_from.as_deref()
    }

    /// `spec.conversion`.
    pub(super) fn to_value(&self) -> Value {
        let mut client = Map::new();
        match &self.target {
            Target::Service { namespace, name, path, port } => {
                let mut service = json!({"namespace": namespace, "name": name, "path": path});
                if let Some(port) = port {
                    service["port"] = (*port).into();
                }
                client.insert("service".to_owned(), service);
            }
            Target::Url(url) => {
                client.insert("url".to_owned(), url.as_str().into());
            }
        }
        if let Some(bundle) = &self.ca_bundle {
            client.insert("caBundle".to_owned(), bundle.as_str().into());
        }
        json!({
            "strategy": "Webhook",
            "webhook": {"clientConfig": client, "conversionReviewVersions": self.review_versions},
        })
    }
}

impl Default for ConversionWebhook {
    fn default() -> Self {
        Self::service("system", "webhook-service")
    }
}
