//! Pods leave a node that is not ready or cannot be reached after five minutes, unless they say something else.

use serde_json::{Value, json};

use super::Attributes;
use crate::registry::metadata;

const SECONDS: i64 = 300;

pub(super) fn admit(attributes: &Attributes<'_>, pod: Option<&mut Value>) {
    let Some(pod) = pod.filter(|_| attributes.is_of("", "pods", "")) else { return };
    let tolerations =
        metadata::child(metadata::as_map(pod), "spec").entry("tolerations").or_insert(json!([]));
    if tolerations.is_null() {
        *tolerations = json!([]);
    }
    let Some(tolerations) = tolerations.as_array_mut() else { return };
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerates = |toleration: &Value| {
            let text = |field: &str| toleration[field].as_str().unwrap_or_default();
            (text("key") == key || text("key").is_empty()) && matches!(text("effect"), "" | "NoExecute")
        };
        if !tolerations.iter().any(tolerates) {
            tolerations.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": SECONDS,
            }));
        }
    }
}
