use serde_json::{Value, json};

use super::fields::{Fields, always, default, default_non_empty, object, object_mut};

pub(super) fn set(kind: &str, fields: &mut Fields) {
    match kind {
        "HorizontalPodAutoscalerSpec" => {
            let cpu = json!([{
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
            }]);
            default_non_empty(fields, "metrics", cpu);
        }
        "HorizontalPodAutoscalerBehavior" => {
            let percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
            let pods = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
            rules(fields, "scaleUp", &json!([pods, percent]));
            rules(fields, "scaleDown", &json!([percent]));
            if let Some(up) = object_mut(fields, "scaleUp") {
                default(up, "stabilizationWindowSeconds", 0);
            }
        }
        _ => {}
    }
}

/// The older version has one metric in a field of its own, and others in an annotation.
pub(super) fn set_v1(kind: &str, autoscaler: &mut Fields) {
    if kind != "HorizontalPodAutoscaler" {
        return;
    }
    let metadata = object(autoscaler, "metadata");
    let annotations = metadata.and_then(|metadata| object(metadata, "annotations"));
    let others = annotations.is_some_and(|all| all.contains_key("autoscaling.alpha.kubernetes.io/metrics"));
    if !others && let Some(spec) = always(autoscaler, "spec") {
        default(spec, "targetCPUUtilizationPercentage", 80);
    }
}

fn rules(behavior: &mut Fields, direction: &str, policies: &Value) {
    default(behavior, direction, json!({}));
    if let Some(rules) = object_mut(behavior, direction) {
        default(rules, "selectPolicy", "Max");
        default(rules, "policies", policies.clone());
    }
}
