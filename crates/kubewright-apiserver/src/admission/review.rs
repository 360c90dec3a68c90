//! `AdmissionReview`: the question to a webhook, and its answer.

use base64::{Engine, engine::general_purpose::STANDARD};
use kubewright_schema::error::go;
use serde_json::{Map, Value, json};

use super::{attributes::Attributes, configuration::Webhook, matching::Invocation};
use crate::{
    status::{Cause, Details, Reason, Status},
    user::User,
};

/// What a webhook says.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) allowed: bool,
    /// Empty if there is none.
    pub(super) patch: Vec<u8>,
    /// What kind of patch it is.
    pub(super) patch_type: String,
    pub(super) warnings: Vec<String>,
    /// Why it is not allowed.
    status: Value,
}

/// The question.
pub(super) fn question(
    webhook: &Webhook,
    invocation: &Invocation,
    attributes: &Attributes<'_>,
    uid: &str,
    object: Option<&Value>,
    old: Option<&Value>,
) -> Value {
    json!({
        "kind": "AdmissionReview",
        "apiVersion": format!("admission.k8s.io/{}", webhook.review_version),
        "request": request(invocation, attributes, uid, object, old),
    })
}

/// What is asked about: the `request` of a review, and of conditions.
pub(super) fn request(
    invocation: &Invocation,
    attributes: &Attributes<'_>,
    uid: &str,
    object: Option<&Value>,
    old: Option<&Value>,
) -> Value {
    let subresource = attributes.request.subresource.as_str();
    let served = &invocation.served;
    let mut request = json!({
        "uid": uid,
        "kind": served.kind_name(subresource).to_value(),
        "resource": served.resource_name().to_value(),
        "requestKind": attributes.kind().to_value(),
        "requestResource": attributes.resource().to_value(),
        "operation": attributes.operation().name(),
        "userInfo": user_info(attributes.user()),
        "object": object,
        "oldObject": old,
        "dryRun": attributes.is_dry_run(),
        "options": attributes.options.to_value(),
    });
    let texts = [
        ("subResource", subresource),
        ("requestSubResource", subresource),
        ("name", attributes.name(object)),
        ("namespace", attributes.namespace(object)),
    ];
    for (field, text) in texts {
        if !text.is_empty() {
            request[field] = Value::from(text);
        }
    }
    request
}

fn user_info(user: &User) -> Value {
    let mut fields = Map::new();
    for (field, text) in [("username", &user.name), ("uid", &user.uid)] {
        if !text.is_empty() {
            fields.insert(field.to_owned(), Value::from(text.as_str()));
        }
    }
    if !user.groups.is_empty() {
        fields.insert("groups".to_owned(), json!(user.groups));
    }
    if !user.extra.is_empty() {
        fields.insert("extra".to_owned(), json!(user.extra));
    }
    Value::Object(fields)
}

// === impl Answer ===

impl Answer {
    /// Reads the answer to the question with this uid.
    ///
    /// # Errors
    /// With the text of kube-apiserver, if it is none.
    pub(super) fn read(
        webhook: &Webhook,
        uid: &str,
        is_mutating: bool,
        review: &Value,
    ) -> Result<Self, String> {
        let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
        let response = &review["response"];
        if !response.is_object() {
            return Err("webhook response was absent".to_owned());
        }
        if webhook.review_version == "v1" {
            let given = text(response, "uid");
            if given != uid {
                return Err(format!("expected response.uid={}, got {}", go::quote(uid), go::quote(&given)));
            }
            // What says that it is of another kind was found not to be a review at all.
            if text(review, "apiVersion").is_empty() || text(review, "kind").is_empty() {
                return Err(
                    "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind="
                        .to_owned(),
                );
            }
        }
        let patch_type = response["patchType"].as_str();
        let patch = STANDARD.decode(text(response, "patch")).unwrap_or_default();
        if is_mutating && webhook.review_version == "v1" {
            match (patch.is_empty(), patch_type) {
                (false, None) => {
                    return Err("webhook returned response.patch but not response.patchType".to_owned());
                }
                (true, Some(_)) => {
                    return Err("webhook returned response.patchType but not response.patch".to_owned());
                }
                (_, Some("")) => {
                    return Err("webhook returned invalid response.patchType of \"\"".to_owned());
                }
                _ => {}
            }
        } else if webhook.review_version == "v1" {
            if !patch.is_empty() {
                return Err("validating webhook may not return response.patch".to_owned());
            }
            if patch_type.is_some() {
                return Err("validating webhook may not return response.patchType".to_owned());
            }
        }
        let warnings = response["warnings"].as_array().into_iter().flatten();
        Ok(Self {
            allowed: response["allowed"] == true,
            patch,
            patch_type: patch_type.unwrap_or("JSONPatch").to_owned(),
            warnings: warnings.filter_map(Value::as_str).map(str::to_owned).collect(),
            status: response["status"].clone(),
        })
    }

    /// The refusal of a webhook that does not allow the request.
    pub(super) fn denial(&self, webhook: &Webhook) -> Status {
        let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
        let denied_by = format!("admission webhook {} denied the request", go::quote(&webhook.name));
        let (message, reason) = (text(&self.status, "message"), text(&self.status, "reason"));
        let message = match (message.as_str(), reason.as_str()) {
            ("", "") => format!("{denied_by} without explanation"),
            ("", reason) => format!("{denied_by}: {reason}"),
            (message, _) => format!("{denied_by}: {message}"),
        };
        let code = self.status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or_default();
        let mut status = Status::new(code.clamp(400, 599), Reason::from(reason.as_str()), message);
        status.details = self.status.get("details").filter(|details| details.is_object()).map(|details| {
            let causes = details["causes"].as_array().into_iter().flatten().map(|cause| Cause {
                reason: text(cause, "reason"),
                message: text(cause, "message"),
                field: text(cause, "field"),
            });
            let seconds = details["retryAfterSeconds"].as_u64().unwrap_or_default();
            Box::new(Details {
                name: text(details, "name"),
                group: text(details, "group"),
                kind: text(details, "kind"),
                uid: text(details, "uid"),
                causes: causes.collect(),
                retry_after_seconds: u32::try_from(seconds).unwrap_or(u32::MAX),
            })
        });
        let token = text(&self.status["metadata"], "continue");
        status.continue_token = (!token.is_empty()).then_some(token);
        status
    }
}
