//! The flags of the commands that put a project on a cluster.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use crate::{command::parse_duration, kubeconfig::ClusterChoice};

/// Whether what comes from code is brought up to date first.
#[derive(Debug, Args)]
pub(crate) struct GenerationOptions {
    /// Take the files in config/ as they are; do not generate them anew.
    #[arg(long)]
    pub(crate) no_generate: bool,

    /// The binary target that is the operator, if the package has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) bin: Option<String>,
}

/// How objects are applied.
#[derive(Debug, Args)]
pub(crate) struct ApplyOptions {
    #[command(flatten)]
    pub(crate) cluster: ClusterChoice,

    /// Let the API server check everything, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Show what changes, as a diff.
    #[arg(long)]
    pub(crate) diff: bool,

    /// Take over fields that others own, such as replicas that somebody scaled by hand.
    #[arg(long)]
    pub(crate) force_conflicts: bool,

    #[command(flatten)]
    pub(crate) generation: GenerationOptions,

    /// Show nothing but what is wrong.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// How objects are deleted.
#[derive(Debug, Args)]
pub(crate) struct DeleteOptions {
    #[command(flatten)]
    pub(crate) cluster: ClusterChoice,

    /// Let the API server check everything, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Delete definitions with all objects of their kinds, and do not ask.
    #[arg(long, short)]
    pub(crate) yes: bool,

    /// How long to wait until everything is gone.
    #[arg(long, value_name = "DURATION", default_value = "120s", value_parser = parse_duration)]
    pub(crate) timeout: Duration,

    /// Show nothing but what is wrong.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InstallOptions {
    /// The folder of the project.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,

    #[command(flatten)]
    pub(crate) apply: ApplyOptions,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallOptions {
    /// The folder of the project.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,

    #[command(flatten)]
    pub(crate) delete: DeleteOptions,
}

#[derive(Debug, Args)]
pub(crate) struct DeployOptions {
    /// The folder of the project.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,

    /// The image of the operator; the one that config/manager names, if none is given. No file is changed.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<String>,

    /// How long to wait until the operator is ready; 0 does not wait.
    #[arg(long, value_name = "DURATION", default_value = "120s", value_parser = parse_duration)]
    pub(crate) timeout: Duration,

    #[command(flatten)]
    pub(crate) apply: ApplyOptions,
}

#[derive(Debug, Args)]
pub(crate) struct UndeployOptions {
    /// The folder of the project.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,

    /// Leave the definitions, and with them all objects of their kinds.
    #[arg(long, conflicts_with = "yes")]
    pub(crate) keep_crds: bool,

    #[command(flatten)]
    pub(crate) delete: DeleteOptions,
}

#[derive(Debug, Args)]
pub(crate) struct BuildInstallerOptions {
    /// The folder of the project.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,

    /// The image of the operator; the one that config/manager names, if none is given. No file is changed.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<String>,

    /// Where to write it: a file, or `-` for the standard output. By default dist/install.yaml in the project.
    #[arg(long, short, value_name = "FILE|-")]
    pub(crate) output: Option<PathBuf>,

    /// Write nothing; exit with 1 if the file is not as it would be.
    #[arg(long)]
    pub(crate) check: bool,

    /// Show the changes of the file as a diff, and write nothing.
    #[arg(long, conflicts_with = "check")]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) generation: GenerationOptions,

    /// Show nothing but what is wrong.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// The folder of the project.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,

    #[command(flatten)]
    pub(crate) cluster: ClusterChoice,

    /// Build the operator with optimisations.
    #[arg(long)]
    pub(crate) release: bool,

    /// The binary target to run, if the package has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) bin: Option<String>,

    /// Arguments for the operator.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) operator_arguments: Vec<String>,
}

pub(crate) const INSTALL_EXAMPLES: &str = "\
Examples:
  kubewright install
  kubewright install --dry-run --diff --context staging";

pub(crate) const UNINSTALL_EXAMPLES: &str = "\
Examples:
  kubewright uninstall --dry-run
  kubewright uninstall --yes --context staging";

pub(crate) const DEPLOY_EXAMPLES: &str = "\
Examples:
  kubewright deploy --image registry.example.com/memcached-operator:v1
  kubewright deploy --image registry.example.com/memcached-operator:v1 --dry-run --diff";

pub(crate) const UNDEPLOY_EXAMPLES: &str = "\
Examples:
  kubewright undeploy --keep-crds
  kubewright undeploy --yes";

pub(crate) const BUILD_INSTALLER_EXAMPLES: &str = "\
Examples:
  kubewright build-installer --image registry.example.com/memcached-operator:v1
  kubewright build-installer --output - | kubectl apply --server-side -f -";

pub(crate) const RUN_EXAMPLES: &str = "\
Examples:
  kubewright run
  kubewright run --context staging -- --log-level debug";
