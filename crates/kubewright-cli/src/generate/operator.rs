//! What the operator's own binary says about its CRDs.

use std::{
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use kubewright_manifests::{Style, crd::Generated, schema::DescriptionLimits, source::Sources};
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
pub(super) fn crds(request: &Request, sources: &Sources) -> Result<Generated, Error> {
    let arguments = arguments(request, &description_limits(request, sources)?);
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
            print(&binary, &arguments, PRINTED_WITHIN).await
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
fn arguments(request: &Request, limits: &DescriptionLimits) -> Vec<String> {
    let settings = &request.settings;
    let mut arguments = vec!["crd".to_owned(), "--output=json".to_owned()];
    if settings.style == Style::ControllerGen {
        arguments.push("--compat=controller-gen".to_owned());
        arguments.push(format!("--tool-version={}", settings.tool_version().unwrap_or_default()));
    }
    if let Some(length) = settings.max_description_length() {
        arguments.push(format!("--max-desc-len={length}"));
    }
    arguments.extend(limits.iter().map(|(name, bytes)| format!("--max-desc-len-of={name}={bytes}")));
    if let Some(keep) = settings.embedded_object_meta() {
        arguments.push(format!("--embedded-object-meta={keep}"));
    }
    if let Some(preserve) = settings.preserve_unknown_fields() {
        arguments.push(format!("--preserve-unknown-fields={preserve}"));
    }
    if settings.allow_dangerous_types() {
        arguments.push("--allow-dangerous-types".to_owned());
    }
    arguments
}

/// The limits of descriptions by the names of types, which is how the operator knows them.
fn description_limits(request: &Request, sources: &Sources) -> Result<DescriptionLimits, Error> {
    let mut limits = DescriptionLimits::default();
    for (path, bytes) in request.settings.max_description_length_of() {
        if limits.set_module(path, bytes) {
            continue;
        }
        let types = sources.types_in(path).ok_or_else(|| {
            Error::Arguments(format!(
                "maxDescLenOf: `{path}` is no module of k8s_openapi, nor of the operator and what it depends on by path"
            ))
        })?;
        for name in types {
            limits.set_type(name, bytes);
        }
    }
    Ok(limits)
}

/// Runs the operator until it has printed its CRDs, or for as long as it may take.
async fn print(binary: &Path, arguments: &[String], within: Duration) -> Result<Generated, Error> {
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
    let (stdout, stderr, status) = tokio::time::timeout(within, read)
        .await
        .map_err(|_| Error::CrdsNotPrinted { command: command.clone(), seconds: within.as_secs() })?
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a process that runs this script.
    async fn printed(script: &str) -> Result<Generated, Error> {
        print(Path::new("sh"), &["-c".to_owned(), script.to_owned()], Duration::from_secs(60)).await
    }

    #[tokio::test]
    async fn what_the_operator_itself_prints_is_passed_over() {
        let json = r#"{"documents":[{"kind":"CustomResourceDefinition"}],"origins":[[]],"diagnostics":[]}"#;
        for script in [
            format!("echo '{json}'"),
            format!("echo 'starting {{}}'; echo '{{}}'; echo '{json}'; echo done; echo '{{\"level\": 1}}'"),
        ] {
            let generated = printed(&script).await.expect("it prints its CRDs");
            assert_eq!(generated.documents.len(), 1, "{script}");
        }
    }

    #[tokio::test]
    async fn a_failure_is_told_with_what_the_operator_said() {
        for script in [
            "echo 'no such command: crd' >&2; exit 2",
            "echo '{\"documents\":[]}'; echo 'no such command: crd' >&2; exit 1",
            "echo 'no such command: crd' >&2; kill -9 $$",
            "echo 'apiVersion: v1'; echo 'no such command: crd' >&2",
        ] {
            let error = printed(script).await.expect_err("it does not print them").to_string();
            assert!(error.starts_with("the operator did not print its CRDs (`sh -c "), "{error}");
            assert!(error.contains("Manager::new(Options::parse())"), "{error}");
            assert!(error.ends_with("it said:\nno such command: crd"), "{error}");
        }
    }

    #[tokio::test]
    async fn an_operator_that_does_not_end_is_ended() {
        // The inner shell would hold the pipe open.
        let script = ["-c".to_owned(), "sh -c 'read x < /dev/zero' & wait".to_owned()];
        let error = print(Path::new("sh"), &script, Duration::from_millis(200)).await.expect_err("it hangs");
        assert!(matches!(error, Error::CrdsNotPrinted { .. }), "{error}");
    }

    #[tokio::test]
    async fn much_output_on_both_pipes_does_not_block() {
        let script =
            "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero; echo; echo '{\"documents\":[]}'";
        assert_eq!(printed(script).await.expect("it prints them").documents.len(), 0);
    }
}
