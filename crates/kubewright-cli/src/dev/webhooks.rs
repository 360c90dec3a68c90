//! The operator's webhooks, which the cluster calls on this machine.
//!
//! The configurations are those of the markers, as `kubewright generate webhook` writes them. Where they name a service of the
//! deployed operator, the cluster is given the address of the process that runs here, and its certificate to trust.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    time::Duration,
};

use k8s_openapi::{
    ByteString,
    api::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
    core::ClusterResourceScope,
};
use kubewright_manifests::{
    diagnostic::Place,
    source::Sources,
    webhook::{Options, documents},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::{net::TcpStream, time::Instant};

use super::crds::FIELD_MANAGER;
use crate::{error::Error, project::Project, terminal};

/// How long an operator may take until its webhooks answer.
const LISTENING_WITHIN: Duration = Duration::from_secs(10);

/// How often that is looked at.
const POLL: Duration = Duration::from_millis(20);

/// Where the operator on this machine serves its webhooks, and what for.
#[derive(Debug)]
pub(super) struct Webhooks {
    address: SocketAddr,
    certificates: PathBuf,
    /// The certificate, as base64 of PEM.
    ca_bundle: String,
    /// The configurations that were applied.
    applied: Vec<String>,
}

// === impl Webhooks ===

impl Webhooks {
    /// Chooses a port that is free, and makes a certificate for this machine.
    pub(super) fn new(project: &Project) -> Result<Self, Error> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::io("find a free port"))?;
        let address = listener.local_addr().map_err(Error::io("find a free port"))?;
        let certificates =
            project.target_directory.join("kubewright").join(format!("{}.webhooks", project.package));
        let failed = |error: rcgen::Error| Error::Arguments(format!("cannot make a certificate: {error}"));
        let names = ["127.0.0.1", "localhost"].map(str::to_owned);
        let made = rcgen::generate_simple_self_signed(names).map_err(failed)?;
        let certificate = made.cert.pem();
        let write = || {
            fs::create_dir_all(&certificates)?;
            fs::write(certificates.join("tls.crt"), &certificate)?;
            write_secret(&certificates.join("tls.key"), &made.signing_key.serialize_pem())
        };
        write().map_err(Error::io(format!("write a certificate to {}", certificates.display())))?;
        // As configurations have it.
        let ca_bundle = serde_json::to_value(ByteString(certificate.into_bytes())).unwrap_or_default();
        let ca_bundle = ca_bundle.as_str().unwrap_or_default().to_owned();
        Ok(Self { address, certificates, ca_bundle, applied: Vec::new() })
    }

    /// What tells the operator where to serve its webhooks, by environment variables.
    pub(super) fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("WEBHOOK_BIND_ADDRESS", self.address.to_string()),
            ("WEBHOOK_CERT_PATH", self.certificates.display().to_string()),
            // Nobody else is there to take over.
            ("WEBHOOK_SHUTDOWN_DELAY", "0s".to_owned()),
            ("CONVERSION_WEBHOOK_URL", format!("https://{}/convert", self.address)),
            ("CONVERSION_WEBHOOK_CA", self.ca_bundle.clone()),
        ]
    }

    /// Waits until the operator answers, and lets the cluster call it.
    pub(super) async fn register(&mut self, client: &Client, project: &Project) -> Result<(), Error> {
        let configurations = self.configurations(&project.folder)?;
        if !configurations.is_empty() && !self.listening().await {
            terminal::warning(format_args!(
                "nothing answers at {}, where the operator is to serve its webhooks: the cluster does not call them",
                self.address
            ));
            return Ok(());
        }
        let mut applied = Vec::new();
        for configuration in configurations {
            let name = match configuration["kind"].as_str() {
                Some("MutatingWebhookConfiguration") => {
                    apply::<MutatingWebhookConfiguration>(client, configuration).await?
                }
                _ => apply::<ValidatingWebhookConfiguration>(client, configuration).await?,
            };
            if !self.applied.contains(&name) {
                terminal::status("Registered", &name);
            }
            applied.push(name);
        }
        // What has no marker any more is not called any more.
        for name in std::mem::replace(&mut self.applied, applied) {
            if !self.applied.contains(&name) {
                let (plural, name) = name.split_once('/').unwrap_or_default();
                let deleted = match plural {
                    "mutatingwebhookconfigurations" => {
                        delete::<MutatingWebhookConfiguration>(client, name).await
                    }
                    _ => delete::<ValidatingWebhookConfiguration>(client, name).await,
                };
                deleted?;
            }
        }
        Ok(())
    }

    /// The configurations of the markers. What is wrong with a marker, `kubewright generate` tells.
    fn configurations(&self, folder: &Path) -> Result<Vec<Value>, Error> {
        let sources = Sources::read(folder)?;
        let (markers, _) = sources.markers();
        let place = |file: &PathBuf, range: &std::ops::Range<usize>| Place::File {
            file: file.clone(),
            range: range.clone(),
        };
        let markers = markers.iter().map(|found| (&found.marker, place(&found.file, &found.range)));
        let mut configurations = documents(markers, &Options::default()).documents;
        for configuration in &mut configurations {
            for hook in configuration["webhooks"].as_array_mut().into_iter().flatten() {
                let Some(client) = hook["clientConfig"].as_object_mut() else { continue };
                let Some(service) = client.remove("service") else { continue };
                let path = service["path"].as_str().unwrap_or_default();
                client.insert("url".to_owned(), format!("https://{}{path}", self.address).into());
                client.insert("caBundle".to_owned(), self.ca_bundle.as_str().into());
            }
        }
        Ok(configurations)
    }

    async fn listening(&self) -> bool {
        let deadline = Instant::now() + LISTENING_WITHIN;
        while TcpStream::connect(self.address).await.is_err() {
            if Instant::now() > deadline {
                return false;
            }
            tokio::time::sleep(POLL).await;
        }
        true
    }
}

/// Applies a configuration, and tells what it is called.
async fn apply<K>(client: &Client, configuration: Value) -> Result<String, Error>
where
    K: Resource<DynamicType = (), Scope = ClusterResourceScope>
        + Clone
        + std::fmt::Debug
        + Serialize
        + DeserializeOwned,
{
    let name = configuration["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let api = Api::<K>::all(client.clone());
    let parameters = PatchParams::apply(FIELD_MANAGER).force();
    let applied = api.patch(&name, &parameters, &Patch::Apply(configuration)).await;
    let applied = applied.map_err(|error| failed::<K>("register", &name, &error))?;
    Ok(format!("{}/{}", K::plural(&()), applied.name_any()))
}

async fn delete<K>(client: &Client, name: &str) -> Result<(), Error>
where
    K: Resource<DynamicType = (), Scope = ClusterResourceScope> + Clone + std::fmt::Debug + DeserializeOwned,
{
    match Api::<K>::all(client.clone()).delete(name, &DeleteParams::default()).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        Err(error) => Err(failed::<K>("delete", name, &error)),
    }
}

fn failed<K: Resource<DynamicType = ()>>(action: &'static str, name: &str, error: &kube::Error) -> Error {
    Error::Api { action, object: format!("the {} {name}", K::kind(&())), reason: error.to_string() }
}

/// Writes a file that this user alone can read.
fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    use std::{io::Write, os::unix::fs::OpenOptionsExt};
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}
