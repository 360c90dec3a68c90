use serde_json::Map;

use super::fields::{Fields, default, items, text};

pub(super) fn set(kind: &str, fields: &mut Fields) {
    match kind {
        "DeploymentStrategy" | "DaemonSetUpdateStrategy" => {
            if matches!(text(fields, "type"), "" | "RollingUpdate") {
                default(fields, "rollingUpdate", Map::new());
            }
        }
        // A stateful set that names the strategy gets no parameters.
        "StatefulSetUpdateStrategy" if text(fields, "type").is_empty() => {
            default(fields, "rollingUpdate", Map::new());
        }
        "StatefulSetSpec" => {
            default(fields, "persistentVolumeClaimRetentionPolicy", Map::new());
            for template in items(fields, "volumeClaimTemplates") {
                template.insert("apiVersion".into(), "v1".into());
                template.insert("kind".into(), "PersistentVolumeClaim".into());
            }
        }
        _ => {}
    }
}
