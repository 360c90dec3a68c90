use kubewright_quota::Quantity;
use kubewright_schema::names;
use serde_json::Value;

use super::{super::Field, resource_name};

const TYPES: [&str; 3] = ["Pod", "Container", "PersistentVolumeClaim"];

pub(super) fn validate(range: Field<'_>) {
    let limits = range.child("spec").child("limits");
    for (index, limit) in limits.items().enumerate() {
        let kind = limit.child("type");
        check_type(kind);
        if limits.items().take(index).any(|other| other.child("type").text() == kind.text()) {
            kind.duplicate(kind.text());
        }
        validate_limit(limit);
    }
}

fn check_type(kind: Field<'_>) {
    let reasons = names::label_key(kind.text());
    if reasons.is_empty() && !kind.text().contains('/') && !TYPES.contains(&kind.text()) {
        kind.invalid(kind.text(), "must be a standard limit type or fully qualified");
    }
    for reason in reasons {
        kind.invalid(kind.text(), reason);
    }
}

fn validate_limit(limit: Field<'_>) {
    let kind = limit.child("type").text();
    let check_names = |list: Field<'_>| {
        for (name, amount) in list.entries() {
            if matches!(kind, "Pod" | "Container") {
                resource_name::validate_of_container(amount, name);
            } else {
                resource_name::validate(amount, name);
            }
        }
    };
    let list = |name: &'static str| limit.child(name);
    check_names(list("max"));
    check_names(list("min"));
    let is_pod = kind == "Pod";
    for field in ["default", "defaultRequest"] {
        if !is_pod {
            check_names(list(field));
        } else if !list(field).is_empty() {
            list(field).forbidden("may not be specified when `type` is 'Pod'");
        }
    }
    let has_storage = |field| list(field).map().is_some_and(|amounts| amounts.contains_key("storage"));
    if kind == "PersistentVolumeClaim" && !has_storage("min") && !has_storage("max") {
        let detail = "either minimum or maximum storage value is required, but neither was provided";
        list("limits").required(detail);
    }
    check_names(list("maxLimitRequestRatio"));
    let mut resources: Vec<&str> = Vec::new();
    for field in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
        if !is_pod || !field.starts_with("default") {
            resources.extend(list(field).entries().map(|(name, _)| name));
        }
    }
    resources.sort_unstable();
    resources.dedup();
    for resource in resources {
        check_resource(limit, resource, is_pod);
    }
}

/// An amount as it is compared, and as it is shown.
#[derive(Clone, Copy)]
struct Amount<'a> {
    quantity: Quantity,
    text: &'a str,
}

fn check_resource(limit: Field<'_>, resource: &str, is_pod: bool) {
    let amount = |field: &'static str| {
        let amount = limit.child(field).map()?.get(resource)?;
        Some(Amount { quantity: Quantity::of(amount), text: amount.as_str().unwrap_or_default() })
    };
    let default_of = |field| if is_pod { None } else { amount(field) };
    let (min, max) = (amount("min"), amount("max"));
    let (default, request) = (default_of("default"), default_of("defaultRequest"));
    let ratio = amount("maxLimitRequestRatio");
    // The field and the value that are shown, then what must not be greater than what, with its name in the message.
    let ordered = [
        ("min", min, "min value", min, "max value", max),
        ("defaultRequest", request, "min value", min, "default request value", request),
        ("defaultRequest", request, "default request value", request, "max value", max),
        ("defaultRequest", request, "default request value", request, "default limit value", default),
        ("default", min, "min value", min, "default value", default),
        ("default", max, "default value", default, "max value", max),
    ];
    for (field, shown, lesser_name, lesser, greater_name, greater) in ordered {
        if let (Some(shown), Some(lesser), Some(greater)) = (shown, lesser, greater)
            && lesser.quantity > greater.quantity
        {
            let detail =
                format!("{lesser_name} {} is greater than {greater_name} {}", lesser.text, greater.text);
            limit.child(field).entry(resource).invalid(shown.text, detail);
        }
    }
    if let Some(ratio) = ratio {
        check_ratio(limit.child("maxLimitRequestRatio").entry(resource), ratio, min, max);
    }
    if let (Some(default), Some(request)) = (default, request)
        && !resource_name::allows_overcommit(resource)
        && default.quantity != request.quantity
    {
        let detail = format!(
            "default value {} must equal to defaultRequest value {} in {resource}",
            default.text, request.text
        );
        limit.child("defaultRequest").entry(resource).invalid(request.text, detail);
    }
}

fn check_ratio(field: Field<'_>, ratio: Amount<'_>, min: Option<Amount<'_>>, max: Option<Amount<'_>>) {
    if ratio.quantity < Quantity::of(&Value::from("1")) {
        field.invalid(ratio.text, format!("ratio {} is less than 1", ratio.text));
    }
    if let (Some(min), Some(max)) = (min, max) {
        let limit = max.quantity.ratio(min.quantity);
        if ratio.quantity.ratio(Quantity::of(&Value::from("1"))) > limit {
            let detail = format!("ratio {} is greater than max/min = {limit:.6}", ratio.text);
            field.invalid(ratio.text, detail);
        }
    }
}
