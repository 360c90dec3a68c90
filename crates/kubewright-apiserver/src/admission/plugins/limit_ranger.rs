//! Limit ranges: what containers ask for unless they say, and between what and what it has to be.

use kubewright_quota::{Quantity, ResourceList, pod_limits, pod_requests};
use serde_json::{Value, json};

use super::Attributes;
use crate::{
    admission::Operation,
    registry::{Registry, metadata},
    status::Status,
};

const BUCKET: &str = "/limitranges";
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Numbers up to this one are compared in thousandths.
const MAX_MILLI_VALUE: i128 = i64::MAX as i128 / 1000;

/// Sets what containers do not say, and notes that in the pod.
pub(super) fn admit(registry: &Registry, attributes: &Attributes<'_>, object: Option<&mut Value>) {
    let Some(pod) = object.filter(|_| is_limited(attributes) && is_pod(attributes)) else { return };
    let listing = registry.store.list(BUCKET);
    let prefix = format!("{}/", attributes.request.namespace);
    for (_, range) in listing.range(&prefix, "") {
        set_defaults(limits_of(range.value()), pod);
    }
}

/// Refuses what is not within the limits.
pub(super) fn validate(
    registry: &Registry,
    attributes: &Attributes<'_>,
    object: Option<&Value>,
) -> Result<(), Status> {
    let Some(object) = object.filter(|_| is_limited(attributes)) else { return Ok(()) };
    let listing = registry.store.list(BUCKET);
    let prefix = format!("{}/", attributes.request.namespace);
    for (_, range) in listing.range(&prefix, "") {
        let mut problems: Vec<String> = Vec::new();
        for limit in limits_of(range.value()) {
            if is_pod(attributes) {
                check_pod(limit, object, &mut problems);
            } else {
                check_claim(limit, object, &mut problems);
            }
        }
        // Of several containers with one problem it is said once.
        let mut texts: Vec<String> = Vec::new();
        for problem in problems {
            if !texts.contains(&problem) {
                texts.push(problem);
            }
        }
        match texts.as_slice() {
            [] => {}
            [one] => return Err(attributes.forbidden(Some(object), one)),
            several => {
                return Err(attributes.forbidden(Some(object), &format!("[{}]", several.join(", "))));
            }
        }
    }
    Ok(())
}

