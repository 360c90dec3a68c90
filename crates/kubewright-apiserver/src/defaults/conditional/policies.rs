use serde_json::{Map, Value, json};

use super::fields::{Fields, default, default_non_empty, default_text, is_empty, text};

pub(super) fn set(kind: &str, fields: &mut Fields) {
    match kind {
        "MatchResources" | "MutatingWebhook" | "ValidatingWebhook" => {
            default(fields, "namespaceSelector", Map::new());
            default(fields, "objectSelector", Map::new());
        }
        "NetworkPolicySpec" => {
            let types =
                if is_empty(fields, "egress") { json!(["Ingress"]) } else { json!(["Ingress", "Egress"]) };
            default_non_empty(fields, "policyTypes", types);
        }
        "Subject" if matches!(text(fields, "kind"), "User" | "Group") => {
            default_text(fields, "apiGroup", "rbac.authorization.k8s.io");
        }
        "DeviceSubRequest" | "ExactDeviceRequest" => {
            let exact = matches!(text(fields, "allocationMode"), "" | "ExactCount");
            if exact && fields.get("count").and_then(Value::as_i64).unwrap_or_default() == 0 {
                fields.insert("count".into(), 1.into());
            }
        }
        _ => {}
    }
}
