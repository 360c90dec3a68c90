use std::path::Path;

use kube::{
    Config,
    client::{ClientBuilder, retry::RetryPolicy},
    config::{KubeConfigOptions, Kubeconfig},
};
use tower::{ServiceBuilder, retry::RetryLayer};

use crate::{Error, Result, client::ClientError, metrics::Metrics};

/// Finds the cluster, in controller-runtime's order: the flag, `$KUBECONFIG`, the service account of the pod,
/// `~/.kube/config`.
///
/// kube itself prefers a kubeconfig in the home directory over the service account, which matters where a pod
/// has both.
pub(super) async fn find_cluster(kubeconfig: Option<&Path>) -> Result<Config> {
    let options = KubeConfigOptions::default();
    if let Some(path) = kubeconfig {
        let failed = |error| Error::setup(format!("cannot use the kubeconfig {}: {error}", path.display()));
        let kubeconfig = Kubeconfig::read_from(path).map_err(failed)?;
        return Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(failed);
    }
    let from_environment = Kubeconfig::from_env()
        .map_err(|error| Error::setup(format!("cannot use the kubeconfig of $KUBECONFIG: {error}")))?;
    if let Some(kubeconfig) = from_environment {
        return Config::from_custom_kubeconfig(kubeconfig, &options)
            .await
            .map_err(|error| Error::setup(format!("cannot use the kubeconfig of $KUBECONFIG: {error}")));
    }
    match Config::incluster() {
        Ok(config) => Ok(config),
        Err(in_cluster) => Config::from_kubeconfig(&options).await.map_err(|kubeconfig| {
            Error::setup(format!(
                "found no cluster: this is not a pod ({in_cluster}), and ~/.kube/config does not help \
                 ({kubeconfig}); set --kubeconfig or $KUBECONFIG"
            ))
        }),
    }
}

/// The HTTP client of a cluster, with every request counted.
pub(super) fn connect(mut config: Config, metrics: &Metrics) -> Result<kube::Client> {
    let host = config.cluster_url.authority().map(ToString::to_string).unwrap_or_default();
    let namespace = config.default_namespace.clone();
    // Retries go outside of the counter, so that each attempt counts, as in client-go.
    let retry = std::mem::take(&mut config.default_retry);
    let attempts = ClientBuilder::try_from(config)
        .map_err(ClientError::from)?
        .with_layer(&metrics.requests(host).layer())
        .build();
    if !retry {
        return Ok(attempts);
    }
    let once = tower::service_fn(move |request| {
        let attempts = attempts.clone();
        async move { attempts.send(request).await.map_err(tower::BoxError::from) }
    });
    let service = ServiceBuilder::new().layer(RetryLayer::new(RetryPolicy::server_retry())).service(once);
    Ok(kube::Client::new(service, namespace))
}

/// A client without a cluster, for a run that only prints what the operator consists of.
pub(super) fn nowhere() -> kube::Client {
    let service = tower::service_fn(|_: http::Request<kube::client::Body>| async {
        Err::<http::Response<kube::client::Body>, _>(tower::BoxError::from(
            "this run prints the CustomResourceDefinitions and has no cluster: call the API server from a \
             reconciler or a runnable, not before the manager starts",
        ))
    });
    kube::Client::new(service, "default")
}
