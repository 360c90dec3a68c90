//! The two versions of a HorizontalPodAutoscaler: `autoscaling/v2`, which is stored, and `autoscaling/v1`.
//!
//! `autoscaling/v1` has one field for the share of the CPU that pods are to use. What else `autoscaling/v2` says travels through it in
//! annotations, in the words of the versions that had them.

use serde_json::{Map, Value, json};

use super::metadata;
use crate::defaults;

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
/// The annotations that are dropped when `autoscaling/v1` is read, and written anew when it is made.
const TRAVELLING: [&str; 6] = [
    METRICS,
    CURRENT_METRICS,
    CONDITIONS,
    BEHAVIOR,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];
/// What pods are to use of their CPU where `autoscaling/v1` does not say it.
const DEFAULT_CPU_UTILIZATION: i64 = 80;

/// Where a field of a metric in `autoscaling/v1` is in `autoscaling/v2`.
struct Place {
    old: &'static str,
    new: &'static [&'static str],
    /// What is written where there is nothing.
    zero: Option<&'static str>,
}

/// The sources of metrics by the name of their field; their type is the same word with a capital. Fields are in the order in which Go
/// writes them.
type Sources = [(&'static str, &'static [Place]); 5];

const fn place(old: &'static str, new: &'static [&'static str], zero: Option<&'static str>) -> Place {
    Place { old, new, zero }
}

const METRIC_NAME: Place = place("metricName", &["metric", "name"], Some(""));

static SPECS: Sources = [
    (
        "object",
        &[
            place("target", &["describedObject"], None),
            METRIC_NAME,
            place("targetValue", &["target", "value"], Some("0")),
            place("selector", &["metric", "selector"], None),
            place("averageValue", &["target", "averageValue"], None),
        ],
    ),
    (
        "pods",
        &[
            METRIC_NAME,
            place("targetAverageValue", &["target", "averageValue"], Some("0")),
            place("selector", &["metric", "selector"], None),
        ],
    ),
    (
        "resource",
        &[
            place("name", &["name"], Some("")),
            place("targetAverageUtilization", &["target", "averageUtilization"], None),
            place("targetAverageValue", &["target", "averageValue"], None),
        ],
    ),
    (
        "containerResource",
        &[
            place("name", &["name"], Some("")),
            place("targetAverageUtilization", &["target", "averageUtilization"], None),
            place("targetAverageValue", &["target", "averageValue"], None),
            place("container", &["container"], Some("")),
        ],
    ),
    (
        "external",
        &[
            METRIC_NAME,
            place("metricSelector", &["metric", "selector"], None),
            place("targetValue", &["target", "value"], None),
            place("targetAverageValue", &["target", "averageValue"], None),
        ],
    ),
];

static STATUSES: Sources = [
    (
        "object",
        &[
            place("target", &["describedObject"], None),
            METRIC_NAME,
            place("currentValue", &["current", "value"], Some("0")),
            place("selector", &["metric", "selector"], None),
            place("averageValue", &["current", "averageValue"], None),
        ],
    ),
    (
        "pods",
        &[
            METRIC_NAME,
            place("currentAverageValue", &["current", "averageValue"], Some("0")),
            place("selector", &["metric", "selector"], None),
        ],
    ),
    (
        "resource",
        &[
            place("name", &["name"], Some("")),
            place("currentAverageUtilization", &["current", "averageUtilization"], None),
            place("currentAverageValue", &["current", "averageValue"], Some("0")),
        ],
    ),
    (
        "containerResource",
        &[
            place("name", &["name"], Some("")),
            place("currentAverageUtilization", &["current", "averageUtilization"], None),
            place("currentAverageValue", &["current", "averageValue"], Some("0")),
            place("container", &["container"], Some("")),
        ],
    ),
    (
        "external",
        &[
            METRIC_NAME,
            place("metricSelector", &["metric", "selector"], None),
            place("currentValue", &["current", "value"], Some("0")),
            place("currentAverageValue", &["current", "averageValue"], None),
        ],
    ),
];

/// The autoscaler in another version, with that version's defaults.
pub(super) fn convert(autoscaler: &Value, api_version: &str) -> Value {
    let mut converted = match (autoscaler.get("apiVersion").and_then(Value::as_str), api_version) {
        (Some("autoscaling/v1"), "autoscaling/v2") => to_v2(autoscaler),
        (Some("autoscaling/v2"), "autoscaling/v1") => to_v1(autoscaler),
        _ => autoscaler.clone(),
    };
    metadata::as_map(&mut converted).insert("apiVersion".to_owned(), Value::from(api_version));
    let version = api_version.rsplit('/').next().unwrap_or_default();
    defaults::apply("autoscaling", version, "HorizontalPodAutoscaler", &mut converted);
    converted
}

fn to_v1(autoscaler: &Value) -> Value {
    let mut converted = autoscaler.clone();
    let (spec, status) = (field(autoscaler, "spec"), field(autoscaler, "status"));
    let mut travelling: Vec<(&str, String)> = Vec::new();

    let metrics = list(spec, "metrics");
    let others: Vec<String> =
        metrics.iter().filter(|metric| cpu_utilization(metric, "target").is_none()).map(old_spec).collect();
    travelling.extend((!others.is_empty()).then(|| (METRICS, format!("[{}]", others.join(",")))));
    let current = list(status, "currentMetrics");
    let all: Vec<String> = current.iter().map(|metric| old_metric(metric, &STATUSES)).collect();
    travelling.extend((!all.is_empty()).then(|| (CURRENT_METRICS, format!("[{}]", all.join(",")))));
    travelling.extend(spec.get("behavior").map(|behavior| (BEHAVIOR, old_behavior(behavior))));
    let conditions: Vec<String> = list(status, "conditions").iter().map(condition).collect();
    travelling.extend((!conditions.is_empty()).then(|| (CONDITIONS, format!("[{}]", conditions.join(",")))));
    drop_travelling(&mut converted);
    if !travelling.is_empty() {
        let annotations = metadata::child(metadata::edit(&mut converted), "annotations");
        for (name, text) in travelling {
            annotations.insert(name.to_owned(), Value::from(text));
        }
    }

    let fields = metadata::as_map(&mut converted);
    if let Some(target) = metrics.iter().find_map(|metric| cpu_utilization(metric, "target")) {
        metadata::child(fields, "spec").insert("targetCPUUtilizationPercentage".to_owned(), target.clone());
    }
    if let Some(current) = current.iter().rev().find_map(|metric| cpu_utilization(metric, "current")) {
        metadata::child(fields, "status")
            .insert("currentCPUUtilizationPercentage".to_owned(), current.clone());
    }
    converted
}

fn to_v2(autoscaler: &Value) -> Value {
    let mut converted = autoscaler.clone();
    let annotation = |name: &str| -> Option<Value> {
        let text = autoscaler.get("metadata")?.get("annotations")?.get(name)?.as_str()?;
        serde_json::from_str(text).ok()
    };
    let own = field(autoscaler, "spec").get("targetCPUUtilizationPercentage").filter(|own| !own.is_null());
    let mut metrics: Vec<Value> = match annotation(METRICS) {
        Some(Value::Array(metrics)) => metrics.iter().map(new_spec).collect(),
        _ => Vec::new(),
    };
    metrics.extend(own.map(|own| cpu(json!({"target": {"type": "Utilization", "averageUtilization": own}}))));
    if metrics.is_empty() {
        let target = json!({"type": "Utilization", "averageUtilization": DEFAULT_CPU_UTILIZATION});
        metrics.push(cpu(json!({"target": target})));
    }
    let behavior =
        annotation(BEHAVIOR).filter(Value::is_object).map(|behavior| with_case(&behavior, new_case));
    let current =
        field(autoscaler, "status").get("currentCPUUtilizationPercentage").filter(|own| !own.is_null());
    let current = match annotation(CURRENT_METRICS) {
        Some(Value::Array(metrics)) => {
            Some(metrics.iter().map(|metric| new_metric(metric, &STATUSES)).collect())
        }
        _ => current.map(|own| vec![cpu(json!({"current": {"averageUtilization": own}}))]),
    };
    let conditions = annotation(CONDITIONS).filter(Value::is_array);
    drop_travelling(&mut converted);

    let fields = metadata::as_map(&mut converted);
    let spec = metadata::child(fields, "spec");
    spec.insert("metrics".to_owned(), Value::from(metrics));
    spec.extend(behavior.map(|behavior| ("behavior".to_owned(), behavior)));
    let status = metadata::child(fields, "status");
    status.extend(current.map(|current: Vec<Value>| ("currentMetrics".to_owned(), Value::from(current))));
    status.extend(conditions.map(|conditions| ("conditions".to_owned(), conditions)));
    converted
}

fn drop_travelling(autoscaler: &mut Value) {
    if let Some(Value::Object(annotations)) = metadata::edit(autoscaler).get_mut("annotations") {
        annotations.retain(|name, _| !TRAVELLING.contains(&name.as_str()));
    }
}

/// What the metric says of the CPU's utilization, if it is about that.
fn cpu_utilization<'a>(metric: &'a Value, side: &str) -> Option<&'a Value> {
    let resource = metric.get("resource").filter(|_| metric.get("type") == Some(&json!("Resource")))?;
    let is_cpu = resource.get("name") == Some(&json!("cpu"));
    resource.get(side)?.get("averageUtilization").filter(|value| is_cpu && !value.is_null())
}

