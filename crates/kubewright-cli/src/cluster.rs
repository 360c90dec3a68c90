//! `kubewright cluster`: the embedded cluster alone.

use kubewright_apiserver::Version;
use serde_json::json;

use crate::{
    command::{ClusterOptions, OutputFormat},
    error::Error,
    local_cluster::LocalCluster,
    shutdown::Shutdown,
    terminal,
};

/// Runs until `shutdown`. Prints one line on standard output when the cluster answers: a contract on which
/// programs in other languages rely.
pub(crate) async fn run(options: ClusterOptions, shutdown: Shutdown) -> Result<(), Error> {
    let cluster = LocalCluster::start(options.secure_port, options.serving, None).await?;
    let url = cluster.url();
    let kubeconfig = cluster.kubeconfig().display();
    match options.output {
        OutputFormat::Text => {
            terminal::result(format_args!("the cluster is ready at {url}, kubeconfig {kubeconfig}"));
        }
        OutputFormat::Json => terminal::result(json!({
            "ready": true,
            "url": url,
            "kubeconfig": cluster.kubeconfig(),
            "version": Version::default().to_string(),
        })),
    }
    cluster.run(&shutdown).await
}
