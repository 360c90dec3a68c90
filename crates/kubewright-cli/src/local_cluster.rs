//! The embedded cluster as a command runs it: API server, TLS listener, controllers, kubeconfig.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use kubewright_apiserver::{
    ApiServer, DataDir,
    listener::{ListenError, ListenOptions, Listening, Security},
};
use kubewright_cluster::Cluster;
use kubewright_world::{Clock, Random};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{command::ServingOptions, error::Error, shutdown::Shutdown};

/// How long requests may go on when the cluster ends. The command ends at once; nothing is worth waiting for.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(200);

/// A running embedded cluster.
pub(crate) struct LocalCluster {
    server: ApiServer,
    listening: Listening,
    kubeconfig: PathBuf,
    /// Whether the kubeconfig lies in a folder of our own, which goes when the cluster ends.
    own_folder: Option<PathBuf>,
    controllers: JoinHandle<kubewright_runtime::Result<()>>,
    stop: CancellationToken,
}

impl LocalCluster {
    /// Starts the cluster. When this returns, the server answers and the kubeconfig is written, to
    /// `--write-kubeconfig`, or to `kubeconfig`, or to a new folder that only this user can read.
    pub(crate) async fn start(
        port: u16,
        options: ServingOptions,
        kubeconfig: Option<PathBuf>,
    ) -> Result<Self, Error> {
        let (clock, random) = (Clock::system(), Random::from_entropy());
        let address = SocketAddr::new(options.bind_address, port);
        let mut listen = ListenOptions::default().at(address);
        listen.shutdown_grace = SHUTDOWN_GRACE;
        let server = ApiServer::builder().clock(clock.clone()).random(random.fork());
        let makes_accounts = options.controllers.selects("serviceaccount-controller");
        let mut server = options.api_server.configure(server, makes_accounts)?;
        if let Some(path) = &options.data_dir {
            let data_dir = DataDir::open(path, &random.fork())?;
            listen.security = Security::Tls(Some(data_dir.authority().clone()));
            server = server.data_dir(data_dir);
        }
        let server = server.build();
        options.api_server.configure_listener(&mut listen)?;
        let listening = server.listen(listen).await.map_err(|error| match error {
            ListenError::AddressInUse { .. } => {
                Error::Listen(format!("{error}; choose another port with --secure-port, 0 for any free one"))
            }
            ListenError::Bind { .. } => {
                Error::Listen(format!("{error}; see --bind-address and --secure-port"))
            }
            _ => Error::Listen(error.to_string()),
        })?;

        let (kubeconfig, own_folder) = match options.write_kubeconfig.or(kubeconfig) {
            Some(path) => (path, None),
            None => {
                let folder = std::env::temp_dir().join(format!("kubewright-{}", random.uid()));
                (folder.join("kubeconfig"), Some(folder))
            }
        };
        let write = |path: &Path| {
            // Only a folder of our own is made: a mistyped --write-kubeconfig should fail.
            if let Some(folder) = &own_folder {
                std::fs::create_dir_all(folder)?;
            }
            listening.write_kubeconfig(path)
        };
        write(&kubeconfig).map_err(|source| Error::WriteKubeconfig { path: kubeconfig.clone(), source })?;
        // The path is printed for use from other folders.
        let kubeconfig = std::path::absolute(&kubeconfig).unwrap_or(kubeconfig);

        let stop = CancellationToken::new();
        let client = kube::Client::new(server.service(), "default");
        let mut cluster = Cluster::builder(client, clock, random.fork()).controllers(options.controllers);
        if let Some(ca) = listening.ca_pem() {
            cluster = cluster.root_ca(ca);
        }
        let cluster = cluster.build();
        let controllers = tokio::spawn(cluster.run(stop.clone()));
        Ok(Self { server, listening, kubeconfig, own_folder, controllers, stop })
    }

    /// Where the API server answers.
    pub(crate) fn url(&self) -> String {
        self.listening.url()
    }

    /// The kubeconfig of its administrator.
    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Serves until `shutdown` or until the controllers fail.
    pub(crate) async fn run(mut self, shutdown: &Shutdown) -> Result<(), Error> {
        let result = tokio::select! {
            biased;
            () = shutdown.requested() => Ok(()),
            error = self.failed() => Err(error),
        };
        self.stop().await;
        result
    }

    /// Completes only if the controllers end, which they do not unless something is wrong, or if the data directory cannot
    /// be written.
    pub(crate) async fn failed(&mut self) -> Error {
        let ended = tokio::select! {
            biased;
            error = self.server.failed() => return error.into(),
            ended = &mut self.controllers => ended,
        };
        match ended {
            Ok(Ok(())) if self.stop.is_cancelled() => std::future::pending().await,
            Ok(Ok(())) => Error::Controllers("they ended without a reason".to_owned()),
            Ok(Err(error)) => Error::Controllers(error.to_string()),
            Err(error) => Error::Controllers(error.to_string()),
        }
    }

    /// Ends the controllers, the open watches and the listener.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        // State ends with the process, or is kept as it is: there is nothing that controllers could finish.
        self.controllers.abort();
        self.server.close();
        self.listening.shutdown().await;
        if let Some(folder) = self.own_folder {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
