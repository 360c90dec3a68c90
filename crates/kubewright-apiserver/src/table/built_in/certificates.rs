use jiff::SignedDuration;

use super::super::human_duration;
use super::{Cells, Object, row};

pub(super) fn cells(kind: &str) -> Option<Cells> {
    Some(match kind {
        "CertificateSigningRequest" => signing_request,
        "ClusterTrustBundle" => |object| row![object.name(), object.text_or("/spec/signerName", "<none>")],
        "PodCertificateRequest" => pod_certificate_request,
        _ => return None,
    })
}

fn signing_request(object: Object<'_>) -> Vec<serde_json::Value> {
    let duration = object.get("/spec/expirationSeconds").map_or_else(
        || "<none>".into(),
        |_| human_duration(SignedDuration::from_secs(object.int("/spec/expirationSeconds"))),
    );
    let has = |kind| object.condition(kind).is_some();
    let mut state = String::from(if has("Denied") {
        "Denied"
    } else if has("Approved") {
        "Approved"
    } else {
        "Pending"
    });
    if has("Failed") {
        state.push_str(",Failed");
    }
    if !object.text("/status/certificate").is_empty() {
        state.push_str(",Issued");
    }
    row![
        object.name(),
        object.age(),
        object.text_or("/spec/signerName", "<none>"),
        object.text("/spec/username"),
        duration,
        state,
    ]
}

fn pod_certificate_request(object: Object<'_>) -> Vec<serde_json::Value> {
    let mut states = object.list("/status/conditions").map(|condition| condition.text("/type"));
    let state = states.rfind(|kind| ["Issued", "Denied", "Failed"].contains(kind)).unwrap_or("Pending");
    row![
        object.name(),
        object.text("/spec/podName"),
        object.text("/spec/serviceAccountName"),
        object.text("/spec/nodeName"),
        object.text("/spec/signerName"),
        state,
        object.labels("/spec/unverifiedUserAnnotations"),
    ]
}
