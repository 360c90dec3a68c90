//! The `kubewright` binary and kubectl, as tests run them.

#![allow(dead_code, reason = "each test file uses its own part of this module")]

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

/// A running `kubewright`. Ended when dropped.
pub(crate) struct Kubewright {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Kubewright {
    pub(crate) fn start(arguments: &[&str], folder: &Path) -> Self {
        Self::start_with(arguments, folder, &[])
    }

    pub(crate) fn start_with(arguments: &[&str], folder: &Path, environment: &[(&str, &Path)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kubewright"))
            .args(arguments)
            .current_dir(folder)
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the kubewright binary runs");
        let stdout = child.stdout.take().expect("piped");
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// The next line on standard output.
    pub(crate) fn line(&self, within: Duration) -> String {
        self.lines.recv_timeout(within).expect("a line on standard output in time")
    }

    /// Waits until the process ends by itself.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("it can be waited for")
    }

    /// Sends `signal` and returns how the process ended, and after how long.
    pub(crate) fn end(&mut self, signal: Signal) -> (ExitStatus, Duration) {
        let started = Instant::now();
        let id = i32::try_from(self.child.id()).expect("a process id");
        kill(Pid::from_raw(id), signal).expect("the process is there");
        let status = self.child.wait().expect("it can be waited for");
        (status, started.elapsed())
    }
}

impl Drop for Kubewright {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.end(Signal::SIGTERM);
        }
    }
}

/// A cluster of its own for one test, and a kubectl that speaks to it.
pub(crate) struct Cluster {
    pub(crate) kubewright: Kubewright,
    pub(crate) ready: Value,
    folder: tempfile::TempDir,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// An API server alone.
    pub(crate) fn start_without_controllers() -> Self {
        Self::start_with(&["--controllers", "none"])
    }

    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let common =
            ["cluster", "--secure-port", "0", "--output", "json", "--write-kubeconfig", "kubeconfig"];
        let kubewright = Kubewright::start(&[&common, arguments].concat(), folder.path());
        let line = kubewright.line(Duration::from_secs(30));
        let ready = serde_json::from_str(&line).expect("the ready line is one JSON object");
        Self { kubewright, ready, folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    pub(crate) fn kubectl(&self, kubectl: &Path) -> Kubectl {
        Kubectl {
            binary: kubectl.to_owned(),
            kubeconfig: self.kubeconfig(),
            home: self.folder.path().to_owned(),
        }
    }
}

/// kubectl against one cluster.
pub(crate) struct Kubectl {
    pub(crate) binary: PathBuf,
    pub(crate) kubeconfig: PathBuf,
    /// Where it caches discovery: never in the user's own folder.
    pub(crate) home: PathBuf,
}

impl Kubectl {
    pub(crate) fn output(&self, arguments: &[&str]) -> Output {
        Command::new(&self.binary)
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(arguments)
            .env("HOME", &self.home)
            .current_dir(&self.home)
            .stdin(Stdio::null())
            .output()
            .expect("kubectl runs")
    }

    /// What it prints, if it succeeds without a warning.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kubectl {arguments:?} failed: {stderr}");
        assert!(!stderr.to_lowercase().contains("warning"), "kubectl {arguments:?} warned: {stderr}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// What it complains about, if it fails.
    pub(crate) fn fails(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert!(!output.status.success(), "kubectl {arguments:?} succeeded");
        String::from_utf8(output.stderr).expect("text")
    }
}

/// The kubectl to test with: `KUBECTL`, or the one on the `PATH`. Says that the test is skipped where there is none.
pub(crate) fn kubectl() -> Option<PathBuf> {
    let named = std::env::var_os("KUBECTL").map(PathBuf::from);
    let found = named.or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join("kubectl")).find(|file| file.is_file())
    });
    if found.is_none() {
        // Past the capture of the test harness: a skipped test must say so.
        let _ =
            writeln!(std::io::stderr(), "skipped: there is no kubectl on the PATH; name one with KUBECTL");
    }
    found
}

/// A client of one version, such as kubectl 1.32 or helm 3: from the folder named by `KUBEWRIGHT_CLIENTS`, or, for kubectl, the one
/// of [`kubectl`] if it has that version. Says that the test is skipped where there is none; it is a failure if the folder is named.
pub(crate) fn client(program: &str, version: &str) -> Option<PathBuf> {
    let name = format!("{program}-{version}");
    if let Some(folder) = std::env::var_os("KUBEWRIGHT_CLIENTS") {
        let file = PathBuf::from(folder).join(&name);
        assert!(file.is_file(), "KUBEWRIGHT_CLIENTS has no {name}; conformance/suites/clients puts it there");
        return Some(file);
    }
    let found = (program == "kubectl").then(kubectl).flatten().filter(|file| {
        let said = Command::new(file).args(["version", "--client"]).output().expect("kubectl runs");
        String::from_utf8_lossy(&said.stdout).contains(&format!("Version: v{version}."))
    });
    if found.is_none() {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: there is no {name}; name its folder with KUBEWRIGHT_CLIENTS"
        );
    }
    found
}
