use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};
use kubewright_world::Clock;
use tokio::time::sleep;

use super::{
    certificate::Lives,
    injection::{Injection, failed},
    kept::{Due, Kept},
};
use crate::{Result, certificates::ServingCertificate, health::CheckResult};

/// How often the Secret and what trusts it are looked at: a replica shows a renewed certificate, and a configuration that was
/// applied anew is trusted again, within that time.
const PERIOD: Duration = Duration::from_secs(30);

/// After how long a failed attempt is followed by another one.
const RETRY: Duration = Duration::from_secs(5);

/// How long API servers are given to see a configuration that was written. They watch them.
const SETTLE: Duration = Duration::from_secs(10);

/// Keeps the certificate of the webhooks, and what trusts it.
pub(crate) struct Authority {
    client: Client,
    clock: Clock,
    secret: String,
    names: Vec<String>,
    injection: Injection,
    certificate: ServingCertificate,
    check: AuthorityCheck,
    lives: Lives,
}

/// Whether webhooks have a certificate that is trusted.
#[derive(Clone)]
pub(crate) struct AuthorityCheck(Arc<Mutex<CheckResult>>);

// === impl Authority ===

impl Authority {
    /// For the service of webhooks in a namespace, and the CRDs whose objects they convert.
    pub(crate) fn new(
        client: Client,
        clock: Clock,
        (namespace, service): (String, String),
        definitions: Vec<String>,
        field_manager: String,
        certificate: ServingCertificate,
    ) -> Self {
        let names = vec![
            format!("{service}.{namespace}.svc"),
            format!("{service}.{namespace}.svc.cluster.local"),
            format!("{service}.{namespace}"),
        ];
        Self {
            client,
            clock,
            secret: format!("{service}-cert"),
            names,
            injection: Injection { namespace, service, definitions, field_manager },
            certificate,
            check: AuthorityCheck(Arc::new(Mutex::new(Err(
                "the webhooks have no certificate yet".to_owned()
            )))),
            lives: Lives::default(),
        }
    }

    #[cfg(test)]
    pub(super) fn lives(mut self, lives: Lives) -> Self {
        self.lives = lives;
        self
    }

    pub(crate) fn check(&self) -> AuthorityCheck {
        self.check.clone()
    }

    /// Does what is due, for ever.
    pub(crate) async fn run(self) {
        let mut told = None;
        loop {
            match self.step().await {
                Ok(Due::Nothing) => {
                    told = None;
                    self.check.succeeded();
                    sleep(PERIOD).await;
                }
                Ok(due) => {
                    tracing::info!(?due, secret = self.secret, "changed the certificates of the webhooks");
                }
                Err(error) => {
                    let error = error.to_string();
                    self.check.failed(&error);
                    if told.as_ref() != Some(&error) {
                        tracing::warn!(
                            error,
                            "cannot look after the certificates of the webhooks; trying again"
                        );
                        told = Some(error);
                    }
                    sleep(RETRY).await;
                }
            }
        }
    }

    /// Shows the certificate that there is, lets its authority be trusted, and does the one thing that is due next.
    async fn step(&self) -> Result<Due> {
        let secrets = Api::<Secret>::namespaced(self.client.clone(), &self.injection.namespace);
        let secret = secrets.get_opt(&self.secret).await;
        let secret = secret.map_err(|error| failed("get the secret", &self.secret, error))?;
        let data = secret.as_ref().and_then(|secret| secret.data.clone()).unwrap_or_default();
        let mut kept = Kept::read(&data);
        let mut due = kept.due(&self.names, self.clock.now());
        if matches!(due, Due::Authority | Due::Serving) {
            // Nothing can be shown, so nothing has to be waited for.
            while matches!(due, Due::Authority | Due::Serving) {
                kept.after(due, &self.names, self.clock.now(), self.lives)?;
                due = kept.due(&self.names, self.clock.now());
            }
            self.write(&secrets, secret, &kept).await?;
            return Ok(Due::Serving);
        }
        // Whatever is kept was trusted before it was made, unless there was nothing to show.
        if let Some((certificate, key)) = kept.serving() {
            let shown = self.certificate.show(certificate.as_bytes(), key.as_bytes());
            shown.map_err(|error| crate::Error::other(format!("the secret {}: {error}", self.secret)))?;
        }
        self.injection.inject(&self.client, &kept.bundle()).await?;
        if due == Due::Nothing {
            return Ok(due);
        }
        if due == Due::NextServing {
            sleep(SETTLE).await;
        }
        kept.after(due, &self.names, self.clock.now(), self.lives)?;
        self.write(&secrets, secret, &kept).await?;
        Ok(due)
    }

    /// Writes the Secret in the place of the one that was read. If another replica was faster, its Secret counts.
    async fn write(&self, secrets: &Api<Secret>, old: Option<Secret>, kept: &Kept) -> Result<()> {
        let params =
            PostParams { field_manager: Some(self.injection.field_manager.clone()), ..PostParams::default() };
        let written = match old {
            Some(mut secret) => {
                secret.data = Some(kept.data());
                secrets.replace(&self.secret, &params, &secret).await
            }
            None => {
                let metadata = ObjectMeta { name: Some(self.secret.clone()), ..ObjectMeta::default() };
                let secret = Secret {
                    metadata,
                    data: Some(kept.data()),
                    type_: Some("kubernetes.io/tls".to_owned()),
                    ..Secret::default()
                };
                secrets.create(&params, &secret).await
            }
        };
        match written {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
            Err(error) => Err(failed("write the secret", &self.secret, error)),
        }
    }
}

// === impl AuthorityCheck ===

impl AuthorityCheck {
    pub(crate) fn get(&self) -> CheckResult {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn succeeded(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Ok(());
    }

    /// Webhooks that were trusted once go on being so for a long time, whatever fails now.
    fn failed(&self, error: &str) {
        let mut result = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(reason) = &mut *result {
            error.clone_into(reason);
        }
    }
}
