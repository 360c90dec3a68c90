//! Pods run as a service account, which has to be there, and get its token and its pull secrets.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::{Admitters, Attributes};
use crate::{
    admission::Operation,
    registry::{Registry, metadata},
    status::Status,
    store::Object,
};

const BUCKET: &str = "/serviceaccounts";
const DEFAULT: &str = "default";
const TOKEN_VOLUME: &str = "kube-api-access-";
const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// An hour and a bit, by which it is told from tokens that were asked for.
const TOKEN_SECONDS: i64 = 3607;
const MIRROR: &str = "kubernetes.io/config.mirror";
const ENFORCES_SECRETS: &str = "kubernetes.io/enforce-mountable-secrets";
/// How often one looks for the account that a controller makes for each namespace.
const TRIES: usize = 10;

pub(super) async fn admit(
    registry: &Registry,
    attributes: &Attributes<'_>,
    pod: Option<&mut Value>,
) -> Result<(), Status> {
    let is_new = attributes.is_of("", "pods", "") && attributes.operation() == Operation::Create;
    // What is made in process, to begin with, cannot wait for a controller.
    let is_awaitable = attributes.request.admitters == Admitters::All;
    let Some(pod) = pod.filter(|pod| is_new && (is_awaitable || look(registry, attributes, pod).is_some()))
    else {
        return Ok(());
    };
    if !is_mirror(pod) {
        if account_name(pod).is_empty() {
            let spec = metadata::child(metadata::as_map(pod), "spec");
            for field in ["serviceAccountName", "serviceAccount"] {
                spec.insert(field.to_owned(), Value::from(DEFAULT));
            }
        }
        let account = find(registry, attributes, pod).await?;
        if automounts(account.value(), pod) {
            mount_token(registry, pod);
        }
        let spec = metadata::child(metadata::as_map(pod), "spec");
        let secrets = account.value()["imagePullSecrets"].as_array().filter(|secrets| !secrets.is_empty());
        if let Some(secrets) = secrets
            && spec.get("imagePullSecrets").and_then(Value::as_array).is_none_or(Vec::is_empty)
        {
            let names = secrets.iter().map(|secret| json!({ "name": secret["name"] }));
            spec.insert("imagePullSecrets".to_owned(), names.collect());
        }
    }
    validate(registry, attributes, Some(pod))
}

pub(super) fn validate(
    registry: &Registry,
    attributes: &Attributes<'_>,
    pod: Option<&Value>,
) -> Result<(), Status> {
    let Some(pod) = pod.filter(|_| attributes.request.admitters == Admitters::All) else { return Ok(()) };
    let refuse = |why: &str| Err(attributes.forbidden(Some(pod), why));
    let is_new = match attributes.operation() {
        Operation::Create if attributes.is_of("", "pods", "") => true,
        Operation::Update if attributes.is_of("", "pods", "ephemeralcontainers") => false,
        _ => return Ok(()),
    };
    if is_new && is_mirror(pod) {
        let why = if !account_name(pod).is_empty() {
            "a mirror pod may not reference service accounts"
        } else if secrets_of(pod).next().is_some() {
            "a mirror pod may not reference secrets"
        } else if projections(pod).any(|source| source["serviceAccountToken"].is_object()) {
            "a mirror pod may not use ServiceAccountToken volume projections"
        } else {
            return Ok(());
        };
        return refuse(why);
    }
    if account_name(pod).is_empty() {
        let (namespace, name) = (&attributes.request.namespace, metadata::name(pod));
        return refuse(&format!("no service account specified for pod {namespace}/{name}"));
    }
    let Some(account) = look(registry, attributes, pod) else { return Err(missing(attributes, pod)) };
    let annotations = metadata::get(account.value(), "annotations");
    let enforced = annotations.and_then(|own| own.get(ENFORCES_SECRETS)?.as_str());
    if !matches!(enforced, Some("1" | "t" | "T" | "true" | "TRUE" | "True")) {
        return Ok(());
    }
    match unreferenced_secret(account.value(), pod, is_new) {
        Some(why) if is_new => refuse(&why),
        Some(why) => Err(Status::untyped(why)),
        None => Ok(()),
    }
}

fn is_mirror(pod: &Value) -> bool {
    metadata::get(pod, "annotations").is_some_and(|own| own.get(MIRROR).is_some())
}

fn account_name(pod: &Value) -> &str {
    pod["spec"]["serviceAccountName"].as_str().unwrap_or_default()
}

fn look(registry: &Registry, attributes: &Attributes<'_>, pod: &Value) -> Option<Arc<Object>> {
    let name = Some(account_name(pod)).filter(|name| !name.is_empty()).unwrap_or(DEFAULT);
    let key = format!("{}/{name}", attributes.request.namespace);
    registry.store.get(BUCKET, &key)
}

/// The account of a pod. That of a new namespace may come a little later.
async fn find(registry: &Registry, attributes: &Attributes<'_>, pod: &Value) -> Result<Arc<Object>, Status> {
    let mut tries = if account_name(pod) == DEFAULT { TRIES } else { 1 };
    let pause = Duration::from_millis(100 + registry.admission.uids.below(100));
    loop {
        if let Some(account) = look(registry, attributes, pod) {
            return Ok(account);
        }
        tries -= 1;
        if tries == 0 {
            return Err(missing(attributes, pod));
        }
        tokio::time::sleep(pause).await;
    }
}

fn missing(attributes: &Attributes<'_>, pod: &Value) -> Status {
    let (namespace, name) = (&attributes.request.namespace, account_name(pod));
    let why =
        format!("error looking up service account {namespace}/{name}: serviceaccount {name:?} not found");
    attributes.forbidden(Some(pod), &why)
}

