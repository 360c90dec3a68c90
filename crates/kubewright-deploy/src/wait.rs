//! Waiting until objects are ready.

use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, ResourceExt,
    api::{DynamicObject, ListParams},
    runtime::wait::await_condition,
};
use serde_json::Value;

use crate::{DeployError, Deployer, Progress, kinds::Kinds, name_of, order::kind};

impl Deployer {
    /// Waits until the workloads among these objects run as they are asked to, for `timeout` in all. Others are ready when
    /// they are there.
    ///
    /// # Errors
    ///
    /// If one is not ready in time: the text has the state of each, and why its pods do not run.
    pub async fn wait(
        &self,
        objects: &[DynamicObject],
        timeout: Duration,
        progress: &mut dyn Progress,
    ) -> Result<(), DeployError> {
        let deadline = tokio::time::Instant::now() + timeout;
        let kinds = Kinds::ask(&self.client).await?;
        for object in objects.iter().filter(|object| is_workload(object)) {
            let api = kinds.of(object)?;
            let (name, plain_name) = (name_of(object), object.name_any());
            // The last state that was seen, told when it changes.
            let (sender, mut states) = tokio::sync::watch::channel(String::new());
            let ready = await_condition(api, &plain_name, move |present: Option<&DynamicObject>| {
                let state = present.map_or_else(|| Some("is not there".to_owned()), not_ready);
                let ready = state.is_none();
                sender.send_replace(state.unwrap_or_default());
                ready
            });
            let mut ready = std::pin::pin!(ready);
            loop {
                tokio::select! {
                    biased;
                    result = &mut ready => {
                        if let Err(error) = result {
                            return Err(DeployError::Discovery(error.to_string()));
                        }
                        progress.ready(&name);
                        break;
                    }
                    Ok(()) = states.changed() => {
                        let state = states.borrow_and_update().clone();
                        if !state.is_empty() {
                            progress.waiting(&name, &state);
                        }
                    }
                    () = tokio::time::sleep_until(deadline) => {
                        let state = states.borrow().clone();
                        let mut states = vec![format!("{name} {state}")];
                        states.extend(self.pods(object).await);
                        return Err(DeployError::NotReady { seconds: timeout.as_secs(), states });
                    }
                }
            }
        }
        Ok(())
    }

    /// What keeps the pods of a workload from running.
    async fn pods(&self, workload: &DynamicObject) -> Vec<String> {
        let labels: BTreeMap<String, String> =
            serde_json::from_value(workload.data["spec"]["selector"]["matchLabels"].clone())
                .unwrap_or_default();
        let selector: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let namespace = workload.namespace().unwrap_or_else(|| "default".to_owned());
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &namespace);
        // This is only an explanation: where it cannot be had, the error is the same.
        let pods = api.list(&ListParams::default().labels(&selector.join(","))).await;
        pods.into_iter().flatten().filter_map(|pod| trouble(&pod)).collect()
    }
}

fn is_workload(object: &DynamicObject) -> bool {
    matches!(kind(object), "Deployment" | "StatefulSet" | "DaemonSet")
}

/// What a workload still lacks; nothing if it runs as it is asked to.
fn not_ready(object: &DynamicObject) -> Option<String> {
    let (spec, status) = (&object.data["spec"], &object.data["status"]);
    let number = |value: &Value| value.as_i64().unwrap_or_default();
    if status["observedGeneration"].as_i64() < object.metadata.generation {
        return Some("has not been seen by its controller".to_owned());
    }
    let (wanted, updated, available) = match kind(object) {
        "DaemonSet" => {
            (&status["desiredNumberScheduled"], &status["updatedNumberScheduled"], &status["numberAvailable"])
        }
        _ => (&spec["replicas"], &status["updatedReplicas"], &status["availableReplicas"]),
    };
    let wanted = wanted.as_i64().unwrap_or(if kind(object) == "DaemonSet" { 0 } else { 1 });
    let (updated, available) = (number(updated), number(available));
    // Old pods of a rollout count as available too.
    let old = number(&status["replicas"]).saturating_sub(updated);
    if updated >= wanted && available >= wanted && (kind(object) != "Deployment" || old == 0) {
        return None;
    }
    let failed = status["conditions"].as_array().into_iter().flatten().find(|condition| {
        (condition["type"] == "Progressing" && condition["status"] == "False")
            || (condition["type"] == "ReplicaFailure" && condition["status"] == "True")
    });
    let why =
        failed.and_then(|condition| condition["message"].as_str()).map(|message| format!(": {message}"));
    Some(format!("has {available} of {wanted} pods available{}", why.unwrap_or_default()))
}

/// Why a pod does not run, if it does not.
fn trouble(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    let containers =
        status.container_statuses.iter().flatten().chain(status.init_container_statuses.iter().flatten());
    let waiting = containers.filter_map(|container| {
        let waiting = container.state.as_ref()?.waiting.as_ref()?;
        let message = waiting.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
        Some(format!(
            "its container {} waits, {}{message}",
            container.name,
            waiting.reason.as_deref().unwrap_or("for a reason that is not told")
        ))
    });
    let unscheduled = status
        .conditions
        .iter()
        .flatten()
        .filter(|condition| condition.type_ == "PodScheduled" && condition.status == "False");
    let unscheduled =
        unscheduled.map(|condition| condition.message.clone().unwrap_or_else(|| "it has no node".to_owned()));
    let reason = waiting.chain(unscheduled).next()?;
    Some(format!("Pod {}: {reason}", pod.name_any()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment(status: &Value) -> DynamicObject {
        serde_json::from_value(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "generation": 2},
            "spec": {"replicas": 2}, "status": status,
        }))
        .expect("an object")
    }

    #[test]
    fn a_deployment_is_ready_when_all_its_pods_are_new_and_available() {
        let state = |status: Value| not_ready(&deployment(&status));
        assert_eq!(
            state(json!({"observedGeneration": 1})).as_deref(),
            Some("has not been seen by its controller")
        );
        let rolling =
            json!({"observedGeneration": 2, "replicas": 3, "updatedReplicas": 2, "availableReplicas": 2});
        assert_eq!(state(rolling).as_deref(), Some("has 2 of 2 pods available"));
        let done =
            json!({"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2});
        assert_eq!(state(done), None);
        let failed = json!({"observedGeneration": 2, "conditions": [
            {"type": "Progressing", "status": "False", "message": "deadline exceeded"},
        ]});
        assert_eq!(state(failed).as_deref(), Some("has 0 of 2 pods available: deadline exceeded"));
    }
}
