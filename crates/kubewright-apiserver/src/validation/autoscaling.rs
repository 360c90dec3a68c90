//! Autoscalers, in the version in which they are stored.

use kubewright_quota::Quantity;

use kubewright_schema::names;

use super::{Field, core::resource_name};

const METRICS: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];
/// Where a metric has what its type says, in the order in which Kubernetes looks.
const SOURCES: [(&str, &str); 5] = [
    ("Object", "object"),
    ("External", "external"),
    ("Pods", "pods"),
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
];
const LONGEST_PERIOD: i64 = 1800;
const LONGEST_WINDOW: i64 = 3600;

pub(super) fn create(autoscaler: Field<'_>) {
    let spec = autoscaler.child("spec");
    let target = spec.child("scaleTargetRef");
    let may_be_core = target.child("kind").text() == "ReplicationController";
    validate(spec, Some(may_be_core), true);
}

pub(super) fn update(subresource: &str, new: Field<'_>, old: Field<'_>) {
    if subresource == "status" {
        validate_status(new.child("status"));
        return;
    }
    let (spec, old_spec) = (new.child("spec"), old.child("spec"));
    let target = spec.child("scaleTargetRef");
    let is_same = ["apiVersion", "kind"]
        .iter()
        .all(|field| target.child(field).text() == old_spec.child("scaleTargetRef").child(field).text());
    let may_be_core = target.child("kind").text() == "ReplicationController";
    let has_invalid = |metric: Field<'_>| {
        let version = metric.child("object").child("describedObject").child("apiVersion");
        metric.child("type").text() == "Object" && names::api_version_problem(version.text()).is_some()
    };
    let checks_metrics = !old_spec.child("metrics").items().any(has_invalid);
    validate(spec, (!is_same).then_some(may_be_core), checks_metrics);
}

/// `target` says whether the version of what is scaled is looked at, and whether it may be one of the core group.
fn validate(spec: Field<'_>, target: Option<bool>, checks_metrics: bool) {
    let (least, most) = (spec.child("minReplicas"), spec.child("maxReplicas"));
    if least.int().is_some_and(|least| most.number() < least) {
        most.invalid(most.number(), "must be greater than or equal to `minReplicas`");
    }
    check_reference(spec.child("scaleTargetRef"), target);
    let metrics = spec.child("metrics");
    for metric in metrics.items() {
        check_metric(metric, checks_metrics);
    }
    let is_outside = |metric: Field<'_>| matches!(metric.child("type").text(), "Object" | "External");
    if least.int() == Some(0) && !metrics.items().any(is_outside) {
        let detail =
            "must specify at least one Object or External metric to support scaling to zero replicas";
        metrics.forbidden(detail);
    }
    for direction in ["scaleUp", "scaleDown"] {
        let rules = spec.child("behavior").child(direction);
        if rules.is_set() {
            check_rules(rules);
        }
    }
    // These are found after all else.
    least.not_negative();
    match most.number() {
        0 => most.required(""),
        ..0 => most.invalid(most.number(), "must be greater than or equal to 1"),
        _ => {}
    }
}

fn validate_status(status: Field<'_>) {
    for condition in status.child("conditions").items() {
        condition.child("observedGeneration").not_negative();
    }
    status.child("currentReplicas").not_negative();
    status.child("desiredReplicas").not_negative();
}

/// `version` says whether the version is looked at, and whether it may be one of the core group.
fn check_reference(reference: Field<'_>, version: Option<bool>) {
    for field in ["kind", "name"] {
        if reference.child(field).require() {
            reference.child(field).check(names::path_segment_name);
        }
    }
    let Some(may_be_core) = version else { return };
    let version = reference.child("apiVersion");
    if let Some(problem) = names::api_version_problem(version.text()) {
        version.invalid(version.text(), problem);
    } else if !may_be_core && !version.text().contains('/') {
        version.invalid(version.text(), "apiVersion must specify API group");
    }
}

fn check_metric(metric: Field<'_>, checks_version: bool) {
    let kind = metric.child("type");
    kind.require_or("must specify a metric source type");
    kind.one_of(&METRICS);
    let present: Vec<&'static str> =
        SOURCES.into_iter().map(|(_, field)| field).filter(|field| metric.child(field).is_set()).collect();
    if let Some(first) = present.first() {
        check_source(metric.child(first), first, checks_version);
    }
    let own = SOURCES.iter().find(|(name, _)| *name == kind.text()).map(|(_, field)| *field);
    if let Some(own) = own.map(|own| metric.child(own)).filter(|own| !own.is_set()) {
        own.required("must populate information for the given metric source");
    }
    if present.len() != 1 {
        for other in present.into_iter().filter(|other| Some(*other) != own) {
            metric.child(other).forbidden("must populate the given metric source only");
        }
    }
}

