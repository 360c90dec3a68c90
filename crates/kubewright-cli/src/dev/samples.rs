//! The project's samples: what `--once` applies and waits for.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use kube::{
    Api, Client, ResourceExt,
    api::{DynamicObject, Patch, PatchParams},
    core::TypeMeta,
    discovery::{Discovery, Scope},
    runtime::wait::await_condition,
};
use serde_json::Value;

use super::crds::{FIELD_MANAGER, documents};
use crate::{error::Error, project::Project, terminal};

/// The conditions that say that an operator is done with an object.
const SETTLED: [&str; 3] = ["Available", "Ready", "Established"];

/// The first sample's file, as a path to type, if the project has samples.
pub(crate) fn first_file(project: &Project) -> Option<PathBuf> {
    files(project).into_iter().next()
}

/// Reads the objects of `config/samples/*.yaml`.
pub(crate) fn read(project: &Project) -> Result<Vec<DynamicObject>, Error> {
    let mut samples = Vec::new();
    for file in files(project) {
        let text = std::fs::read_to_string(&file).map_err(Error::io(format!("read {}", file.display())))?;
        let objects: Vec<DynamicObject> =
            documents(&text).map_err(|reason| Error::Yaml { what: file.display().to_string(), reason })?;
        samples.extend(objects);
    }
    if samples.is_empty() {
        return Err(Error::NoSamples { path: project.folder.clone() });
    }
    Ok(samples)
}

/// In the order of their names. kustomize's own file is no sample.
fn files(project: &Project) -> Vec<PathBuf> {
    let folder = project.folder.join("config/samples");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| is_yaml(path) && path.file_stem().is_none_or(|stem| stem != "kustomization"))
        .collect();
    files.sort();
    files
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Applies `samples` and waits, for `timeout` in all, until each is settled.
pub(crate) async fn apply_and_wait(
    client: &Client,
    samples: &[DynamicObject],
    timeout: Duration,
) -> Result<(), Error> {
    let deadline = tokio::time::Instant::now() + timeout;
    let discovery = Discovery::new(client.clone()).run_aggregated().await.map_err(|error| Error::Api {
        action: "discover the kinds of",
        object: "the cluster".to_owned(),
        reason: error.to_string(),
    })?;
    let mut applied = Vec::new();
    for sample in samples {
        let api = api(client, &discovery, sample)?;
        api.patch(&sample.name_any(), &PatchParams::apply(FIELD_MANAGER).force(), &Patch::Apply(sample))
            .await
            .map_err(|error| api_error("apply", sample, &error.to_string()))?;
        terminal::status("Applied", name(sample));
        applied.push((sample, api));
    }
    for (sample, api) in applied {
        let sample_name = sample.name_any();
        let settled = await_condition(api.clone(), &sample_name, |object: Option<&DynamicObject>| {
            object.is_some_and(is_settled)
        });
        match tokio::time::timeout_at(deadline, settled).await {
            Ok(Ok(_)) => terminal::status("Reconciled", name(sample)),
            Ok(Err(error)) => return Err(api_error("watch", sample, &error.to_string())),
            Err(_) => {
                let conditions = match api.get_opt(&sample.name_any()).await {
                    Ok(Some(object)) => object.data["status"]["conditions"].to_string(),
                    Ok(None) => "none, it is gone".to_owned(),
                    Err(error) => format!("unknown, {error}"),
                };
                return Err(Error::NotReconciled {
                    object: name(sample),
                    seconds: timeout.as_secs(),
                    conditions,
                });
            }
        }
    }
    Ok(())
}

fn api(client: &Client, discovery: &Discovery, sample: &DynamicObject) -> Result<Api<DynamicObject>, Error> {
    let types = sample.types.clone().unwrap_or_default();
    let resolved = kube::core::GroupVersionKind::try_from(&types)
        .ok()
        .and_then(|kind| discovery.resolve_gvk(&kind))
        .ok_or_else(|| api_error("apply", sample, "the cluster does not know its kind"))?;
    let (resource, capabilities) = resolved;
    Ok(match capabilities.scope {
        Scope::Cluster => Api::all_with(client.clone(), &resource),
        Scope::Namespaced => {
            let namespace = sample.namespace().unwrap_or_else(|| "default".to_owned());
            Api::namespaced_with(client.clone(), &namespace, &resource)
        }
    })
}

/// Whether a condition that means "done" is true for what the object now asks for.
fn is_settled(object: &DynamicObject) -> bool {
    let current = |observed: &Value| {
        observed.as_i64().is_none_or(|observed| Some(observed) == object.metadata.generation)
    };
    let conditions = object.data["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|condition| {
        condition["type"].as_str().is_some_and(|name| SETTLED.contains(&name))
            && condition["status"] == "True"
            && current(&condition["observedGeneration"])
    })
}

fn name(object: &DynamicObject) -> String {
    let TypeMeta { kind, .. } = object.types.clone().unwrap_or_default();
    let namespace = object.namespace().unwrap_or_else(|| "default".to_owned());
    format!("{kind} {namespace}/{}", object.name_any())
}

fn api_error(action: &'static str, object: &DynamicObject, reason: &str) -> Error {
    Error::Api { action, object: name(object), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(conditions: &Value) -> DynamicObject {
        serde_json::from_value(json!({
            "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
            "metadata": {"name": "sample", "generation": 2},
            "status": {"conditions": conditions},
        }))
        .expect("an object")
    }

    #[test]
    fn settled_means_a_true_condition_for_the_current_generation() {
        assert!(is_settled(&object(
            &json!([{"type": "Available", "status": "True", "observedGeneration": 2}])
        )));
        assert!(is_settled(&object(&json!([{"type": "Ready", "status": "True"}]))));
        assert!(!is_settled(&object(
            &json!([{"type": "Available", "status": "True", "observedGeneration": 1}])
        )));
        assert!(!is_settled(&object(&json!([{"type": "Available", "status": "False"}]))));
        assert!(!is_settled(&object(&json!([{"type": "Degraded", "status": "True"}]))));
        assert!(!is_settled(&object(&json!(null))));
    }

    #[test]
    fn empty_documents_are_left_out() {
        let values: Vec<Value> = documents("---\na: 1\n---\n---\nb: 2\n").expect("valid YAML");
        assert_eq!(values, [json!({"a": 1}), json!({"b": 2})]);
        assert!(documents::<Value>("a: [").is_err());
    }
}
