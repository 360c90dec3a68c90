//! The runtimes that are compared, each a program that runs the same operator: `peers/` has their sources.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use crate::{
    Result,
    process::{self, Usage},
};

/// How much CPU time a program may use in [`IDLE_FOR`] and count as idle.
const IDLE_SECONDS: f64 = 0.05;
/// How long it must be idle.
const IDLE_FOR: Duration = Duration::from_secs(2);
/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(100);

/// A framework for operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Framework {
    Kubewright,
    ControllerRuntime,
    KubeRs,
}

/// The built programs: ours, and those of the peers if they were asked for.
#[derive(Debug)]
pub(crate) struct Programs {
    paths: BTreeMap<Framework, PathBuf>,
}

/// A program that runs. It is ended when this is dropped.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    errors: tempfile::NamedTempFile,
}

// === impl Programs ===

impl Programs {
    /// Builds the programs; those of the peers only if asked for. The one of controller-runtime needs Go.
    pub(crate) fn build(with_peers: bool) -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
        let own = std::env::current_exe()?;
        let folder = own.parent().ok_or("this program lies in no folder")?;
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(&root).args([
            "build",
            "--quiet",
            "--release",
            "-p",
            "kubewright-benches",
            "--bins",
        ]);
        run(&mut cargo)?;
        let release = folder.parent().ok_or("this program lies in no target folder")?.join("release");
        let mut paths = BTreeMap::from([(Framework::Kubewright, release.join("peer-kubewright"))]);
        if with_peers {
            let go = release.join("peer-controller-runtime");
            let mut build = Command::new("go");
            build
                .current_dir(root.join("benches/peers/controller-runtime"))
                .env("CGO_ENABLED", "0")
                .args(["build", "-trimpath", "-ldflags", "-s -w", "-o"])
                .arg(&go)
                .arg(".");
            run(&mut build)?;
            paths.insert(Framework::ControllerRuntime, go);
            paths.insert(Framework::KubeRs, release.join("peer-kube-rs"));
        }
        Ok(Self { paths })
    }

    /// The runtimes that there are programs of, ours first.
    pub(crate) fn runtimes(&self) -> impl Iterator<Item = Framework> + '_ {
        self.paths.keys().copied()
    }

    pub(crate) fn path(&self, runtime: Framework) -> Result<&Path> {
        Ok(self.paths.get(&runtime).ok_or_else(|| format!("{} was not built", runtime.name()))?)
    }

    /// Starts the program of a runtime on a cluster, with these arguments.
    pub(crate) fn start(&self, runtime: Framework, kubeconfig: &Path, arguments: &[&str]) -> Result<Running> {
        let mut command = Command::new(self.path(runtime)?);
        command.arg("--kubeconfig").arg(kubeconfig).args(arguments);
        Running::start(command)
    }
}

impl Framework {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kubewright => "ours",
            Self::ControllerRuntime => "controller-runtime",
            Self::KubeRs => "kube-rs",
        }
    }
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into())
}

// === impl Running ===

impl Running {
    fn start(mut command: Command) -> Result<Self> {
        let errors = tempfile::NamedTempFile::new()?;
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(errors.reopen()?)
            .spawn()
            .map_err(|error| format!("cannot run {command:?}: {error}"))?;
        let (send, lines) = channel();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                let lines = std::io::BufRead::lines(std::io::BufReader::new(output));
                lines.map_while(std::result::Result::ok).try_for_each(|line| send.send(line))
            });
        }
        Ok(Self { child, lines, errors })
    }

    pub(crate) fn usage(&self) -> Result<Usage> {
        process::usage(Some(self.child.id())).map_err(|error| self.why(&error.to_string()))
    }

    /// The next line that the program prints.
    pub(crate) fn line(&self, within: Duration) -> Result<String> {
        self.lines.recv_timeout(within).map_err(|error| self.why(&error.to_string()))
    }

    /// The lines that the program has printed and nobody took.
    pub(crate) fn printed(&self) -> Vec<String> {
        self.lines.try_iter().collect()
    }

    /// Waits until the program does nothing any more, and tells since when.
    pub(crate) async fn until_idle(&self, within: Duration) -> Result<Instant> {
        let deadline = Instant::now() + within;
        let mut seen = vec![(Instant::now(), self.usage()?.cpu_seconds)];
        loop {
            tokio::time::sleep(LOOK).await;
            let now = (Instant::now(), self.usage()?.cpu_seconds);
            seen.push(now);
            // The last look that is old enough.
            let before = seen.iter().rev().find(|(at, _)| now.0.duration_since(*at) >= IDLE_FOR);
            if let Some((since, cpu)) = before
                && now.1 - cpu <= IDLE_SECONDS
            {
                return Ok(*since);
            }
            if now.0 > deadline {
                return Err(self.why("it did not become idle"));
            }
        }
    }

    /// An error with the last lines that the program wrote.
    fn why(&self, what: &str) -> crate::Error {
        let errors = std::fs::read_to_string(self.errors.path()).unwrap_or_default();
        let last: Vec<&str> = errors.lines().rev().take(5).collect();
        format!("{what}; the program said: {}", last.join(" | ")).into()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It fails only if the process has ended, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
