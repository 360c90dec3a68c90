//! The CRDs of the operator: printed by its own binary, installed before it runs.

use std::{path::Path, process::Stdio, time::Duration};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams},
    runtime::wait::{await_condition, conditions},
};
use serde::Deserialize;
use tokio::process::Command;

use crate::{error::Error, terminal};

/// The field manager of what the command applies.
pub(super) const FIELD_MANAGER: &str = "kubewright";

const ESTABLISHED_WITHIN: Duration = Duration::from_secs(30);

/// Asks the operator for its CRDs: `BINARY crd` prints them as YAML documents and ends.
pub(crate) async fn print(
    binary: &Path,
    environment: &[(&str, String)],
) -> Result<Vec<CustomResourceDefinition>, Error> {
    let output = Command::new(binary)
        .arg("crd")
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(Error::io(format!("run the operator {}", binary.display())))?;
    if !output.status.success() {
        return Err(Error::PrintCrds {
            command: format!("{} crd", binary.display()),
            status: output.status,
            stderr: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    documents(&text)
        .map_err(|reason| Error::Yaml { what: format!("what `{} crd` printed", binary.display()), reason })
}

/// The documents of a YAML stream, empty ones left out.
pub(super) fn documents<T: for<'de> Deserialize<'de>>(text: &str) -> Result<Vec<T>, String> {
    let values: Vec<serde_json::Value> =
        serde_saphyr::from_multiple(text).map_err(|error| error.to_string())?;
    values
        .into_iter()
        .filter(|value| !value.is_null())
        .map(|value| serde_json::from_value(value).map_err(|error| error.to_string()))
        .collect()
}

/// Applies `definitions` and waits until each is established.
pub(crate) async fn install(
    client: &Client,
    definitions: Vec<CustomResourceDefinition>,
) -> Result<(), Error> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let parameters = PatchParams::apply(FIELD_MANAGER).force();
    for definition in definitions {
        let name = definition.name_any();
        let failed = |reason: String| Error::Api {
            action: "install",
            object: format!("the CustomResourceDefinition {name}"),
            reason,
        };
        let applied = api
            .patch(&name, &parameters, &Patch::Apply(&definition))
            .await
            .map_err(|error| failed(error.to_string()))?;
        let established = await_condition(api.clone(), &name, conditions::is_crd_established());
        tokio::time::timeout(ESTABLISHED_WITHIN, established)
            .await
            .map_err(|_| failed(format!("not established within {} s", ESTABLISHED_WITHIN.as_secs())))?
            .map_err(|error| failed(error.to_string()))?;
        if applied.metadata.generation == Some(1) {
            terminal::status("Installed", &name);
        }
    }
    Ok(())
}