fn cpu(mut resource: Value) -> Value {
    metadata::as_map(&mut resource).insert("name".to_owned(), Value::from("cpu"));
    json!({"type": "Resource", "resource": resource})
}

// === metrics ===

fn old_spec(metric: &Value) -> String {
    old_metric(metric, &SPECS)
}

/// A metric as `autoscaling/v1` writes it in an annotation.
fn old_metric(metric: &Value, sources: &Sources) -> String {
    let mut fields = vec![("type", Some(field(metric, "type").to_string()))];
    for (name, places) in sources {
        let Some(source) = metric.get(*name).filter(|source| source.is_object()) else { continue };
        let of_place = |place: &Place| {
            let found = place.new.iter().try_fold(source, |value, step| value.get(step));
            let text = match found.filter(|value| !value.is_null()) {
                Some(target) if place.old == "target" => {
                    Some(ordered(target, &["kind", "name", "apiVersion"]))
                }
                Some(value) => Some(value.to_string()),
                None => place.zero.map(|zero| Value::from(zero).to_string()),
            };
            (place.old, text)
        };
        fields.push((name, Some(object(places.iter().map(of_place)))));
    }
    object(fields)
}

fn new_spec(metric: &Value) -> Value {
    let mut converted = new_metric(metric, &SPECS);
    for (name, _) in &SPECS {
        let Some(source) = converted.get_mut(*name) else { continue };
        let target = metadata::child(metadata::as_map(source), "target");
        let has = |field: &str| target.get(field).is_some_and(|value| !value.is_null());
        let kind = match *name {
            "object" if !has("averageValue") => "Value",
            "external" if has("value") => "Value",
            "resource" | "containerResource" if has("averageUtilization") => "Utilization",
            _ => "AverageValue",
        };
        // `autoscaling/v1` cannot leave the value of an object out.
        if *name == "object" && kind == "AverageValue" && target.get("value") == Some(&json!("0")) {
            target.remove("value");
        }
        target.insert("type".to_owned(), Value::from(kind));
    }
    converted
}

