//! The cluster that a command speaks to, as its flags name it.

use std::path::PathBuf;

use clap::Args;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use crate::error::Error;

/// Which cluster.
#[derive(Debug, Args)]
pub(crate) struct ClusterChoice {
    /// The kubeconfig of the cluster; the usual places, if it is not named.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// The context in the kubeconfig; the current one, if it is not named.
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

/// A client of the cluster that the flags name, or that the environment does.
pub(crate) async fn client(choice: &ClusterChoice) -> Result<Client, Error> {
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
