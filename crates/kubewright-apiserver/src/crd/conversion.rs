//! Conversion of custom resources between versions by a webhook.

use kubewright_schema::{FieldPath, error::go, names};
use serde_json::{Value, json};

use super::text;
use crate::{admission::KindName, registry::metadata, webhook::ClientConfig};

/// Who converts the objects of a resource, if changing `apiVersion` is not enough.
#[derive(Debug)]
pub(crate) struct Conversion {
    pub(crate) client: ClientConfig,
    /// The first one of its versions of reviews that the server knows.
    review_version: &'static str,
}

impl Conversion {
    /// Reads `spec.conversion`; `None` if no webhook is asked.
    pub(super) fn read(conversion: &Value) -> Option<Self> {
        if text(conversion, "strategy") != "Webhook" {
            return None;
        }
        let webhook = &conversion["webhook"];
        let versions = webhook["conversionReviewVersions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let known = versions.iter().find_map(|version| match version.as_str() {
            Some("v1") => Some("v1"),
            Some("v1beta1") => Some("v1beta1"),
            _ => None,
        });
        Some(Self {
            client: ClientConfig::read(&webhook["clientConfig"]),
            review_version: known.unwrap_or("v1"),
        })
    }

    /// What the webhook answers with.
    pub(crate) fn review_kind(&self) -> KindName<'static> {
        KindName { group: "apiextensions.k8s.io", version: self.review_version, kind: "ConversionReview" }
    }

    /// The question how an object looks like in another version.
    pub(crate) fn question(&self, uid: &str, object: &Value, api_version: &str) -> Value {
        json!({
            "kind": "ConversionReview",
            "apiVersion": format!("apiextensions.k8s.io/{}", self.review_version),
            "request": { "uid": uid, "desiredAPIVersion": api_version, "objects": [object] },
            // As Go writes an answer in which nothing is set.
            "response": { "uid": "", "convertedObjects": null, "result": { "metadata": {} } },
        })
    }
}

/// The beginning of what is said about a webhook that did not convert an object.
pub(crate) fn blame(object: &Value) -> String {
    format!("conversion webhook for {}, Kind={}", text(object, "apiVersion"), text(object, "kind"))
}

/// Reads the answer to the question with this uid: the object in the other version, with the metadata that it had but for
/// labels and annotations.
///
/// # Errors
/// With the text of kube-apiserver, if it is not that.
pub(crate) fn answer(review: &Value, uid: &str, object: &Value, api_version: &str) -> Result<Value, String> {
    let failed = |why: String| format!("{} failed: {why}", blame(object));
    let response = &review["response"];
    if !response.is_object() {
        return Err(failed("no response provided".to_owned()));
    }
    let given = text(response, "uid");
    if given != uid {
        return Err(failed(format!("expected response.uid={}, got {}", go::quote(uid), go::quote(given))));
    }
    if text(review, "apiVersion").is_empty() || text(review, "kind").is_empty() {
        let expected = "apiextensions.k8s.io/v1, Kind=ConversionReview";
        return Err(failed(format!("expected webhook response of {expected}, got /, Kind=")));
    }
    let (status, message) = (text(&response["result"], "status"), text(&response["result"], "message"));
    if status != "Success" {
        return Err(failed(if message.is_empty() {
            format!("response.result.status was '{status}', not 'Success'")
        } else {
            message.to_owned()
        }));
    }
    let converted = response["convertedObjects"].as_array().map(Vec::as_slice).unwrap_or_default();
    let [new] = converted else {
        return Err(format!("{} returned {} objects, expected 1", blame(object), converted.len()));
    };
    if text(new, "kind").is_empty() {
        return Err(format!("Object 'Kind' is missing in '{new}'"));
    }
    let (found, kind) = (text(new, "apiVersion"), text(new, "kind"));
    let at_index = |why: String| format!("{} returned invalid object at index 0: {why}", blame(object));
    if found != api_version {
        return Err(at_index(format!("invalid groupVersion (expected {api_version}, received {found})")));
    }
    if kind != text(object, "kind") {
        let expected = text(object, "kind");
        return Err(at_index(format!("invalid kind (expected {expected}, received {kind})")));
    }
    for (field, name) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
        let (was, is) = (metadata::text(object, field), metadata::text(new, field));
        if was != is {
            return Err(format!(
                "{} returned invalid object: must have the same {name}: {was} != {is}",
                blame(object)
            ));
        }
    }
    restore_metadata(new, object).map_err(|why| format!("{} returned invalid metadata: {why}", blame(object)))
}

/// The converted object with the metadata that it had, but for labels and annotations.
fn restore_metadata(new: &Value, object: &Value) -> Result<Value, String> {
    let mut restored = new.clone();
    let old = object.get("metadata").cloned().unwrap_or_default();
    metadata::as_map(&mut restored).insert("metadata".to_owned(), old);
    for field in ["labels", "annotations"] {
        let texts = metadata::get(new, field);
        for (key, value) in texts.and_then(Value::as_object).into_iter().flatten() {
            if !value.is_string() {
                return Err(format!(
                    "metadata.{field}[{key}] must be a string, but is {} in converted object",
                    go::type_name(value)
                ));
            }
        }
        if let Some(texts) = texts {
            let path = FieldPath::new("metadata").child(field);
            let errors = match field {
                "labels" => names::validate_labels(texts, &path),
                _ => names::validate_annotations(texts, &path),
            };
            if !errors.is_empty() {
                return Err(errors.to_string());
            }
        }
        metadata::set(&mut restored, field, texts.cloned());
    }
    Ok(restored)
}