fn new_metric(metric: &Value, sources: &Sources) -> Value {
    let mut converted = Map::new();
    converted.extend(metric.get("type").map(|kind| ("type".to_owned(), kind.clone())));
    for (name, places) in sources {
        let Some(source) = metric.get(*name).filter(|source| source.is_object()) else { continue };
        let mut made = Map::new();
        for place in *places {
            let value = source.get(place.old).filter(|value| !value.is_null());
            let Some((last, parents)) = place.new.split_last() else { continue };
            let mut fields = &mut made;
            for parent in parents {
                fields = metadata::child(fields, parent);
            }
            fields.extend(value.map(|value| ((*last).to_owned(), value.clone())));
        }
        converted.insert((*name).to_owned(), Value::Object(made));
    }
    Value::Object(converted)
}

// === other annotations ===

fn condition(condition: &Value) -> String {
    let fields = ["type", "status", "lastTransitionTime", "reason", "message", "observedGeneration"];
    ordered(condition, &fields)
}

/// A behavior as the annotation has it: in the words of Kubernetes' internal type, where nothing is left out.
fn old_behavior(behavior: &Value) -> String {
    let rules = |rules: &Value| {
        if !rules.is_object() {
            return "null".to_owned();
        }
        let policy = |policy: &Value| {
            let text = |name| Some(field(policy, name).to_string());
            object([
                ("Type", text("type")),
                ("Value", text("value")),
                ("PeriodSeconds", text("periodSeconds")),
            ])
        };
        let policies = match rules.get("policies") {
            Some(Value::Array(policies)) => {
                format!("[{}]", policies.iter().map(policy).collect::<Vec<_>>().join(","))
            }
            _ => "null".to_owned(),
        };
        let text = |name| Some(field(rules, name).to_string());
        object([
            ("StabilizationWindowSeconds", text("stabilizationWindowSeconds")),
            ("SelectPolicy", text("selectPolicy")),
            ("Policies", Some(policies)),
            ("Tolerance", text("tolerance")),
        ])
    };
    object([
        ("ScaleUp", Some(rules(field(behavior, "scaleUp")))),
        ("ScaleDown", Some(rules(field(behavior, "scaleDown")))),
    ])
}

fn new_case(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}

/// The value with all its fields renamed, and without those that are null.
fn with_case(value: &Value, rename: fn(&str) -> String) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (rename(name), with_case(value, rename)))
            .collect(),
        Value::Array(items) => items.iter().map(|item| with_case(item, rename)).collect(),
        other => other.clone(),
    }
}

