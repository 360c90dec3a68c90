//! What can go wrong in a command, in the words that the user reads.

use std::{io, path::PathBuf, process::ExitStatus};

/// A failed command. The text says what failed, on what, why, and what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    #[error("cannot {action}: {source}")]
    Io { action: String, source: io::Error },

    #[error("{0}")]
    Listen(String),

    #[error("cannot write the kubeconfig {}: {source}", path.display())]
    WriteKubeconfig { path: PathBuf, source: io::Error },

    #[error("cannot use the kubeconfig {}: {reason}", path.display())]
    ReadKubeconfig { path: PathBuf, reason: String },

    #[error("the cluster's controllers failed: {0}")]
    Controllers(String),

    #[error("{} is not a Cargo package: {reason}", path.display())]
    NotAPackage { path: PathBuf, reason: String },

    #[error(
        "the package `{package}` has {}; name the operator's with --bin",
        if found.is_empty() { "no binary target".to_owned() } else { format!("several binary targets ({})", found.join(", ")) }
    )]
    WhichBinary { package: String, found: Vec<String> },

    #[error("the operator does not build; cargo's message is above")]
    Build,

    #[error(
        "the operator did not print its CRDs (`{command}` ended with {status}){}",
        if stderr.is_empty() { String::new() } else { format!(":\n{stderr}") }
    )]
    PrintCrds { command: String, status: ExitStatus, stderr: String },

    #[error("{what} is not valid YAML: {reason}")]
    Yaml { what: String, reason: String },

    #[error("cannot {action} {object}: {reason}")]
    Api { action: &'static str, object: String, reason: String },

    #[error("the operator ended with {status} before it reconciled the samples")]
    OperatorEnded { status: ExitStatus },

    #[error("{} has no samples to apply; `dev --once` reads config/samples/*.yaml", path.display())]
    NoSamples { path: PathBuf },

    #[error("{object} was not reconciled within {seconds} s; its conditions are: {conditions}")]
    NotReconciled { object: String, seconds: u64, conditions: String },
}

impl Error {
    /// For `map_err`: the I/O error of doing `action`.
    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let action = action.into();
        move |source| Self::Io { action, source }
    }
}
