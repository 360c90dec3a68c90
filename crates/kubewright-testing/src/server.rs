use std::time::Duration;

use kubewright_apiserver::{AdmissionPlugins, ApiServer, Snapshot, WebhookClient};
use kubewright_world::{Clock, Random};
use tokio::time::sleep;

use crate::{
    endpoint::Endpoint,
    transport::{Conditions, Fault, happens},
};

/// Starts the API server of a cluster, and starts it again.
#[derive(Clone, Debug)]
pub(crate) struct ServerProcess {
    pub(crate) clock: Clock,
    pub(crate) random: Random,
    pub(crate) webhooks: WebhookClient,
    pub(crate) admission_plugins: AdmissionPlugins,
    /// Where it is found; `None` before the first start.
    pub(crate) endpoint: Option<Endpoint>,
}

impl ServerProcess {
    /// A server with this state, or with that of a new cluster.
    pub(crate) fn start(&self, state: Option<Snapshot>) -> ApiServer {
        let server = ApiServer::builder()
            .clock(self.clock.clone())
            .random(self.random.fork())
            .webhook_client(self.webhooks.clone())
            .admission_plugins(self.admission_plugins.clone());
        match state {
            Some(state) => server.restore(state).build(),
            None => server.build(),
        }
    }

    /// Puts a new server in the place of the one that is there, with its state.
    pub(crate) fn restart(&self) {
        let Some(endpoint) = &self.endpoint else { return };
        let old = endpoint.server();
        endpoint.replace(self.start(Some(old.snapshot())));
        old.close();
    }

    /// Does to the server what `conditions` call for. Does not end.
    pub(crate) async fn weather(self, conditions: Conditions, random: Random) {
        loop {
            let changed = conditions.changed();
            let faults = conditions.faults();
            if faults.restarts == 0 && faults.compactions == 0 {
                changed.await;
                continue;
            }
            sleep(Duration::from_secs(1)).await;
            let (restart, compact) =
                (happens(faults.restarts, &random), happens(faults.compactions, &random));
            if restart && conditions.inject(Fault::Restart, "of the API server") {
                self.restart();
            }
            if compact && conditions.inject(Fault::Compaction, "of the API server's history") {
                self.endpoint.iter().for_each(|endpoint| endpoint.server().compact_now());
            }
        }
    }
}