// === JSON ===

static NULL: Value = Value::Null;

fn field<'a>(object: &'a Value, name: &str) -> &'a Value {
    object.get(name).unwrap_or(&NULL)
}

fn list<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    field(object, name).as_array().map(Vec::as_slice).unwrap_or_default()
}

/// An object with its fields in this order, as Go writes them; those without a value are left out.
fn object(fields: impl IntoIterator<Item = (&'static str, Option<String>)>) -> String {
    let fields: Vec<String> =
        fields.into_iter().filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?))).collect();
    format!("{{{}}}", fields.join(","))
}

fn ordered(value: &Value, fields: &[&'static str]) -> String {
    object(fields.iter().map(|name| (*name, value.get(*name).map(Value::to_string))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `kubectl autoscale` of version 1.32 writes it.
    #[test]
    fn the_one_metric_of_the_old_version_is_one_of_many() {
        let old = json!({
            "apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
            "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "maxReplicas": 3,
                     "targetCPUUtilizationPercentage": 70},
        });
        let new = convert(&old, "autoscaling/v2");
        let metric = json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}});
        assert_eq!(new["spec"]["metrics"], json!([metric]));
        assert_eq!(new["spec"].get("targetCPUUtilizationPercentage"), None);
        let again = convert(&new, "autoscaling/v1");
        assert_eq!(again["spec"]["targetCPUUtilizationPercentage"], 70);
        assert_eq!(again["metadata"].get("annotations"), None);
    }

    #[test]
    fn a_share_of_the_cpu_is_the_default() {
        let old = json!({"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "spec": {"maxReplicas": 3}});
        let new = convert(&old, "autoscaling/v2");
        assert_eq!(new.pointer("/spec/metrics/0/resource/target/averageUtilization"), Some(&json!(80)));
    }

    /// The texts are those of a running server.
    #[test]
    fn what_the_old_version_cannot_say_travels_in_annotations() {
        let new = json!({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web", "annotations": {"mine": "stays"}},
            "spec": {
                "scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}, "minReplicas": 1, "maxReplicas": 3,
                "metrics": [
                    {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}},
                    {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}},
                    {"type": "Pods", "pods": {"metric": {"name": "hits"}, "target": {"type": "AverageValue", "averageValue": "10"}}},
                    {"type": "Object", "object": {"describedObject": {"kind": "Ingress", "name": "i", "apiVersion": "networking.k8s.io/v1"},
                        "metric": {"name": "rps"}, "target": {"type": "Value", "value": "2k"}}},
                    {"type": "External", "external": {"metric": {"name": "queue", "selector": {"matchLabels": {"a": "b"}}},
                        "target": {"type": "AverageValue", "averageValue": "30"}}},
                ],
                "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60, "selectPolicy": "Min",
                    "policies": [{"type": "Pods", "value": 1, "periodSeconds": 30}]}},
            },
            "status": {
                "desiredReplicas": 2,
                "conditions": [{"type": "AbleToScale", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
            },
        });
        let mut new = new;
        defaults::apply("autoscaling", "v2", "HorizontalPodAutoscaler", &mut new);
        let old = convert(&new, "autoscaling/v1");
        let annotations = &old["metadata"]["annotations"];
        assert_eq!(annotations["mine"], "stays");
        assert_eq!(
            annotations[METRICS],
            concat!(
                r#"[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}},"#,
                r#"{"type":"Pods","pods":{"metricName":"hits","targetAverageValue":"10"}},"#,
                r#"{"type":"Object","object":{"target":{"kind":"Ingress","name":"i","apiVersion":"networking.k8s.io/v1"},"#,
                r#""metricName":"rps","targetValue":"2k"}},"#,
                r#"{"type":"External","external":{"metricName":"queue","metricSelector":{"matchLabels":{"a":"b"}},"targetAverageValue":"30"}}]"#,
            )
        );
        assert_eq!(
            annotations[CONDITIONS],
            r#"[{"type":"AbleToScale","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]"#
        );
        let behavior = annotations[BEHAVIOR].as_str().expect("a text");
        assert!(
            behavior.contains(
                r#""ScaleDown":{"StabilizationWindowSeconds":60,"SelectPolicy":"Min","Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":30}],"Tolerance":null}"#
            ),
            "{behavior}"
        );
        let mut again = convert(&old, "autoscaling/v2");
        // The CPU comes last now.
        let metrics = again["spec"]["metrics"].as_array_mut().expect("a list");
        metrics.rotate_right(1);
        assert_eq!(again, new);
    }
}