fn automounts(account: &Value, pod: &Value) -> bool {
    let own = pod["spec"]["automountServiceAccountToken"].as_bool();
    own.or_else(|| account["automountServiceAccountToken"].as_bool()).unwrap_or(true)
}

/// Mounts the volume with the token into each container that has nothing at its place.
fn mount_token(registry: &Registry, pod: &mut Value) {
    let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
    let there = volumes
        .filter_map(|volume| volume["name"].as_str())
        .find(|name| name.starts_with(TOKEN_VOLUME))
        .map(str::to_owned);
    let is_there = there.is_some();
    let name = there.unwrap_or_else(|| registry.generate_name(TOKEN_VOLUME));
    let mut is_mounted = false;
    for sort in ["initContainers", "containers"] {
        let containers = pod.pointer_mut(&format!("/spec/{sort}")).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let mounts = metadata::as_map(container).entry("volumeMounts").or_insert_with(|| json!([]));
            if mounts.is_null() {
                *mounts = json!([]);
            }
            let Some(mounts) = mounts.as_array_mut() else { continue };
            if mounts.iter().all(|mount| mount["mountPath"] != TOKEN_PATH) {
                mounts.push(json!({ "name": name, "readOnly": true, "mountPath": TOKEN_PATH }));
                is_mounted = true;
            }
        }
    }
    if is_there || !is_mounted {
        return;
    }
    let spec = metadata::child(metadata::as_map(pod), "spec");
    let volumes = spec.entry("volumes").or_insert_with(|| json!([]));
    if volumes.is_null() {
        *volumes = json!([]);
    }
    if let Some(volumes) = volumes.as_array_mut() {
        volumes.push(token_volume(&name));
    }
}

fn token_volume(name: &str) -> Value {
    json!({
        "name": name,
        "projected": {
            "defaultMode": 0o644,
            "sources": [
                { "serviceAccountToken": { "path": "token", "expirationSeconds": TOKEN_SECONDS } },
                { "configMap": {
                    "name": "kube-root-ca.crt",
                    "items": [{ "key": "ca.crt", "path": "ca.crt" }],
                } },
                { "downwardAPI": { "items": [{
                    "path": "namespace",
                    "fieldRef": { "apiVersion": "v1", "fieldPath": "metadata.namespace" },
                }] } },
            ],
        },
    })
}

fn items<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value[field].as_array().into_iter().flatten()
}

fn projections(pod: &Value) -> impl Iterator<Item = &Value> {
    items(&pod["spec"], "volumes").flat_map(|volume| items(&volume["projected"], "sources"))
}

/// The names of the secrets that a pod refers to.
fn secrets_of(pod: &Value) -> impl Iterator<Item = &str> {
    let spec = &pod["spec"];
    let pulled = items(spec, "imagePullSecrets").map(|secret| &secret["name"]);
    let mounted = items(spec, "volumes").map(|volume| &volume["secret"]["secretName"]);
    let projected = projections(pod).map(|source| &source["secret"]["name"]);
    let used = ["initContainers", "containers", "ephemeralContainers"]
        .into_iter()
        .flat_map(|sort| items(spec, sort))
        .flat_map(|container| {
            let single = items(container, "env").map(|env| &env["valueFrom"]["secretKeyRef"]["name"]);
            single.chain(items(container, "envFrom").map(|from| &from["secretRef"]["name"]))
        });
    pulled.chain(mounted).chain(projected).chain(used).filter_map(Value::as_str)
}

/// What is wrong with a pod whose account does not refer to a secret that the pod refers to.
fn unreferenced_secret(account: &Value, pod: &Value, is_new: bool) -> Option<String> {
    let account_name = metadata::name(account);
    let is_referenced = |name: &Value| items(account, "secrets").any(|secret| secret["name"] == *name);
    let end = format!("is not allowed because service account {account_name} does not reference that");
    let text = |name: &Value| name.as_str().unwrap_or_default().to_owned();
    let spec = &pod["spec"];
    let sorts: &[(&str, &str)] = if is_new {
        &[("initContainers", "init container"), ("containers", "container")]
    } else {
        &[("ephemeralContainers", "ephemeral container")]
    };
    if is_new {
        let mut mounted =
            items(spec, "volumes").map(|volume| &volume["secret"]).filter(|secret| secret.is_object());
        if let Some(secret) = mounted.find(|secret| !is_referenced(&secret["secretName"])) {
            let name = text(&secret["secretName"]);
            return Some(format!("volume with secret.secretName=\"{name}\" {end} secret"));
        }
    }
    for (sort, title) in sorts {
        for container in items(spec, sort) {
            let own = text(&container["name"]);
            for env in items(container, "env") {
                let secret = &env["valueFrom"]["secretKeyRef"];
                if secret.is_object() && !is_referenced(&secret["name"]) {
                    let (env, name) = (text(&env["name"]), text(&secret["name"]));
                    return Some(format!(
                        "{title} {own} with envVar {env} referencing secret.secretName=\"{name}\" {end} secret"
                    ));
                }
            }
            for from in items(container, "envFrom") {
                let secret = &from["secretRef"];
                if secret.is_object() && !is_referenced(&secret["name"]) {
                    let name = text(&secret["name"]);
                    return Some(format!(
                        "{title} {own} with envFrom referencing secret.secretName=\"{name}\" {end} secret"
                    ));
                }
            }
        }
    }
    if !is_new {
        return None;
    }
    let is_pulled = |name: &Value| items(account, "imagePullSecrets").any(|secret| secret["name"] == *name);
    let mut pulled = items(spec, "imagePullSecrets").enumerate();
    let (index, secret) = pulled.find(|(_, secret)| !is_pulled(&secret["name"]))?;
    let name = text(&secret["name"]);
    Some(format!("imagePullSecrets[{index}].name=\"{name}\" {end} imagePullSecret"))
}
