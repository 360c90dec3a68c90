//! Small projects, and `kubewright generate` on them.

#![allow(dead_code, reason = "each test file uses its own part of this module")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::SystemTime,
};

use serde_json::Value;

/// A package in a folder of its own.
pub(crate) struct Project {
    pub(crate) folder: tempfile::TempDir,
}

impl Project {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let project = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        project.write("Cargo.toml", "[package]\nname = \"zoo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// All that there is below `config`, with the times at which it was written.
    pub(crate) fn config(&self) -> Vec<(PathBuf, SystemTime)> {
        let mut found = Vec::new();
        let mut folders = vec![self.path("config")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let entry = entry.expect("readable");
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else {
                    let written =
                        entry.metadata().and_then(|metadata| metadata.modified()).expect("readable");
                    found.push((entry.path(), written));
                }
            }
        }
        found.sort();
        found
    }

    pub(crate) fn generate(&self, arguments: &[&str]) -> Run {
        generate(self.folder.path(), arguments)
    }
}

/// How a run ended.
pub(crate) struct Run {
    pub(crate) success: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `kubewright generate` in a folder.
pub(crate) fn generate(folder: &Path, arguments: &[&str]) -> Run {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .arg("generate")
        .args(arguments)
        .current_dir(folder)
        // Tests talk to nobody, and what they build is their own.
        .env("CARGO_NET_OFFLINE", "true")
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("CARGO_BUILD_TARGET_DIR")
        .stdin(Stdio::null())
        .output()
        .expect("the kubewright binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Run { success: status.code() == Some(0), stdout: text(stdout), stderr: text(stderr) }
}

impl Run {
    pub(crate) fn ok(self) -> Self {
        assert!(self.success, "{}", self.stderr);
        self
    }

    /// Failed with exit code 1, not by a panic or for the lack of sense of its arguments.
    pub(crate) fn failed(self) -> Self {
        assert!(!self.success && self.stderr.contains("error"), "{}{}", self.stdout, self.stderr);
        self
    }

    pub(crate) fn messages(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect("one JSON object a line")).collect()
    }
}
