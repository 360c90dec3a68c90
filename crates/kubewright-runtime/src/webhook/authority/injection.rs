//! The bundle into what names the service.

use base64::{Engine, engine::general_purpose::STANDARD};
use k8s_openapi::{
    api::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{ListParams, Patch, PatchParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{Error, Result, client::ClientError};

/// The service whose configurations are looked for.
#[derive(Clone, Debug)]
pub(super) struct Injection {
    pub(super) namespace: String,
    pub(super) service: String,
    /// The names of the CRDs whose objects the operator converts.
    pub(super) definitions: Vec<String>,
    pub(super) field_manager: String,
}

// === impl Injection ===

impl Injection {
    /// Makes everything that names the service trust the bundle. What does already is left alone.
    ///
    /// # Errors
    ///
    /// If something could not be read or written: it may not trust the bundle.
    pub(super) async fn inject(&self, client: &Client, bundle: &str) -> Result<()> {
        let bundle = STANDARD.encode(bundle);
        self.inject_configurations::<MutatingWebhookConfiguration>(client, &bundle).await?;
        self.inject_configurations::<ValidatingWebhookConfiguration>(client, &bundle).await?;
        let definitions = Api::<CustomResourceDefinition>::all(client.clone());
        for name in &self.definitions {
            let found = definitions.get_opt(name).await.map_err(|error| failed("get", name, error))?;
            // One that is yet to be installed is seen next time.
            let Some(definition) = found else { continue };
            self.inject_into(
                &definitions,
                &definition,
                &["/spec/conversion/webhook/clientConfig".to_owned()],
                &bundle,
            )
            .await?;
        }
        Ok(())
    }

    async fn inject_configurations<K>(&self, client: &Client, bundle: &str) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = kube::core::ClusterResourceScope>
            + Clone
            + std::fmt::Debug
            + Serialize
            + DeserializeOwned,
    {
        let api = Api::<K>::all(client.clone());
        let list = api.list(&ListParams::default()).await;
        for configuration in list.map_err(|error| failed("list", &K::plural(&()), error))? {
            let hooks = serde_json::to_value(&configuration)?["webhooks"].as_array().map_or(0, Vec::len);
            let paths: Vec<_> = (0..hooks).map(|index| format!("/webhooks/{index}/clientConfig")).collect();
            self.inject_into(&api, &configuration, &paths, bundle).await?;
        }
        Ok(())
    }

    /// Writes the bundle into those of the client configurations at `paths` that name the service.
    async fn inject_into<K>(&self, api: &Api<K>, object: &K, paths: &[String], bundle: &str) -> Result<()>
    where
        K: Resource + Clone + std::fmt::Debug + Serialize + DeserializeOwned,
    {
        let document = serde_json::to_value(object)?;
        let mut changes = Vec::new();
        for path in paths {
            let Some(config) = document.pointer(path) else { continue };
            let service = &config["service"];
            if service["name"] == *self.service
                && service["namespace"] == *self.namespace
                && config["caBundle"] != *bundle
            {
                changes.push(json!({"op": "add", "path": format!("{path}/caBundle"), "value": bundle}));
            }
        }
        if changes.is_empty() {
            return Ok(());
        }
        let name = object.name_any();
        // The places are those of the version that was read.
        let version =
            json!({"op": "test", "path": "/metadata/resourceVersion", "value": object.resource_version()});
        changes.insert(0, version);
        // The patch of kube, whose type is that of another version of its crate than ours.
        let patch = Patch::<K>::Json(serde_json::from_value(Value::Array(changes))?);
        let params =
            PatchParams { field_manager: Some(self.field_manager.clone()), ..PatchParams::default() };
        let patched = api.patch(&name, &params, &patch).await;
        patched.map_err(|error| failed("patch", &name, error))?;
        tracing::info!(name, "wrote the authorities of the webhooks");
        Ok(())
    }
}

/// The verb that may be missing in the operator's role, and what it is missing for.
pub(super) fn failed(verb: &str, what: &str, error: kube::Error) -> Error {
    let error = ClientError::from(error);
    Error::other(format!("the authority of the webhooks cannot {verb} {what}: {error}"))
}
