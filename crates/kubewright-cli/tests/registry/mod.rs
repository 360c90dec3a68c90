//! A real registry, as a process of the test.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

/// A running registry with a storage of its own. Ended when dropped.
pub(crate) struct Registry {
    child: Child,
    pub(crate) address: String,
    _folder: tempfile::TempDir,
}

/// What a registry wants.
#[derive(Default)]
pub(crate) struct Wanted<'a> {
    /// A line of an htpasswd file.
    pub(crate) login: Option<&'a str>,
    /// The files of a certificate and its key.
    pub(crate) tls: Option<(&'a Path, &'a Path)>,
}

impl Registry {
    /// Starts one, or says that the test is skipped where there is none.
    pub(crate) fn start(wanted: &Wanted<'_>) -> Option<Self> {
        let program = program()?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        let mut config = format!(
            "version: 0.1\nlog: {{level: info, accesslog: {{disabled: true}}}}\nstorage: {{filesystem: {{rootdirectory: \
             '{}'}}}}\nhttp:\n  addr: 127.0.0.1:0\n",
            path("storage").display()
        );
        if let Some((certificate, key)) = wanted.tls {
            let (certificate, key) = (certificate.display(), key.display());
            config += &format!("  tls: {{certificate: '{certificate}', key: '{key}'}}\n");
        }
        if let Some(login) = wanted.login {
            std::fs::write(path("htpasswd"), login).expect("writable");
            config +=
                &format!("auth: {{htpasswd: {{realm: test, path: '{}'}}}}\n", path("htpasswd").display());
        }
        std::fs::write(path("config.yml"), config).expect("writable");
        let mut child = Command::new(program)
            .arg("serve")
            .arg(path("config.yml"))
            .env("OTEL_TRACES_EXPORTER", "none")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the registry runs");
        let (sender, lines) = mpsc::channel();
        let stderr = child.stderr.take().expect("piped");
        // Read to its end, so that the registry never waits for a reader.
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let address = loop {
            let line =
                lines.recv_timeout(Duration::from_secs(60)).expect("the registry says where it listens");
            if let Some((_, rest)) = line.split_once("listening on ") {
                break rest.split(['"', ',']).next().unwrap_or_default().to_owned();
            }
        };
        Some(Self { child, address, _folder: folder })
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        if let Ok(id) = i32::try_from(self.child.id()) {
            let _ = kill(Pid::from_raw(id), Signal::SIGTERM);
        }
        let _ = self.child.wait();
    }
}

/// `KUBEWRIGHT_REGISTRY`, or the one on the `PATH`.
fn program() -> Option<PathBuf> {
    let named = std::env::var_os("KUBEWRIGHT_REGISTRY").map(PathBuf::from);
    let found = named.or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join("docker-registry")).find(|file| file.is_file())
    });
    if found.is_none() {
        // Past the capture of the test harness: a skipped test must say so.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: there is no docker-registry on the PATH; name one with KUBEWRIGHT_REGISTRY, such as \
             conformance/registry/run"
        );
    }
    found
}
