//! Building the operator.

use std::{ffi::OsString, path::PathBuf, process::Stdio};

use cargo_metadata::Message;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};

use super::{ProcessGroup, Project};
use crate::{error::Error, terminal};

/// How the operator is built.
#[derive(Clone, Debug, Default)]
pub(crate) struct BuildOptions {
    /// With optimisations.
    pub(crate) release: bool,
    /// Without cargo's progress; the compiler's errors are always shown.
    pub(crate) quiet: bool,
    /// More arguments for cargo.
    pub(crate) arguments: Vec<String>,
    /// Environment variables that cargo gets beside ours.
    pub(crate) environment: Vec<(String, OsString)>,
}

/// Builds the operator and returns the path of its binary. Cargo's progress and the compiler's messages go to
/// the terminal as they come. Dropping the future ends the build.
pub(crate) async fn build(project: &Project, options: BuildOptions) -> Result<PathBuf, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["build", "--message-format", "json-render-diagnostics", "--bin", &project.binary])
        .arg("--manifest-path")
        .arg(&project.manifest)
        .args(options.release.then_some("--release"))
        .args(options.quiet.then_some("--quiet"))
        .args(&options.arguments)
        .envs(options.environment)
        .args(terminal::colored().then_some("--color=always"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut cargo = ProcessGroup::spawn(&mut command).map_err(Error::io("run cargo build"))?;
    let mut binary = None;
    if let Some(stdout) = cargo.stdout() {
        let mut lines = BufReader::new(stdout).lines();
        while let Some(line) = lines.next_line().await.map_err(Error::io("read cargo's messages"))? {
            // What is no message of cargo's is the output of something that cargo ran.
            if let Ok(Message::CompilerArtifact(artifact)) = serde_json::from_str(&line)
                && artifact.target.name == project.binary
                && artifact.manifest_path.as_std_path() == project.manifest
                && let Some(executable) = artifact.executable
            {
                binary = Some(executable.into_std_path_buf());
            }
        }
    }
    let status = cargo.wait().await.map_err(Error::io("wait for cargo build"))?;
    match binary {
        Some(binary) if status.success() => Ok(binary),
        _ => Err(Error::Build),
    }
}
