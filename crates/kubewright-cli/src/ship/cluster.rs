//! Work on the cluster that a command is for.

use kube::Client;

use crate::{
    error::Error,
    kubeconfig::{ClusterChoice, client},
    on_runtime,
};

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
