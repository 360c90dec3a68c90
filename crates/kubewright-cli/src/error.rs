//! What can go wrong in a command, in the words that the user reads.

use std::{io, path::PathBuf, process::ExitStatus};

use kubewright_apiserver::DataDirError;
use kubewright_deploy::DeployError;
use kubewright_manifests::{
    compatibility::NotADefinition, options::OptionError, output::OutputError, source::SourceError,
};
use kubewright_scaffold::ScaffoldError;

use crate::image::ImageFailure;

/// A failed command. The text says what failed, on what, why, and what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    #[error("cannot {action}: {source}")]
    Io { action: String, source: io::Error },

    #[error("{0}")]
    Listen(String),

    #[error("{flag}: {reason}")]
    Flag { flag: &'static str, reason: String },

    #[error(transparent)]
    DataDir(#[from] DataDirError),

    #[error("cannot write the kubeconfig {}: {source}", path.display())]
    WriteKubeconfig { path: PathBuf, source: io::Error },

    #[error("cannot use the kubeconfig {}: {reason}", path.display())]
    ReadKubeconfig { path: PathBuf, reason: String },

    #[error(
        "cannot ask the operator at {address}: {reason}; it answers if it runs with \
         --debug-bind-address={address}, as `kubewright dev` and `kubewright run` run it"
    )]
    Top { address: String, reason: String },

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
        "the operator did not print its CRDs (`{command}` ended with {status}); it does if its `main` begins with \
         `Manager::new(Options::parse())` of kubewright{}",
        if stderr.is_empty() { String::new() } else { format!("; it said:\n{stderr}") }
    )]
    PrintCrds { command: String, status: ExitStatus, stderr: String },

    #[error(
        "the operator did not print its CRDs within {seconds} s (`{command}`); it must not do anything before \
         `Options::parse()` and `Manager::new(..)`, which print them"
    )]
    CrdsNotPrinted { command: String, seconds: u64 },

    #[error("interrupted; nothing was written")]
    Interrupted,

    #[error("{0}")]
    Arguments(String),

    #[error(transparent)]
    Definition(#[from] NotADefinition),

    #[error("{what} has no CustomResourceDefinition; name a file or a folder that has")]
    NoDefinitions { what: String },

    #[error("cannot read {object} from git: {reason}")]
    Git { object: String, reason: String },

    #[error(transparent)]
    Option(#[from] OptionError),

    #[error(transparent)]
    Source(#[from] SourceError),

    #[error(transparent)]
    Output(#[from] OutputError),

    #[error(transparent)]
    Image(Box<ImageFailure>),

    #[error("nothing was written because of {}", if *errors == 1 { "the error above".to_owned() } else { format!("the {errors} errors above") })]
    Diagnostics { errors: usize },

    #[error(
        "{} not up to date; run `kubewright generate`",
        if *files == 1 { "a generated file is".to_owned() } else { format!("{files} generated files are") }
    )]
    NotUpToDate { files: usize },

    #[error("{what} is not valid YAML: {reason}")]
    Yaml { what: String, reason: String },

    #[error("cannot {action} {object}: {reason}")]
    Api { action: &'static str, object: String, reason: String },

    #[error("the operator ended with {status} before it reconciled the samples")]
    OperatorEnded { status: ExitStatus },

    #[error(transparent)]
    Scaffold(#[from] ScaffoldError),

    #[error(transparent)]
    Deploy(#[from] DeployError),

    #[error(transparent)]
    Kustomize(#[from] kubewright_kustomize::Error),

    #[error("interrupted; what was done stays, and the same command goes on from there")]
    Stopped,

    #[error("{} not deleted, because there are objects of {}; --yes deletes them too",
        if names.len() == 1 { format!("{} was", names[0]) } else { format!("{} were", names.join(", ")) },
        if names.len() == 1 { "its kind" } else { "their kinds" })]
    DefinitionsLeft { names: Vec<String> },

    #[error("{} is not up to date; run `kubewright build-installer`", path.display())]
    InstallerNotUpToDate { path: PathBuf },

    #[error("the operator ended with {status}")]
    OperatorFailed { status: ExitStatus },

    #[error("nothing was written because of {}", if *files == 1 { "the file above".to_owned() } else { format!("the {files} files above") })]
    InTheWay { files: usize },

    #[error(
        "{} would change; run `kubewright upgrade`",
        if *files == 1 { "a file".to_owned() } else { format!("{files} files") }
    )]
    NotUpgraded { files: usize },

    #[error("both you and the new version changed the same lines; decide between the conflict marks in {}", files.join(", "))]
    Marked { files: Vec<String> },

    #[error("{} has no samples to apply; `dev --once` reads config/samples/*.yaml", path.display())]
    NoSamples { path: PathBuf },

    #[error("{object} was not reconciled within {seconds} s; its conditions are: {conditions}")]
    NotReconciled { object: String, seconds: u64, conditions: String },
}

impl From<ImageFailure> for Error {
    fn from(failure: ImageFailure) -> Self {
        Self::Image(Box::new(failure))
    }
}

impl Error {
    /// For `map_err`: the I/O error of doing `action`.
    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let action = action.into();
        move |source| Self::Io { action, source }
    }
}
