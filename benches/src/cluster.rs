//! `kubewright cluster` in a process of its own, as users run it.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use kube::{
    Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::Value;

use crate::{
    Result,
    process::{self, Usage},
};

/// With this variable the binary is the `kubewright` command instead of the measurement.
pub(crate) const PROCESS: &str = "KUBEWRIGHT_BENCH_CLUSTER";

/// A cluster without controllers that listens on loopback. It ends when it is dropped.
pub(crate) struct ClusterProcess {
    child: Child,
    kubeconfig: String,
    /// How long it took until it answered.
    pub(crate) started_in: Duration,
}

/// Is the `kubewright` command.
pub(crate) fn run_process() -> ExitCode {
    kubewright_cli::main()
}

impl ClusterProcess {
    pub(crate) fn start() -> Result<Self> {
        let started = Instant::now();
        let mut child = Command::new(std::env::current_exe()?)
            .env(PROCESS, "1")
            .args(["cluster", "--secure-port", "0", "--controllers", "none", "--output", "json"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let output = child.stdout.take().ok_or("the process has no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let started_in = started.elapsed();
        let ready: Value = serde_json::from_str(&line)?;
        let kubeconfig = ready["kubeconfig"].as_str().unwrap_or_default().to_owned();
        Ok(Self { child, kubeconfig, started_in })
    }

    pub(crate) fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }

    pub(crate) async fn config(&self) -> Result<Config> {
        let kubeconfig = Kubeconfig::read_from(&self.kubeconfig)?;
        Ok(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)
    }

    pub(crate) fn usage(&self) -> Result<Usage> {
        process::usage(Some(self.child.id()))
    }
}

impl Drop for ClusterProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let folder = std::path::Path::new(&self.kubeconfig).parent();
        let _ = folder.map(std::fs::remove_dir_all);
    }
}
