//! The verbs that only pods have: being bound to a node and being evicted.

use serde_json::{Value, json};

use super::{Deleted, Edit, Registry, Request, metadata};
use crate::{
    selector::LabelSelector,
    status::{Cause, GroupResource, Status},
    store::Object,
    validation,
    wire::options::{DeleteOptions, WriteOptions},
};

/// How long a client waits that evicts a pod whose budget nobody has looked at yet.
const SECONDS_TO_PROCESS_A_BUDGET: u32 = 10;

impl Registry {
    /// Puts a pod on the node that a `Binding` names. Gives the success `Status`.
    ///
    /// # Errors
    /// 404, 409 if it is on a node or about to go, 500 if the binding names no node.
    pub(crate) async fn bind(
        &self,
        request: &Request,
        options: &WriteOptions,
        binding: &Value,
    ) -> Result<Value, Status> {
        if metadata::name(binding) != request.name {
            return Err(Status::bad_request("name in URL does not match name in Binding object"));
        }
        let errors = validation::binding(binding);
        if !errors.is_empty() {
            return Err(Status::untyped(errors.to_string()));
        }
        let node = binding.pointer("/target/name").and_then(Value::as_str).unwrap_or_default();
        let pod = Request { subresource: "binding".to_owned(), ..request.clone() }.admitted();
        let refuse =
            |why: String| Status::conflict(&GroupResource::new("", "pods/binding"), &request.name, &why);
        let make = |old: Option<&Value>| {
            let mut new = old.cloned().unwrap_or_default();
            let name = &request.name;
            if metadata::is_deleting(&new) {
                return Err(refuse(format!("pod {name} is being deleted, cannot be assigned to a host")));
            }
            if let Some(there) =
                new.pointer("/spec/nodeName").and_then(Value::as_str).filter(|node| !node.is_empty())
            {
                return Err(refuse(format!("pod {name} is already assigned to node {there:?}")));
            }
            if new
                .pointer("/spec/schedulingGates")
                .and_then(Value::as_array)
                .is_some_and(|gates| !gates.is_empty())
            {
                return Err(refuse(format!("pod {name} has non-empty .spec.schedulingGates")));
            }
            for field in ["annotations", "labels"] {
                if let Some(entries) = metadata::get(binding, field).and_then(Value::as_object) {
                    metadata::child(metadata::edit(&mut new), field).extend(entries.clone());
                }
            }
            let fields = metadata::as_map(&mut new);
            metadata::child(fields, "spec").insert("nodeName".to_owned(), Value::from(node));
            set_scheduled(metadata::child(fields, "status"), &self.now());
            Ok(new)
        };
        let edit =
            Edit { make: &make, create_missing: false, tracked: false, is_replacement: false, view: None };
        self.update(&pod, options, &edit).await?;
        Ok(success())
    }

    /// Deletes a pod if its disruption budget allows that. Gives the success `Status`.
    ///
    /// # Errors
    /// 400 if it is the eviction of another pod, 404, 429 if the budget does not allow it now, 500 if several budgets claim the pod.
    pub(crate) fn evict(
        &self,
        request: &Request,
        options: &WriteOptions,
        eviction: &Value,
    ) -> Result<Value, Status> {
        if metadata::name(eviction) != request.name {
            return Err(Status::bad_request("name in URL does not match name in Eviction object"));
        }
        let mut delete = DeleteOptions::parse(&crate::wire::Query::default(), eviction.get("deleteOptions"))?;
        delete.dry_run |= options.dry_run;
        let pod =
            self.store.get(&request.served.bucket, &request.key()).ok_or_else(|| request.not_found())?;
        if !is_over(pod.value()) && !metadata::is_deleting(pod.value()) {
            self.take_disruption(request, pod.value(), delete.dry_run)?;
        }
        if !delete.dry_run {
            self.note_eviction(request, &mut delete);
        }
        let pod = Request { subresource: String::new(), ..request.clone() };
        match self.delete_now(&pod, &delete)? {
            Deleted::Gone(_) | Deleted::Going(_) => Ok(success()),
        }
    }

    /// Says in the pod's status why it goes. Preconditions that do not hold are left for the delete to refuse.
    fn note_eviction(&self, request: &Request, delete: &mut DeleteOptions) {
        while let Some(pod) = self.store.get(&request.served.bucket, &request.key()) {
            let (uid, version) = (metadata::uid(pod.value()), metadata::resource_version(pod.value()));
            let holds = |wanted: &Option<String>, own: &str| {
                wanted.as_deref().is_none_or(|wanted| wanted.is_empty() || wanted == own)
            };
            if !holds(&delete.uid, uid) || !holds(&delete.resource_version, version) {
                return;
            }
            let mut new = pod.value().clone();
            let condition = json!({
                "type": "DisruptionTarget",
                "status": "True",
                "reason": "EvictionByEvictionAPI",
                "message": "Eviction API: evicting",
                "lastProbeTime": null,
                "lastTransitionTime": self.now(),
            });
            set_condition(metadata::child(metadata::as_map(&mut new), "status"), condition);
            let stored = self.store.replace(&request.served.bucket, &request.key(), pod.revision(), new);
            if let Ok(stored) = stored {
                if let Some(version) = &mut delete.resource_version {
                    *version = stored.revision().to_string();
                }
                return;
            }
        }
    }