fn check_source(source: Field<'_>, kind: &str, checks_version: bool) {
    let target = source.child("target");
    match kind {
        "object" => {
            check_reference(source.child("describedObject"), checks_version.then_some(true));
            check_metric_name(source);
            check_target(target);
            if !target.child("value").is_set() && !target.child("averageValue").is_set() {
                target.child("averageValue").required("must set either a target value or averageValue");
            }
        }
        "external" => {
            check_metric_name(source);
            check_target(target);
            match (target.child("value").is_set(), target.child("averageValue").is_set()) {
                (false, false) => {
                    let detail = "must set either a target value for metric or a per-pod target";
                    target.child("averageValue").required(detail);
                }
                (true, true) => {
                    let detail = "may not set both a target value for metric and a per-pod target";
                    target.child("value").forbidden(detail);
                }
                _ => {}
            }
        }
        "pods" => {
            check_metric_name(source);
            check_target(target);
            if !target.child("averageValue").is_set() {
                target.child("averageValue").required("must specify a positive target averageValue");
            }
        }
        _ => {
            let (name, container) = (source.child("name"), source.child("container"));
            let has_name = name.require_or("must specify a resource name");
            if kind == "containerResource" {
                if has_name {
                    resource_name::validate_of_container(name, name.text());
                }
                if container.require_or("must specify a container") {
                    container.check(names::dns1123_label);
                }
            }
            check_target(target);
            check_resource_target(target);
        }
    }
}

fn check_resource_target(target: Field<'_>) {
    match (target.child("averageUtilization").is_set(), target.child("averageValue").is_set()) {
        (false, false) => {
            let detail = "must set either a target raw value or a target utilization";
            target.child("averageUtilization").required(detail);
        }
        (true, true) => {
            let detail = "may not set both a target raw value and a target utilization";
            target.child("averageValue").forbidden(detail);
        }
        _ => {}
    }
}

fn check_metric_name(source: Field<'_>) {
    let name = source.child("metric").child("name");
    if name.require_or("must specify a metric name") {
        name.check(names::path_segment_name);
    }
}

fn check_target(target: Field<'_>) {
    let kind = target.child("type");
    kind.require_or("must specify a metric target type");
    if !matches!(kind.text(), "Utilization" | "Value" | "AverageValue") {
        kind.invalid(kind.text(), "must be either Utilization, Value, or AverageValue");
    }
    for field in ["value", "averageValue"] {
        let amount = target.child(field);
        if amount.is_set() && !Quantity::of(amount.value()).is_positive() {
            amount.invalid(amount.value().clone(), "must be positive");
        }
    }
    let utilization = target.child("averageUtilization");
    if let Some(percent) = utilization.int().filter(|percent| *percent < 1) {
        utilization.invalid(percent, "must be greater than 0");
    }
}

fn check_rules(rules: Field<'_>) {
    let window = rules.child("stabilizationWindowSeconds");
    if window.number() < 0 {
        window.invalid(window.number(), "must be greater than or equal to zero");
    }
    if window.number() > LONGEST_WINDOW {
        window.invalid(window.number(), format!("must be less than or equal to {LONGEST_WINDOW}"));
    }
    if rules.child("selectPolicy").is_set() {
        rules.child("selectPolicy").one_of(&["Disabled", "Max", "Min"]);
    }
    let policies = rules.child("policies");
    if policies.is_empty() {
        policies.required("must specify at least one Policy");
    }
    for policy in policies.items() {
        policy.child("type").one_of(&["Percent", "Pods"]);
        let (value, period) = (policy.child("value"), policy.child("periodSeconds"));
        for number in [value, period] {
            if number.number() <= 0 {
                number.invalid(number.number(), "must be greater than zero");
            }
        }
        if period.number() > LONGEST_PERIOD {
            period.invalid(period.number(), format!("must be less than or equal to {LONGEST_PERIOD}"));
        }
    }
    let tolerance = rules.child("tolerance");
    if tolerance.is_set() && Quantity::of(tolerance.value()).is_negative() {
        tolerance.invalid(tolerance.value().clone(), "must be greater than or equal to 0");
    }
}
