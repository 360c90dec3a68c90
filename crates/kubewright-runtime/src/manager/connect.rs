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
    // kube's own default goes on for up to a thousand seconds, in which a watch that gets nothing but 503 would look
    // as if it were about to answer. A few seconds help over a busy moment; the rest is for the backoff of the watch or
    // the queue, where it can be seen.
    let service = ServiceBuilder::new().layer(RetryLayer::new(RetryPolicy::default())).service(once);
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const KUBECONFIG: &str = r#"
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://cluster.example:6443"}}]
users: [{name: u, user: {token: secret}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: shop}}]
current-context: x
"#;

    #[tokio::test]
    async fn the_flag_goes_first() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(KUBECONFIG.as_bytes()).expect("written");
        let config = find_cluster(Some(file.path())).await.expect("a cluster");
        assert_eq!(config.cluster_url.host(), Some("cluster.example"));
        assert_eq!(config.default_namespace, "shop");
    }

    #[tokio::test]
    async fn a_missing_file_is_named() {
        let error = find_cluster(Some(Path::new("/nowhere/kubeconfig"))).await.expect_err("no file");
        assert!(error.to_string().starts_with("cannot use the kubeconfig /nowhere/kubeconfig: "), "{error}");
    }

    #[tokio::test]
    async fn each_attempt_is_counted_under_the_host() {
        let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a socket");
        let address = socket.local_addr().expect("an address");
        tokio::spawn(async move {
            let mut codes = ["503 Service Unavailable", "200 OK"].iter();
            while let (Ok((mut stream, _)), Some(code)) = (socket.accept().await, codes.next()) {
                use tokio::io::{AsyncReadExt, AsyncWriteExt};
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let answer = format!("HTTP/1.1 {code}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        let metrics = Metrics::new();
        let config = Config::new(format!("http://{address}").parse().expect("a url"));
        let client = connect(config, &metrics).expect("a client");
        let request = http::Request::get("/version").body(Vec::new()).expect("a request");
        client.request_text(request).await.expect("the second attempt succeeds");
        let text = metrics.encode();
        for code in ["200", "503"] {
            let series = format!(
                "rest_client_requests_total{{code=\"{code}\",host=\"{address}\",method=\"GET\"}} 1\n"
            );
            assert!(text.contains(&series), "{series} is missing in\n{text}");
        }
    }
}