    /// Counts an eviction against the pod's disruption budget.
    fn take_disruption(&self, request: &Request, pod: &Value, dry_run: bool) -> Result<(), Status> {
        let catalog = self.catalog();
        let Some(served) = catalog.find("policy", "v1", "poddisruptionbudgets") else { return Ok(()) };
        loop {
            let listing = self.store.list(&served.bucket);
            let prefix = served.prefix(&request.namespace);
            let budgets: Vec<_> = listing
                .range(&prefix, "")
                .map(|(_, budget)| budget)
                .filter(|budget| selects(budget.value(), pod))
                .collect();
            let budget = match budgets.as_slice() {
                [] => return Ok(()),
                [budget] => *budget,
                _ => {
                    return Err(Status::internal(
                        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not \
                         support.",
                    ));
                }
            };
            if !is_ready(pod) && lets_unready_go(budget.value()) {
                return Ok(());
            }
            let new = self.disrupt(&request.name, budget)?;
            if dry_run {
                return Ok(());
            }
            let key = served.key(&request.namespace, metadata::name(budget.value()));
            if self.store.replace(&served.bucket, &key, budget.revision(), new).is_ok() {
                return Ok(());
            }
        }
    }

    /// The budget after one more disruption.
    fn disrupt(&self, pod: &str, budget: &Object) -> Result<Value, Status> {
        let budget = budget.value();
        let status = |field: &str| {
            budget
                .get("status")
                .and_then(|status| status.get(field))
                .and_then(Value::as_i64)
                .unwrap_or_default()
        };
        let name = metadata::name(budget);
        let refuse = |message: String, retry_after: u32| {
            let cause = Cause { reason: "DisruptionBudget".to_owned(), message, field: String::new() };
            let message = "Cannot evict pod as it would violate the pod's disruption budget.";
            Status::too_many_requests(message, retry_after).with_cause(cause)
        };
        if status("observedGeneration") < metadata::generation(budget) {
            let message = format!("The disruption budget {name} is still being processed by the server.");
            return Err(refuse(message, SECONDS_TO_PROCESS_A_BUDGET));
        }
        let allowed = status("disruptionsAllowed");
        if allowed <= 0 {
            let message = format!(
                "The disruption budget {name} needs {} healthy pods and has {} currently",
                status("desiredHealthy"),
                status("currentHealthy")
            );
            return Err(refuse(message, 0));
        }
        let mut new = budget.clone();
        let fields = metadata::child(metadata::as_map(&mut new), "status");
        fields.insert("disruptionsAllowed".to_owned(), Value::from(allowed - 1));
        metadata::child(fields, "disruptedPods").insert(pod.to_owned(), self.now());
        Ok(new)
    }
}

fn success() -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201 })
}

fn set_scheduled(status: &mut serde_json::Map<String, Value>, now: &Value) {
    let condition = json!({
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": null,
        "lastTransitionTime": now,
    });
    set_condition(status, condition);
}

/// Sets a condition. One that had the status before has it since then.
fn set_condition(status: &mut serde_json::Map<String, Value>, mut condition: Value) {
    let conditions = status.entry("conditions").or_insert_with(|| json!([]));
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(conditions) = conditions.as_array_mut() else { return };
    match conditions.iter_mut().find(|old| old["type"] == condition["type"]) {
        Some(old) => {
            if old["status"] == condition["status"] {
                condition["lastTransitionTime"] = old["lastTransitionTime"].take();
            }
            *old = condition;
        }
        None => conditions.push(condition),
    }
}

fn selects(budget: &Value, pod: &Value) -> bool {
    let selector = budget.pointer("/spec/selector").filter(|selector| !selector.is_null());
    LabelSelector::from_object(selector).is_ok_and(|selector| selector.matches(pod))
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
    let is_ready = |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
    conditions.is_some_and(|conditions| conditions.iter().any(is_ready))
}

/// Whether a budget lets pods go that are not ready: always, or because enough others are.
fn lets_unready_go(budget: &Value) -> bool {
    let count = |field: &str| budget["status"][field].as_i64().unwrap_or_default();
    let (current, desired) = (count("currentHealthy"), count("desiredHealthy"));
    budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow" || (desired > 0 && current >= desired)
}

/// Whether nothing of the pod runs, so that its end disrupts nothing.
fn is_over(pod: &Value) -> bool {
    let phase = pod.pointer("/status/phase").and_then(Value::as_str);
    matches!(phase, Some("Succeeded" | "Failed" | "Pending"))
}
