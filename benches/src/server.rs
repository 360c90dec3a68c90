//! The API servers that operators are measured on: ours, and a real kube-apiserver with etcd.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use kube::{
    Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::Value;

use crate::{Result, cluster::ClusterProcess};

/// How long a real server may take to end.
const END: Duration = Duration::from_secs(20);

/// Which API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// `kubewright cluster --controllers none`.
    Ours,
    /// kube-apiserver and etcd, by `conformance/oracle/run`.
    Real,
}

/// An API server in a process of its own, without controllers. It ends when it is dropped.
pub(crate) struct Server {
    process: Process,
    kubeconfig: PathBuf,
}

enum Process {
    Ours { _cluster: ClusterProcess },
    Real(Child),
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "our API server",
            Self::Real => "kube-apiserver",
        }
    }
}

impl Server {
    /// Starts one. The programs of the real one are in the folder, or are built.
    pub(crate) fn start(kind: Kind, real: Option<&Path>) -> Result<Self> {
        match kind {
            Kind::Ours => {
                let cluster = ClusterProcess::start()?;
                let kubeconfig = cluster.kubeconfig().into();
                Ok(Self { process: Process::Ours { _cluster: cluster }, kubeconfig })
            }
            Kind::Real => {
                let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/oracle/run");
                let mut command = Command::new(script);
                if let Some(folder) = real {
                    command.arg("-bin").arg(folder);
                }
                let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
                let mut line = String::new();
                if let Some(output) = child.stdout.take() {
                    BufReader::new(output).read_line(&mut line)?;
                }
                let ready: Value = serde_json::from_str(&line)
                    .map_err(|error| format!("the real server did not start: {error}"))?;
                let kubeconfig = ready["kubeconfig"].as_str().unwrap_or_default().into();
                Ok(Self { process: Process::Real(child), kubeconfig })
            }
        }
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    pub(crate) async fn config(&self) -> Result<Config> {
        let kubeconfig = Kubeconfig::read_from(&self.kubeconfig)?;
        Ok(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Process::Real(child) = &mut self.process else { return };
        // It ends both programs when its input does.
        drop(child.stdin.take());
        let begun = std::time::Instant::now();
        while begun.elapsed() < END {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}
