//! One webhook.

use serde_json::{Map, Value, json};

use super::{Options, patch};
use crate::{
    findings::{Findings, Part},
    marker::Marker,
};

/// The longest that an API server waits for a webhook, in seconds.
const LONGEST_TIMEOUT: i64 = 30;

/// The webhook of a marker, as Kubernetes writes it; none if the marker does not make one.
pub(super) fn webhook(marker: &Marker, options: &Options, findings: &mut Findings<'_>) -> Option<Value> {
    let mut hook = Map::new();
    let texts = |name: &str| json!(marker.texts(name));
    hook.insert("name".to_owned(), marker.text_of("name")?.into());
    hook.insert("admissionReviewVersions".to_owned(), texts("admissionReviewVersions"));
    hook.insert("clientConfig".to_owned(), client_config(marker, options, findings)?);
    for name in ["failurePolicy", "matchPolicy", "sideEffects"] {
        if let Some(word) = marker.text_of(name) {
            hook.insert(name.to_owned(), word.into());
        }
    }
    if let Some(policy) = marker.text_of("reinvocationPolicy") {
        if marker.argument("mutating") == Some(&Value::Bool(true)) {
            hook.insert("reinvocationPolicy".to_owned(), policy.into());
        } else {
            findings.warning(
                "webhook-reinvocation",
                "reinvocationPolicy",
                "a validating webhook is not asked again, so its reinvocation policy is left out",
                "remove the argument",
            );
        }
    }
    match marker.argument("timeoutSeconds").and_then(Value::as_i64) {
        // As in controller-gen, zero leaves it to the API server, which waits ten seconds.
        None | Some(0) => {}
        Some(seconds) if (1..=LONGEST_TIMEOUT).contains(&seconds) => {
            hook.insert("timeoutSeconds".to_owned(), seconds.into());
        }
        Some(seconds) => {
            findings.error(
                "webhook-timeout",
                "timeoutSeconds",
                format!("an API server waits for 1 to {LONGEST_TIMEOUT} seconds, not {seconds}"),
                "",
            );
            return None;
        }
    }
    let groups: Vec<_> =
        marker.texts("groups").into_iter().map(|group| if group == "core" { "" } else { group }).collect();
    let mut rule = json!({
        "apiGroups": groups,
        "apiVersions": texts("versions"),
        "operations": texts("verbs"),
        "resources": texts("resources"),
    });
    if let Some(scope) = marker.text_of("scope") {
        rule["scope"] = scope.into();
    }
    hook.insert("rules".to_owned(), json!([rule]));
    for name in ["namespaceSelector", "objectSelector", "matchConditions"] {
        if let Some(value) = marker.argument(name) {
            hook.insert(name.to_owned(), value.clone());
        }
    }
    patch::apply(marker, hook, findings)
}

/// Where the webhook is.
fn client_config(marker: &Marker, options: &Options, findings: &mut Findings<'_>) -> Option<Value> {
    let argument = |name: &str| marker.text_of(name).filter(|text| !text.is_empty());
    match (argument("path"), argument("url")) {
        (Some(path), None) => {
            let mut service = json!({
                "name": argument("serviceName").unwrap_or(&options.service_name),
                "namespace": argument("serviceNamespace").unwrap_or(&options.service_namespace),
                "path": path,
            });
            if let Some(port) = marker.argument("servicePort") {
                service["port"] = port.clone();
            }
            Some(json!({ "service": service }))
        }
        (None, Some(url)) => {
            for name in ["serviceName", "serviceNamespace", "servicePort"] {
                if marker.argument(name).is_some() {
                    findings.warning(
                        "webhook-service-and-url",
                        name,
                        format!("a webhook with `url` has no service, so `{name}` is left out"),
                        "remove it, or give a `path` instead of the `url`",
                    );
                }
            }
            Some(json!({ "url": url }))
        }
        (path, _) => {
            let (part, message) = match path {
                Some(_) => (Part::Argument("url"), "the webhook has both a `path` and a `url`"),
                None => (Part::Marker, "the webhook has neither a `path` nor a `url`"),
            };
            findings.error(
                "webhook-address",
                part,
                message,
                "give `path` for one that a service of the cluster answers, else `url`",
            );
            None
        }
    }
}
