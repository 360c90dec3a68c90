//! What the operator's own binary says about its CRDs.

use std::{
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use super::generated::Generated;
use kubewright_manifests::Style;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::Command,
};

use super::project::Request;
use crate::{
    error::Error,
    project::{self, BuildOptions, ProcessGroup, Project},
    shutdown::Shutdown,
};

/// Printing takes milliseconds; what takes longer waits for something that it will not get.
const PRINTED_WITHIN: Duration = Duration::from_secs(30);

/// The most that is read. The CRDs of the largest operators have some megabytes.
const LONGEST: u64 = 256 << 20;

/// Builds the operator and lets it print its CRDs.
pub(super) fn crds(request: &Request) -> Result<Generated, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::io("start the async runtime"))?;
    runtime.block_on(async {
        let shutdown = Shutdown::on_signals()?;
        let work = async {
            let project = Project::find(&request.folder, request.bin.as_deref()).await?;
            let options = BuildOptions { quiet: request.quiet, ..Default::default() };
            let binary = project::build(&project, options).await?;
            print(&binary, &arguments(request)).await
        };
        // Dropping `work` ends the processes that it holds.
        tokio::select! {
            biased;
            () = shutdown.requested() => Err(Error::Interrupted),
            result = work => result,
        }
    })
}

/// The command line by which the operator prints its CRDs as these settings want them.
fn arguments(request: &Request) -> Vec<String> {
    let settings = &request.settings;
    let mut arguments = vec!["crd".to_owned(), "--output=json".to_owned()];
    if settings.style == Style::ControllerGen {
        arguments.push("--compat=controller-gen".to_owned());
        arguments.push(format!("--tool-version={}", settings.tool_version().unwrap_or_default()));
    }
    if let Some(length) = settings.max_description_length() {
        arguments.push(format!("--max-desc-len={length}"));
    }
    if let Some(keep) = settings.embedded_object_meta() {
        arguments.push(format!("--embedded-object-meta={keep}"));
    }
    if settings.allow_dangerous_types() {
        arguments.push("--allow-dangerous-types".to_owned());
    }
    arguments
}

async fn print(binary: &Path, arguments: &[String]) -> Result<Generated, Error> {
    let command = format!("{} {}", binary.display(), arguments.join(" "));
    let mut process = Command::new(binary);
    process.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut operator = ProcessGroup::spawn(&mut process)
        .map_err(Error::io(format!("run the operator {}", binary.display())))?;
    let (stdout, stderr) = (operator.stdout(), operator.stderr());
    let read = async {
        let (stdout, stderr) = tokio::join!(read(stdout), read(stderr));
        // A process that closes its output may still run.
        let status = operator.wait().await;
        Ok::<_, std::io::Error>((stdout?, stderr?, status?))
    };
    let (stdout, stderr, status) = tokio::time::timeout(PRINTED_WITHIN, read)
        .await
        .map_err(|_| Error::CrdsNotPrinted { command: command.clone(), seconds: PRINTED_WITHIN.as_secs() })?
        .map_err(Error::io(format!("read what `{command}` prints")))?;
    outcome(&command, status, &stdout, &stderr)
}

async fn read(pipe: Option<impl AsyncRead + Unpin>) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(LONGEST).read_to_end(&mut bytes).await?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn outcome(command: &str, status: ExitStatus, stdout: &str, stderr: &str) -> Result<Generated, Error> {
    // The operator may print something of its own, before or after.
    let printed = stdout.lines().rev().find_map(|line| {
        let line = line.trim();
        if line.starts_with('{') { serde_json::from_str::<Generated>(line).ok() } else { None }
    });
    match printed {
        Some(generated) if status.success() => Ok(generated),
        _ => Err(Error::PrintCrds { command: command.to_owned(), status, stderr: stderr.trim().to_owned() }),
    }
}
