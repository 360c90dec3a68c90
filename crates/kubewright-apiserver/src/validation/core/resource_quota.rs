use kubewright_quota::Quantity;

use super::{super::Field, resource_name};

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];
const CONFLICTS: [(&str, &str); 2] = [("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")];
const COMPUTE: [&str; 6] =
    ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];

pub(super) fn create(quota: Field<'_>) {
    let spec = quota.child("spec");
    check_amounts(spec.child("hard"));
    check_scopes(spec);
    check_selector(spec);
}

pub(super) fn update(subresource: &str, new: Field<'_>, old: Field<'_>) {
    if subresource == "status" {
        check_amounts(new.child("status").child("hard"));
        check_amounts(new.child("status").child("used"));
        return;
    }
    create(new);
    let (scopes, old_scopes) = (new.child("spec").child("scopes"), old.child("spec").child("scopes"));
    let is_within =
        |one: Field<'_>, other: Field<'_>| one.list().iter().all(|scope| other.list().contains(scope));
    if !is_within(scopes, old_scopes) || !is_within(old_scopes, scopes) {
        scopes.invalid(scopes.value().clone(), "field is immutable");
    }
}

pub(super) fn warnings(quota: Field<'_>) -> Vec<String> {
    let hard = quota.child("spec").child("hard");
    let mut warnings = Vec::new();
    for resource in ["cpu", "memory", "storage", "ephemeral-storage"] {
        let (request, limit) = (format!("requests.{resource}"), format!("limits.{resource}"));
        let is_compute = matches!(resource, "cpu" | "memory");
        let has = |name: &str| hard.map().is_some_and(|hard| hard.contains_key(name));
        let request = if !has(&request) && is_compute { resource.to_owned() } else { request };
        if !has(&request) || !has(&limit) {
            continue;
        }
        let (wanted, most) = (hard.entry(&request), hard.entry(&limit));
        if Quantity::of(wanted.value()) > Quantity::of(most.value()) {
            warnings.push(format!(
                "ResourceQuota {request} ({}) should be less than {limit} ({})",
                wanted.text(),
                most.text()
            ));
        }
    }
    warnings
}

fn check_amounts(amounts: Field<'_>) {
    for (name, amount) in amounts.entries() {
        resource_name::validate(amount, name);
        if !name.contains('/') && !is_counted(name) {
            amount.invalid(name, "must be a standard resource for quota");
        }
        resource_name::validate_amount(amount, name);
    }
}

/// Whether a quota can count the resource, which is one of Kubernetes.
fn is_counted(name: &str) -> bool {
    name != "storage" && resource_name::is_standard(name)
}

/// Whether what the scope tells apart has the resource.
fn has_resource(scope: &str, resource: &str) -> bool {
    match scope {
        "Terminating"
        | "NotTerminating"
        | "NotBestEffort"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => resource == "pods" || COMPUTE.contains(&resource),
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => matches!(resource, "persistentvolumeclaims" | "requests.storage"),
        _ => true,
    }
}

fn resources_without<'a>(spec: Field<'a>, scope: &'a str) -> impl Iterator<Item = &'a str> {
    let names = spec.child("hard").entries().map(|(name, _)| name);
    names.filter(move |name| is_counted(name) && !has_resource(scope, name))
}

fn check_scopes(spec: Field<'_>) {
    let scopes = spec.child("scopes");
    let invalid = |detail: &str| scopes.invalid(scopes.value().clone(), detail);
    for scope in scopes.items().map(Field::text) {
        if !SCOPES.contains(&scope) {
            invalid("unsupported scope");
        }
        for _ in resources_without(spec, scope) {
            invalid("unsupported scope applied to resource");
        }
    }
    let has = |scope| scopes.items().any(|own| own.text() == scope);
    for _ in CONFLICTS.iter().filter(|(one, other)| has(*one) && has(*other)) {
        invalid("conflicting scopes");
    }
}

fn check_selector(spec: Field<'_>) {
    let selector = spec.child("scopeSelector");
    let expressions = selector.child("matchExpressions");
    for requirement in expressions.list() {
        // Kubernetes does not say which one.
        let requirement = expressions.with(requirement);
        let (scope, operator, values) =
            (requirement.child("scopeName"), requirement.child("operator"), requirement.child("values"));
        if !SCOPES.contains(&scope.text()) {
            scope.invalid(scope.text(), "unsupported scope");
        }
        for _ in resources_without(spec, scope.text()) {
            let whole = expressions.with(selector.value());
            whole.invalid_as("core.ScopeSelector", "unsupported scope applied to resource");
        }
        let has_values = matches!(scope.text(), "PriorityClass" | "VolumeAttributesClass");
        if !has_values && SCOPES.contains(&scope.text()) && operator.text() != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                          ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, \
                          ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
            operator.invalid(operator.text(), detail);
        }
        match operator.text() {
            "In" | "NotIn" if values.is_empty() => {
                values.required(
                    "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
                );
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail =
                    "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                values.invalid(values.value().clone(), detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => operator.invalid(other, "not a valid selector operator"),
        }
    }
    let has =
        |scope| expressions.list().iter().any(|own| own.get("scopeName").is_some_and(|name| name == scope));
    for _ in CONFLICTS.iter().filter(|(one, other)| has(*one) && has(*other)) {
        let scopes = spec.child("scopes");
        expressions.invalid(scopes.value().clone(), "conflicting scopes");
    }
}
