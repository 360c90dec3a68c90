//! The two configurations.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{check, hook};
use crate::{
    Manifests, Style,
    diagnostic::Place,
    findings::Findings,
    marker::{Effect, Marker},
};

/// How webhook configurations are made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Whose conventions are followed; ours by default. The documents are the same, what is an error differs.
    pub style: Style,
    /// The name of the service of markers without `serviceName`; `webhook-service` by default.
    pub service_name: String,
    /// The namespace of the service of markers without `serviceNamespace`; `system` by default.
    pub service_namespace: String,
    /// The Certificate of cert-manager, as `namespace/name`, whose authority cert-manager is to write into the
    /// configurations that do not say `injectCAFrom` or `caBundle` themselves; none by default.
    pub inject_ca_from: Option<String>,
    /// Labels for both configurations; none by default.
    pub labels: BTreeMap<String, String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            style: Style::default(),
            service_name: "webhook-service".to_owned(),
            service_namespace: "system".to_owned(),
            inject_ca_from: None,
            labels: BTreeMap::new(),
        }
    }
}

// === impl Options ===

impl Options {
    /// Follows the conventions of this style.
    #[must_use]
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// The service of markers that do not name one.
    #[must_use]
    pub fn service(mut self, name: impl Into<String>, namespace: impl Into<String>) -> Self {
        self.service_name = name.into();
        self.service_namespace = namespace.into();
        self
    }

    /// Has cert-manager write the authority of this Certificate, as `namespace/name`, into the configurations.
    #[must_use]
    pub fn inject_ca_from(mut self, certificate: impl Into<String>) -> Self {
        self.inject_ca_from = Some(certificate.into());
        self
    }
}

/// One of the two configurations.
#[derive(Debug, Default)]
struct Configuration<'m> {
    hooks: Vec<(Value, &'m Marker, Place)>,
    /// The marker that names it.
    marker: Option<&'m Marker>,
}

/// The webhook configurations that the `+kubebuilder:webhook` and `+kubebuilder:webhookconfiguration` markers among these
/// ask for, each with the place where it stands.
///
/// The mutating configuration comes first; there is none without webhooks. Webhooks are sorted by name, and those of
/// one name in the order of the markers. Other markers are passed over.
///
/// ```
/// use kubewright_manifests::{
///     diagnostic::Place,
///     marker::{Target, parse},
///     webhook::{Options, documents},
/// };
///
/// let text = "+kubebuilder:webhook:path=/validate-v1-pod,mutating=false,failurePolicy=fail,sideEffects=None,\
///     groups=core,resources=pods,verbs=create,versions=v1,name=vpod.example.com,admissionReviewVersions=v1";
/// let marker = parse(text, &[Target::Package]).unwrap();
/// let place = Place::File { file: "src/webhook.rs".into(), range: 0..text.len() };
///
/// let manifests = documents([(&marker, place)], &Options::default());
/// assert!(manifests.diagnostics.is_empty());
/// let [configuration] = manifests.documents.try_into().unwrap();
/// assert_eq!(configuration["kind"], "ValidatingWebhookConfiguration");
/// assert_eq!(configuration["webhooks"][0]["clientConfig"]["service"]["path"], "/validate-v1-pod");
/// ```
pub fn documents<'m>(markers: impl IntoIterator<Item = (&'m Marker, Place)>, options: &Options) -> Manifests {
    let mut manifests = Manifests::default();
    let (mut mutating, mut validating) = (Configuration::default(), Configuration::default());
    for (marker, place) in markers {
        let effect = marker.definition.effect;
        if !matches!(effect, Effect::Webhook | Effect::WebhookConfiguration) {
            continue;
        }
        let diagnostics = &mut manifests.diagnostics;
        let mut findings = Findings { marker, place: &place, style: options.style, diagnostics };
        let is_mutating = marker.argument("mutating").and_then(Value::as_bool).unwrap_or_default();
        let configuration = if is_mutating { &mut mutating } else { &mut validating };
        if effect == Effect::WebhookConfiguration {
            check::configuration(marker, configuration.marker, &mut findings);
            configuration.marker.get_or_insert(marker);
        } else if let Some(hook) = hook::webhook(marker, options, &mut findings) {
            check::webhook(marker, &hook, &mut findings);
            configuration.hooks.push((hook, marker, place));
        }
    }
    for (mut configuration, kind) in
        [(mutating, "MutatingWebhookConfiguration"), (validating, "ValidatingWebhookConfiguration")]
    {
        configuration.hooks.sort_by(|(left, ..), (right, ..)| name(left).cmp(name(right)));
        configuration.check_names(options.style, &mut manifests);
        if !configuration.hooks.is_empty() {
            manifests.documents.push(configuration.document(kind, options));
        }
    }
    manifests
}

fn name(hook: &Value) -> &str {
    hook.get("name").and_then(Value::as_str).unwrap_or_default()
}

// === impl Configuration ===

impl Configuration<'_> {
    /// Finds names that are used twice, which the API server does not allow in one configuration.
    fn check_names(&self, style: Style, manifests: &mut Manifests) {
        for pair in self.hooks.windows(2) {
            let [(first, ..), (second, marker, place)] = pair else { continue };
            if name(first) == name(second) {
                let diagnostics = &mut manifests.diagnostics;
                Findings { marker, place, style, diagnostics }.fault(
                    "webhook-duplicate-name",
                    "name",
                    format!("another webhook of this configuration is named `{}`", name(second)),
                    "rename one of them",
                );
            }
        }
    }

    fn document(self, kind: &str, options: &Options) -> Value {
        let argument =
            |name| self.marker.and_then(|marker| marker.text_of(name)).filter(|text| !text.is_empty());
        let default = match kind {
            "MutatingWebhookConfiguration" => "mutating-webhook-configuration",
            _ => "validating-webhook-configuration",
        };
        let mut metadata = json!({ "name": argument("name").unwrap_or(default) });
        if !options.labels.is_empty() {
            metadata["labels"] = json!(options.labels);
        }
        let bundle = argument("caBundle");
        let certificate = match (argument("injectCAFrom"), bundle) {
            (None, Some(_)) => None,
            (certificate, _) => certificate.or(options.inject_ca_from.as_deref()),
        };
        if let Some(certificate) = certificate {
            metadata["annotations"] = json!({ "cert-manager.io/inject-ca-from": certificate });
        }
        let hooks = self.hooks.into_iter().map(|(mut hook, ..)| {
            if let (Some(bundle), Some(client)) =
                (bundle, hook.get_mut("clientConfig").and_then(Value::as_object_mut))
            {
                // What a patch says of one webhook is said of it in particular.
                client.entry("caBundle").or_insert_with(|| bundle.into());
            }
            hook
        });
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": metadata,
            "webhooks": hooks.collect::<Vec<_>>(),
        })
    }
}
