//! `kubewright run`: the operator on this machine, against any cluster.

use std::{
    fs,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use kube::config::Kubeconfig;
use tokio::process::Command;

use super::options::RunOptions;
use crate::{
    error::Error,
    kubeconfig::{ClusterChoice, client},
    project::{self, BuildOptions, ProcessGroup, Project},
    shutdown::Shutdown,
    terminal, top,
};

/// How long the operator may take to end before it is killed: longer than its own grace period.
const GRACE: Duration = Duration::from_secs(35);

/// The kubeconfig for the operator, if the flags name another one than it would find: it reads the current context, so
/// that another context takes a file of its own.
fn kubeconfig(choice: &ClusterChoice, project: &Project) -> Result<Option<PathBuf>, Error> {
    let Some(context) = &choice.context else { return Ok(choice.kubeconfig.clone()) };
    let failed = |reason: String| Error::ReadKubeconfig {
        path: choice.kubeconfig.clone().unwrap_or_default(),
        reason,
    };
    let file = choice.kubeconfig.as_ref().map_or_else(Kubeconfig::read, Kubeconfig::read_from);
    let mut file = file.map_err(|error| failed(error.to_string()))?;
    file.current_context = Some(context.clone());
    let text = serde_json::to_string(&file).map_err(|error| failed(error.to_string()))?;
    let path =
        project.target_directory.join("kubewright").join(format!("{}.run.kubeconfig", project.package));
    let write = || {
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        // It has credentials.
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        file.write_all(text.as_bytes())
    };
    write().map_err(|source| Error::WriteKubeconfig { path: path.clone(), source })?;
    Ok(Some(path))
}

/// Builds the operator and runs it until it ends or the user asks it to.
pub(crate) async fn run(options: RunOptions, shutdown: Shutdown) -> Result<(), Error> {
    let project = Project::find(&options.path, options.bin.as_deref()).await?;
    // A kubeconfig that cannot be used is told before a build that takes minutes.
    client(&options.cluster).await?;
    let build = BuildOptions { release: options.release, ..Default::default() };
    let binary = tokio::select! {
        biased;
        () = shutdown.requested() => return Ok(()),
        binary = project::build(&project, build) => binary?,
    };
    let mut command = Command::new(&binary);
    command.args(&options.operator_arguments).envs(project::without_webhooks()).stdin(Stdio::null());
    if let Some(kubeconfig) = kubeconfig(&options.cluster, &project)? {
        command.env("KUBECONFIG", kubeconfig);
    }
    if let Some(address) = top::address_for_operator() {
        terminal::note(format_args!("`{}` shows what the operator is doing", top::command(&address)));
        command.env(top::ADDRESS_VARIABLE, address);
    }
    terminal::status("Running", binary.display());
    let mut process = ProcessGroup::spawn(&mut command)
        .map_err(Error::io(format!("run the operator {}", binary.display())))?;
    let ended = tokio::select! {
        biased;
        () = shutdown.requested() => None,
        status = process.wait() => Some(status.map_err(Error::io("wait for the operator"))?),
    };
    match ended {
        None => {
            process.stop(GRACE).await;
            Ok(())
        }
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(Error::OperatorFailed { status }),
    }
}
