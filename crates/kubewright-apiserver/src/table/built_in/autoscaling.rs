use super::{Cells, Object, first_of, row};

pub(super) fn cells(kind: &str) -> Option<Cells> {
    Some(match kind {
        "HorizontalPodAutoscaler" => horizontal_pod_autoscaler,
        "Scale" => |object| {
            row![object.name(), object.int("/spec/replicas"), object.int("/status/replicas"), object.age()]
        },
        _ => return None,
    })
}

fn horizontal_pod_autoscaler(object: Object<'_>) -> Vec<serde_json::Value> {
    let target =
        format!("{}/{}", object.text("/spec/scaleTargetRef/kind"), object.text("/spec/scaleTargetRef/name"));
    let minimum = object.get("/spec/minReplicas").map_or_else(|| "<unset>".into(), Object::to_text);
    row![
        object.name(),
        target,
        metrics(object),
        minimum,
        object.int("/spec/maxReplicas"),
        object.int("/status/currentReplicas"),
        object.age(),
    ]
}

fn metrics(object: Object<'_>) -> String {
    // autoscaling/v1 has one metric, in fields of its own.
    if let Some(target) = object.get("/spec/targetCPUUtilizationPercentage") {
        let current = object.get("/status/currentCPUUtilizationPercentage");
        return format!("cpu: {}/{}", percent(current, "<unknown>"), percent(Some(target), ""));
    }
    let mut current = object.list("/status/currentMetrics");
    let texts: Vec<String> =
        object.list("/spec/metrics").map(|metric| describe(metric, current.next())).collect();
    if texts.is_empty() { "<none>".into() } else { first_of(&texts, 2, ", ") }
}

/// One metric: what it is now and what it should be.
fn describe(metric: Object<'_>, status: Option<Object<'_>>) -> String {
    let (source, named) = match metric.text("/type") {
        "External" => ("/external", false),
        "Pods" => ("/pods", false),
        "Object" => ("/object", false),
        "Resource" => ("/resource", true),
        "ContainerResource" => ("/containerResource", true),
        _ => return "<unknown type>".into(),
    };
    let Some(metric) = metric.get(source) else { return "<unknown type>".into() };
    let current = status.and_then(|status| status.get(source)).and_then(|status| status.get("/current"));
    let quantity = |value: Option<Object<'_>>, path: &str| {
        value.map_or_else(|| "<unknown>".into(), |value| value.quantity(path))
    };
    let average = metric.has("/target/averageValue");
    if named {
        let name = metric.text("/name");
        return if average {
            let target = metric.quantity("/target/averageValue");
            format!("{name}: {}/{target}", quantity(current, "/averageValue"))
        } else {
            let now = current.and_then(|current| current.get("/averageUtilization"));
            let target = metric.get("/target/averageUtilization");
            format!("{name}: {}/{}", percent(now, "<unknown>"), percent(target, "<auto>"))
        };
    }
    if source == "/pods" {
        return format!("{}/{}", quantity(current, "/averageValue"), metric.quantity("/target/averageValue"));
    }
    if average {
        let current = current.filter(|current| current.has("/averageValue"));
        format!("{}/{} (avg)", quantity(current, "/averageValue"), metric.quantity("/target/averageValue"))
    } else {
        format!("{}/{}", quantity(current, "/value"), metric.quantity("/target/value"))
    }
}

fn percent(value: Option<Object<'_>>, absent: &str) -> String {
    value.map_or_else(|| absent.to_owned(), |value| format!("{}%", value.to_text()))
}
