//! The cluster that a command works on.

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use super::options::ClusterChoice;
use crate::{error::Error, on_runtime};

/// Does something with the cluster that the flags name. The user may end it; what was done by then stays.
pub(super) fn on_cluster(
    choice: &ClusterChoice,
    verbose: u8,
    work: impl AsyncFnOnce(Client) -> Result<(), Error>,
) -> Result<(), Error> {
    on_runtime(verbose, async |shutdown| {
        let client = client(choice).await?;
        tokio::select! {
            biased;
            () = shutdown.requested() => Err(Error::Stopped),
            result = work(client) => result,
        }
    })
}

/// A client of the cluster that the flags name, or that the environment does.
pub(super) async fn client(choice: &ClusterChoice) -> Result<Client, Error> {
    let failed = |reason: String| match &choice.kubeconfig {
        Some(path) => Error::ReadKubeconfig { path: path.clone(), reason },
        None => Error::Arguments(format!(
            "cannot find the cluster: {reason}; name it with --kubeconfig or --context, or start one with `kubewright cluster`"
        )),
    };
    let config = match (&choice.kubeconfig, &choice.context) {
        (None, None) => Config::infer().await.map_err(|error| failed(error.to_string()))?,
        (path, context) => {
            let file = path.as_ref().map_or_else(Kubeconfig::read, Kubeconfig::read_from);
            let file = file.map_err(|error| failed(error.to_string()))?;
            let options = KubeConfigOptions { context: context.clone(), ..KubeConfigOptions::default() };
            Config::from_custom_kubeconfig(file, &options).await.map_err(|error| failed(error.to_string()))?
        }
    };
    Client::try_from(config).map_err(|error| failed(error.to_string()))
}
