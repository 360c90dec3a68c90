//! The two kinds of reviews: what is posted to a webhook and what it answers.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{AdmissionRequest, AdmissionResponse};

const ADMISSION: &str = "admission.k8s.io";
const CONVERSION: &str = "apiextensions.k8s.io";

/// A question, with the version in which it is asked and is to be answered.
#[derive(Debug)]
pub(super) struct Review<R> {
    api_version: String,
    pub(super) request: R,
}

/// What is to be converted.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConversionRequest {
    pub(super) uid: String,
    #[serde(rename = "desiredAPIVersion")]
    pub(super) desired_api_version: String,
    #[serde(default)]
    pub(super) objects: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Posted<R> {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    request: Option<R>,
}

// === impl Review ===

impl Review<AdmissionRequest> {
    /// Reads an `AdmissionReview` of either version.
    pub(super) fn admission(body: &[u8]) -> Result<Self, String> {
        read(body, ADMISSION, "AdmissionReview")
    }

    pub(super) fn answer(&self, response: &AdmissionResponse) -> Value {
        json!({
            "apiVersion": self.api_version,
            "kind": "AdmissionReview",
            "response": response.to_value(&self.request.uid),
        })
    }
}

impl Review<ConversionRequest> {
    /// Reads a `ConversionReview` of either version.
    pub(super) fn conversion(body: &[u8]) -> Result<Self, String> {
        read(body, CONVERSION, "ConversionReview")
    }

    pub(super) fn answer(&self, converted: Result<Vec<Value>, String>) -> Value {
        let mut response = json!({"uid": self.request.uid});
        match converted {
            Ok(objects) => {
                response["result"] = json!({"status": "Success"});
                response["convertedObjects"] = objects.into();
            }
            Err(message) => {
                response["result"] = json!({"status": "Failure", "message": message});
                response["convertedObjects"] = json!([]);
            }
        }
        json!({"apiVersion": self.api_version, "kind": "ConversionReview", "response": response})
    }
}

fn read<R: for<'de> Deserialize<'de>>(body: &[u8], group: &str, kind: &str) -> Result<Review<R>, String> {
    let posted: Posted<R> = serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_slice(body))
        .map_err(|error| format!("the body is no {kind}: {error}"))?;
    let known = ["v1", "v1beta1"].map(|version| format!("{group}/{version}"));
    if posted.kind != kind || !known.contains(&posted.api_version) {
        return Err(format!(
            "the body is a {:?} of {:?}, expected {kind} of {} or {}",
            posted.kind, posted.api_version, known[0], known[1]
        ));
    }
    let request = posted.request.ok_or_else(|| format!("the {kind} has no request"))?;
    Ok(Review { api_version: posted.api_version, request })
}
