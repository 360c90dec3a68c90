//! Quotas: an object that falls under one is charged, or refused if that would be more than it allows.
//!
//! The charge is added to the `status.used` of the quota. What is given back when an object goes is the quota controller's
//! affair, which counts again.

use std::{
    collections::BTreeSet,
    sync::{Arc, PoisonError},
};

use kubewright_quota::{Evaluator, ResourceList, Scopes};
use serde_json::Value;

use super::Attributes;
use crate::{
    admission::Operation,
    registry::{Registry, Served, metadata},
    status::Status,
    store::Object,
};

const BUCKET: &str = "/resourcequotas";

/// Who writes the charges.
const FIELD_MANAGER: &str = "kube-apiserver";

/// How often a quota may be written by others meanwhile.
const TRIES: usize = 4;

/// What a quota will have used.
struct Charge {
    quota: Arc<Object>,
    used: ResourceList,
}

/// Charges the quotas of the namespace for an object, of a dry run in thought only.
///
/// Of several concurrent creates one after the other is charged, so that together they never use more than a quota allows.
///
/// # Errors
/// 403 if a quota does not allow it, 409 if others do not cease to write one of the quotas.
pub(super) fn charge(registry: &Registry, attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
    let request = attributes.request;
    if request.namespace.is_empty() || attributes.is_namespace() {
        return Ok(());
    }
    let prefix = format!("{}/", request.namespace);
    if registry.store.list(BUCKET).range(&prefix, "").next().is_none() {
        return Ok(());
    }
    let definition = &request.served.definition;
    let Some(evaluator) = Evaluator::of(&definition.group, &definition.plural) else { return Ok(()) };
    let is_charged = match (attributes.operation(), attributes.old) {
        (Operation::Create, _) => request.subresource.is_empty(),
        (Operation::Update, Some(old)) => evaluator.is_changed_by_update(&request.subresource, old, object),
        _ => false,
    };
    if !is_charged {
        return Ok(());
    }
    let catalog = registry.catalog();
    let Some(served) = catalog.find("", "v1", "resourcequotas") else { return Ok(()) };
    let _charging = registry.admission.charging.lock().unwrap_or_else(PoisonError::into_inner);
    let mut tries = TRIES;
    let mut charged: BTreeSet<Arc<str>> = BTreeSet::new();
    loop {
        let listing = registry.store.list(BUCKET);
        let mut charges = Vec::new();
        for (key, quota) in listing.range(&prefix, "") {
            if !charged.contains(key)
                && let Some(used) = assess(registry, attributes, &evaluator, quota, object)?
            {
                charges.push((key.clone(), Charge { quota: quota.clone(), used }));
            }
        }
        if attributes.is_dry_run() {
            return Ok(());
        }
        let mut late = None;
        for (key, charge) in charges {
            let name = metadata::name(charge.quota.value()).to_owned();
            if write(registry, served, &key, &charge) {
                charged.insert(key);
            } else {
                late = Some(name);
            }
        }
        tries -= 1;
        match late {
            None => return Ok(()),
            Some(name) if tries == 0 => return Err(Status::modified(&served.group_resource(), &name)),
            Some(_) => {}
        }
    }
}

/// Stores what a quota has used; `false` if it was changed meanwhile.
fn write(registry: &Registry, served: &Served, key: &str, charge: &Charge) -> bool {
    let old = charge.quota.value();
    let mut new = old.clone();
    metadata::child(metadata::as_map(&mut new), "status").insert("used".to_owned(), charge.used.to_value());
    let new = served.field_manager("status").update(old, new, FIELD_MANAGER, registry.clock.now());
    registry.store.replace(&served.bucket, key, charge.quota.revision(), new).is_ok()
}

/// What the quota will have used with the object; `None` if it is not about the object, or nothing changes.
fn assess(
    registry: &Registry,
    attributes: &Attributes<'_>,
    evaluator: &Evaluator,
    quota: &Object,
    object: &Value,
) -> Result<Option<ResourceList>, Status> {
    let quota = quota.value();
    let name = metadata::name(quota);
    let refuse = |why: String| Err(attributes.forbidden(Some(object), &why));
    let status = &quota["status"];
    let (hard, used) = (ResourceList::of(&status["hard"]), ResourceList::of(&status["used"]));
    let limited: Vec<&str> = hard.names().filter(|name| evaluator.counts(name)).collect();
    let scopes = Scopes::of(&quota["spec"]);
    if limited.is_empty() || !evaluator.is_in_scope(&scopes, object) {
        return Ok(None);
    }
    if let Err(why) = evaluator.require(&limited, object) {
        return refuse(format!("failed quota: {name}: {why}"));
    }
    if limited.iter().any(|resource| used.get(resource).is_none()) {
        return refuse(format!("status unknown for quota: {name}, resources: {}", limited.join(",")));
    }
    let now = registry.clock.now();
    let mut usage = evaluator.usage(object, now);
    let negative = usage.filter(|_, amount| amount.is_negative());
    if !negative.is_empty() {
        let names: Vec<&str> = negative.names().collect();
        return refuse(format!("quota usage is negative for resource(s): {}", names.join(",")));
    }
    // What was charged before is not charged again.
    if let Some(old) = attributes.old.filter(|old| evaluator.is_in_scope(&scopes, old)) {
        usage = usage.excess(&evaluator.usage(old, now));
    }
    let requested = usage.filter(|name, amount| !amount.is_zero() && hard.get(name).is_some());
    if requested.is_empty() {
        return Ok(None);
    }
    let mut total = used.clone();
    total.add(&requested);
    if attributes.request.subresource != "status" {
        let exceeds = |name: &str| total.get(name) > hard.get(name);
        let exceeding = requested.filter(|name, _| exceeds(name));
        if !exceeding.is_empty() {
            let of = |list: &ResourceList| list.filter(|name, _| exceeding.get(name).is_some()).to_string();
            return refuse(format!(
                "exceeded quota: {name}, requested: {exceeding}, used: {}, limited: {}",
                of(&used),
                of(&hard)
            ));
        }
    }
    Ok(Some(total))
}