fn limits_of(range: &Value) -> &[Value] {
    range["spec"]["limits"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn is_pod(attributes: &Attributes<'_>) -> bool {
    attributes.request.served.definition.plural == "pods"
}

/// Whether limit ranges have a say: what containers ask for cannot be changed but by a resize.
fn is_limited(attributes: &Attributes<'_>) -> bool {
    let is_limited = match attributes.operation() {
        Operation::Create => {
            attributes.is_of("", "pods", "") || attributes.is_of("", "persistentvolumeclaims", "")
        }
        Operation::Update => {
            attributes.is_of("", "pods", "resize") || attributes.is_of("", "persistentvolumeclaims", "")
        }
        Operation::Delete | Operation::Connect => false,
    };
    is_limited && !attributes.old.is_some_and(metadata::is_deleting)
}

fn set_defaults(limits: &[Value], pod: &mut Value) {
    let (mut requests, mut ceilings) = (ResourceList::default(), ResourceList::default());
    for limit in limits.iter().filter(|limit| limit["type"] == "Container") {
        for (defaults, field) in [(&mut requests, "defaultRequest"), (&mut ceilings, "default")] {
            for (name, amount) in ResourceList::of(&limit[field]).iter() {
                defaults.set(name, amount);
            }
        }
    }
    let mut notes = Vec::new();
    for (sort, title) in [("containers", "container"), ("initContainers", "init container")] {
        let containers = pod.pointer_mut(&format!("/spec/{sort}")).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            for (defaults, field, what) in
                [(&requests, "requests", "request"), (&ceilings, "limits", "limit")]
            {
                let set = merge(container, field, defaults);
                if !set.is_empty() {
                    let name = container["name"].as_str().unwrap_or_default();
                    notes.push(format!("{} {what} for {title} {name}", set.join(", ")));
                }
            }
        }
    }
    if !notes.is_empty() {
        let text = format!("LimitRanger plugin set: {}", notes.join("; "));
        metadata::child(metadata::edit(pod), "annotations").insert(ANNOTATION.to_owned(), Value::from(text));
    }
}

/// Adds what is not said, and gives the names of it.
fn merge(container: &mut Value, field: &str, defaults: &ResourceList) -> Vec<String> {
    let has = ResourceList::of(&container["resources"][field]);
    let missing = defaults.filter(|name, _| has.get(name).is_none());
    if !missing.is_empty() {
        let resources = metadata::child(metadata::as_map(container), "resources");
        let amounts = metadata::child(resources, field);
        for (name, amount) in missing.iter() {
            amounts.insert(name.to_owned(), json!(amount.to_string()));
        }
    }
    missing.names().map(str::to_owned).collect()
}

fn check_pod(limit: &Value, pod: &Value, problems: &mut Vec<String>) {
    match limit["type"].as_str() {
        Some("Container") => {
            for sort in ["containers", "initContainers"] {
                for container in pod["spec"][sort].as_array().into_iter().flatten() {
                    let of = |field: &str| ResourceList::of(&container["resources"][field]);
                    check_amounts(limit, &of("requests"), &of("limits"), problems);
                }
            }
        }
        Some("Pod") => check_amounts(limit, &pod_requests(pod), &pod_limits(pod), problems),
        _ => {}
    }
}

fn check_amounts(limit: &Value, requests: &ResourceList, limits: &ResourceList, problems: &mut Vec<String>) {
    let kind = limit["type"].as_str().unwrap_or_default();
    for (name, least) in ResourceList::of(&limit["min"]).iter() {
        problems.extend(below(kind, name, least, requests.get(name), limits.get(name)));
    }
    for (name, most) in ResourceList::of(&limit["max"]).iter() {
        problems.extend(above(kind, name, most, requests.get(name), limits.get(name)));
    }
    for (name, most) in ResourceList::of(&limit["maxLimitRequestRatio"]).iter() {
        problems.extend(apart(kind, name, most, requests.get(name), limits.get(name)));
    }
}

fn check_claim(limit: &Value, claim: &Value, problems: &mut Vec<String>) {
    const KIND: &str = "PersistentVolumeClaim";
    if limit["type"] != KIND {
        return;
    }
    let requests = ResourceList::of(&claim["spec"]["resources"]["requests"]);
    for (name, least) in ResourceList::of(&limit["min"]).iter() {
        problems.extend(below(KIND, name, least, requests.get(name), None));
    }
    for (name, most) in ResourceList::of(&limit["max"]).iter() {
        let text = format!("maximum {name} usage per {KIND} is {most}");
        match requests.get(name) {
            None => problems.push(format!("{text}.  No request is specified")),
            Some(request) if is_less(most, request) => {
                problems.push(format!("{text}, but request is {request}"));
            }
            Some(_) => {}
        }
    }
}

fn below(
    kind: &str,
    name: &str,
    least: Quantity,
    request: Option<Quantity>,
    limit: Option<Quantity>,
) -> Option<String> {
    let text = format!("minimum {name} usage per {kind} is {least}");
    let Some(request) = request else { return Some(format!("{text}.  No request is specified")) };
    if is_less(request, least) {
        return Some(format!("{text}, but request is {request}"));
    }
    let limit = limit.filter(|limit| is_less(*limit, least))?;
    Some(format!("{text}, but limit is {limit}"))
}

fn above(
    kind: &str,
    name: &str,
    most: Quantity,
    request: Option<Quantity>,
    limit: Option<Quantity>,
) -> Option<String> {
    let text = format!("maximum {name} usage per {kind} is {most}");
    let Some(limit) = limit else { return Some(format!("{text}.  No limit is specified")) };
    if is_less(most, limit) {
        return Some(format!("{text}, but limit is {limit}"));
    }
    let request = request.filter(|request| is_less(most, *request))?;
    Some(format!("{text}, but request is {request}"))
}

fn apart(
    kind: &str,
    name: &str,
    most: Quantity,
    request: Option<Quantity>,
    limit: Option<Quantity>,
) -> Option<String> {
    let text = format!("{name} max limit to request ratio per {kind} is {most}");
    let Some(request) = request.filter(|request| !request.is_zero()) else {
        return Some(format!("{text}, but no request is specified or request is 0"));
    };
    let Some(limit) = limit.filter(|limit| !limit.is_zero()) else {
        return Some(format!("{text}, but no limit is specified or limit is 0"));
    };
    let (limit, request) = comparable(limit, request);
    let ratio = approximate(limit) / approximate(request);
    let (observed, allowed) = if most.value() <= MAX_MILLI_VALUE {
        (ratio * 1000.0, approximate(most.milli_value()))
    } else {
        (ratio, approximate(most.value()))
    };
    (observed > allowed).then(|| format!("{text}, but provided ratio is {ratio:.6}"))
}

fn is_less(left: Quantity, right: Quantity) -> bool {
    let (left, right) = comparable(left, right);
    left < right
}

/// Two amounts as whole numbers, of thousandths if they are small enough.
fn comparable(left: Quantity, right: Quantity) -> (i128, i128) {
    if left.value() <= MAX_MILLI_VALUE && right.value() <= MAX_MILLI_VALUE {
        (left.milli_value(), right.milli_value())
    } else {
        (left.value(), right.value())
    }
}

#[allow(clippy::cast_precision_loss, reason = "the ratio is as imprecise elsewhere")]
fn approximate(number: i128) -> f64 {
    number as f64
}
