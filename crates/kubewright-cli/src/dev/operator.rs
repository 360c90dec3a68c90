//! The operator's process.

use std::{
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::process::Command;

use crate::{error::Error, project::ProcessGroup};

/// How long an operator may take to end before it is killed. The command itself must end within 5 s.
const GRACE: Duration = Duration::from_secs(3);

/// A running operator. Dropped, it is killed.
#[derive(Debug)]
pub(crate) struct Operator {
    process: ProcessGroup,
}

impl Operator {
    /// Runs `binary` against the cluster of `kubeconfig`. Its output goes to the terminal.
    ///
    /// The environment has what the arguments may say, too, and then count.
    pub(crate) fn start(
        binary: &Path,
        kubeconfig: &Path,
        arguments: &[String],
        environment: &[(&str, String)],
    ) -> Result<Self, Error> {
        let process = ProcessGroup::spawn(
            Command::new(binary)
                .args(arguments)
                .env("KUBECONFIG", kubeconfig)
                .envs(environment.iter().map(|(name, value)| (name, value)))
                .stdin(Stdio::null()),
        )
        .map_err(Error::io(format!("run the operator {}", binary.display())))?;
        Ok(Self { process })
    }

    /// Waits until it ends by itself. Cancelling this changes nothing.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        match self.process.wait().await {
            Ok(status) => status,
            // The process can no longer be waited for: nobody will learn how it ended.
            Err(_) => std::future::pending().await,
        }
    }

    /// Ends it: asks first, kills after a grace period.
    pub(crate) async fn stop(self) {
        self.process.stop(GRACE).await;
    }
}
