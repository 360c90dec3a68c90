use serde_json::Map;

use super::fields::{Fields, default, items, object_mut, text};

pub(super) fn set(kind: &str, fields: &mut Fields) {
    match kind {
        "DeploymentStrategy" | "DaemonSetUpdateStrategy" => {
            if matches!(text(fields, "type"), "" | "RollingUpdate") {
                default(fields, "rollingUpdate", Map::new());
            }
        }
        "StatefulSetUpdateStrategy" => {
            // One that names the strategy gets no parameters, and one of another strategy none within them.
            if text(fields, "type").is_empty() {
                default(fields, "rollingUpdate", Map::new());
            }
            let is_rolling = matches!(text(fields, "type"), "" | "RollingUpdate");
            if let Some(parameters) = object_mut(fields, "rollingUpdate").filter(|_| is_rolling) {
                default(parameters, "partition", 0);
                default(parameters, "maxUnavailable", 1);
            }
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
