//! Pod security: what pods may do is limited by the labels of their namespace.
//!
//! `policy.rs` reads the labels, `checks.rs` is the table of checks by level and version, `baseline.rs` and `restricted.rs` are the
//! checks.

mod baseline;
mod checks;
mod pod;
mod policy;
mod restricted;

use std::collections::BTreeMap;

use serde_json::Value;

use self::{
    checks::evaluate,
    pod::Pod,
    policy::{Level, Policy, Standard},
};
use super::Attributes;
use crate::{
    admission::Operation,
    registry::{Registry, metadata},
    status::Status,
};

/// How many pods of a namespace are looked at when its level changes.
const MOST_PODS: usize = 3000;

pub(super) fn validate(
    registry: &Registry,
    attributes: &Attributes<'_>,
    object: Option<&Value>,
) -> Result<(), Status> {
    let Some(object) = object else { return Ok(()) };
    let definition = &attributes.request.served.definition;
    let subresource = attributes.request.subresource.as_str();
    match (definition.group.as_str(), definition.plural.as_str(), subresource) {
        ("", "namespaces", "") => validate_namespace(registry, attributes, object),
        ("", "pods", "" | "ephemeralcontainers" | "resize") => validate_pod(registry, attributes, object),
        ("", "replicationcontrollers" | "podtemplates", "")
        | ("apps", "replicasets" | "deployments" | "statefulsets" | "daemonsets", "")
        | ("batch", "jobs" | "cronjobs", "") => {
            warn_of_template(registry, attributes, object);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The policy of the namespace that the request is in.
fn policy_of(registry: &Registry, attributes: &Attributes<'_>) -> Policy {
    let namespace = registry.store.get("/namespaces", &attributes.request.namespace);
    namespace.map(|namespace| Policy::read(namespace.value()).0).unwrap_or_default()
}

fn validate_pod(registry: &Registry, attributes: &Attributes<'_>, pod: &Value) -> Result<(), Status> {
    let policy = policy_of(registry, attributes);
    if policy.is_privileged() {
        return Ok(());
    }
    if let Some(old) = attributes.old.filter(|_| attributes.operation() == Operation::Update)
        && !runs_other_images(pod, old)
    {
        return Ok(());
    }
    let seen = Pod::of(pod);
    let violations = evaluate(policy.enforce, &seen);
    if !violations.is_empty() {
        let why = format!("violates PodSecurity \"{}\": {}", policy.enforce, checks::details(&violations));
        let resource = attributes.request.served.group_resource();
        return Err(Status::forbidden(&resource, attributes.name(Some(pod)), &why));
    }
    warn(attributes, policy.warn, &seen);
    Ok(())
}

/// Warns whoever writes a template of pods that would be refused.
fn warn_of_template(registry: &Registry, attributes: &Attributes<'_>, object: &Value) {
    let policy = policy_of(registry, attributes);
    let template = match attributes.request.served.definition.plural.as_str() {
        "podtemplates" => &object["template"],
        "cronjobs" => &object["spec"]["jobTemplate"]["spec"]["template"],
        _ => &object["spec"]["template"],
    };
    if template.is_object() {
        warn(attributes, policy.warn, &Pod::of(template));
    }
}

fn warn(attributes: &Attributes<'_>, standard: Standard, pod: &Pod<'_>) {
    let violations = evaluate(standard, pod);
    if !violations.is_empty() {
        let text = format!("would violate PodSecurity \"{standard}\": {}", checks::details(&violations));
        attributes.request.warnings.extend([text]);
    }
}

/// Whether an update changes what is run.
fn runs_other_images(pod: &Value, old: &Value) -> bool {
    let list = |pod: &Value, sort: &str| pod["spec"][sort].as_array().cloned().unwrap_or_default();
    for sort in ["containers", "initContainers"] {
        let (new, old) = (list(pod, sort), list(old, sort));
        if new.len() != old.len() || new.iter().zip(&old).any(|(new, old)| new["image"] != old["image"]) {
            return true;
        }
    }
    let before = list(old, "ephemeralContainers");
    list(pod, "ephemeralContainers").iter().any(|container| {
        let old = before.iter().find(|old| old["name"] == container["name"]);
        old.is_none_or(|old| old["image"] != container["image"])
    })
}

fn validate_namespace(
    registry: &Registry,
    attributes: &Attributes<'_>,
    namespace: &Value,
) -> Result<(), Status> {
    let (new, errors) = Policy::read(namespace);
    let (old, old_errors) = match attributes.old {
        Some(old) => Policy::read(old),
        None => (Policy::default(), kubewright_schema::ErrorList::new()),
    };
    let is_update = attributes.operation() == Operation::Update;
    if !(is_update && errors == old_errors) {
        let kind = attributes.request.served.definition.group_kind();
        Status::check(&kind, attributes.name(Some(namespace)), &errors)?;
    }
    let is_stricter = is_update
        && new.enforce != old.enforce
        && new.enforce.level != Level::Privileged
        && (new.enforce.version != old.enforce.version || new.enforce.level > old.enforce.level);
    if is_stricter {
        let name = metadata::name(namespace);
        attributes.request.warnings.extend(warn_of_pods(registry, name, new.enforce));
    }
    Ok(())
}

/// Which pods of a namespace would be refused from now on.
fn warn_of_pods(registry: &Registry, namespace: &str, standard: Standard) -> Vec<String> {
    let listing = registry.store.list("/pods");
    let prefix = format!("{namespace}/");
    let pods: Vec<&Value> = listing.range(&prefix, "").map(|(_, pod)| pod.value()).collect();
    // Of the pods of one controller, the first is as good as the others, which come last.
    let mut controllers: Vec<&str> = Vec::new();
    let (mut first, mut repeated) = (Vec::new(), Vec::new());
    for pod in &pods {
        match controller_of(pod) {
            Some(uid) if controllers.contains(&uid) => repeated.push(*pod),
            Some(uid) => {
                controllers.push(uid);
                first.push(*pod);
            }
            None => first.push(*pod),
        }
    }
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for pod in first.into_iter().chain(repeated).take(MOST_PODS) {
        let violations = evaluate(standard, &Pod::of(pod));
        if !violations.is_empty() {
            reasons.entry(checks::reasons(&violations)).or_default().push(metadata::name(pod));
        }
    }
    let mut warnings = Vec::new();
    if pods.len() > MOST_PODS {
        warnings.push(format!(
            "new PodSecurity enforce level only checked against the first {MOST_PODS} of {} existing pods",
            pods.len()
        ));
    }
    if !reasons.is_empty() {
        warnings.push(format!(
            "existing pods in namespace {namespace:?} violate the new PodSecurity enforce level \"{standard}\""
        ));
    }
    let mut texts: Vec<String> = reasons
        .into_iter()
        .map(|(reason, names)| {
            let first = names.iter().min().copied().unwrap_or_default();
            match names.len() {
                1 => format!("{first}: {reason}"),
                2 => format!("{first} (and 1 other pod): {reason}"),
                several => format!("{first} (and {} other pods): {reason}", several - 1),
            }
        })
        .collect();
    texts.sort_unstable();
    warnings.append(&mut texts);
    warnings
}

fn controller_of(pod: &Value) -> Option<&str> {
    let owners = metadata::get(pod, "ownerReferences")?.as_array()?;
    owners.iter().find(|owner| owner["controller"] == true)?["uid"].as_str()
}
