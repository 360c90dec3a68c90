//! The flags of the commands that change a project. They are Kubebuilder's where it has them.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use kubewright_scaffold::license::License;

use crate::kubeconfig::ClusterChoice;

/// What every command that writes files has.
#[derive(Debug, Args)]
pub(crate) struct WriteOptions {
    /// Replace and remove files that stand in the way, even if you changed them.
    #[arg(long)]
    pub(crate) force: bool,

    /// Show the changes as a diff, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Show nothing but what is wrong.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The licences that a project may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LicenseName {
    /// Apache License, version 2.0.
    Apache2,
    /// MIT License.
    Mit,
    /// None: no file begins with one.
    None,
}

/// Where a project takes Kubewright from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FrameworkSource {
    /// The published version of this command.
    Version,
    /// The checkout from which this command was built.
    Path,
    /// The git repository.
    Git,
}

/// A flag with the values true and false, where none means true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// Yes.
    True,
    /// No.
    False,
}

#[derive(Debug, Args)]
pub(crate) struct InitOptions {
    /// The folder of the project. It is made if it is not there.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,

    /// The domain with which the project's API groups end.
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) domain: Option<String>,

    /// The name of the project, its package, and the beginning of its objects' names; by default that of the folder.
    #[arg(long, value_name = "NAME")]
    pub(crate) project_name: Option<String>,

    /// Who has the copyright, for the top of source files.
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: Option<String>,

    /// The licence.
    #[arg(long, value_enum, value_name = "LICENSE", default_value_t = LicenseName::Apache2)]
    pub(crate) license: LicenseName,

    /// A file with the notice at the top of each source file, in place of that of a licence.
    #[arg(long, value_name = "FILE", conflicts_with = "license")]
    pub(crate) license_file: Option<PathBuf>,

    /// The operator watches the namespace alone in which it runs, and needs no rights outside of it.
    #[arg(long)]
    pub(crate) namespaced: bool,

    /// Allow several API groups, each in a folder of its own.
    #[arg(long)]
    pub(crate) multigroup: bool,

    /// Add a Makefile with the targets that Kubebuilder's projects have.
    #[arg(long)]
    pub(crate) makefile: bool,

    /// Where the project takes Kubewright from: by default the published version, or the checkout of a command that was
    /// built from one.
    #[arg(long, value_enum, value_name = "SOURCE")]
    pub(crate) framework_source: Option<FrameworkSource>,

    /// Ask nothing; what is missing gets its default.
    #[arg(long, short)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) write: WriteOptions,

    /// A Go module has no meaning here; the last part of it names the project if nothing else does.
    #[arg(long, value_name = "MODULE", hide = true)]
    pub(crate) repo: Option<String>,

    #[command(flatten)]
    pub(crate) others: OtherOptions,
}

/// Flags of Kubebuilder that a line of an article may have, and that change nothing here.
#[derive(Debug, Args)]
pub(crate) struct OtherOptions {
    #[arg(long, value_name = "KEYS", hide = true)]
    pub(crate) plugins: Option<String>,

    #[arg(long, value_name = "VERSION", hide = true)]
    pub(crate) project_version: Option<String>,

    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "true", hide = true)]
    pub(crate) make: Option<Switch>,

    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "true", hide = true)]
    pub(crate) manifests: Option<Switch>,

    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "true", hide = true)]
    pub(crate) fetch_deps: Option<Switch>,

    #[arg(long, hide = true)]
    pub(crate) skip_go_version_check: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CreateCommand {
    /// Add a kind to the project, a controller, or both.
    ///
    /// Writes the type, the controller, a test and the configuration of the kind, and makes them known to the rest of the
    /// project. What you changed is kept; where that is not possible, nothing is written and you are told what to change.
    ///
    /// With --image the controller is complete: its objects run that image in a Deployment.
    #[command(after_help = CREATE_API_EXAMPLES)]
    Api(Box<CreateApiOptions>),

    /// Add webhooks to a kind of the project, or to one of Kubernetes.
    ///
    /// Writes the webhooks, a test in which the API server calls them, and the configuration by which it finds and trusts them. More of
    /// them are added by further calls. What you changed is kept; where that is not possible, nothing is written and you are told
    /// what to change.
    #[command(after_help = CREATE_WEBHOOK_EXAMPLES)]
    Webhook(Box<CreateWebhookOptions>),
}

/// Which kind.
#[derive(Debug, Args)]
pub(crate) struct KindChoice {
    /// The API group, without the project's domain.
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: Option<String>,

    /// The version, as v1 or v1alpha1.
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<String>,

    /// The kind, as Memcached.
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CreateApiOptions {
    #[command(flatten)]
    pub(crate) of: KindChoice,

    /// The plural, where it is not the usual one.
    #[arg(long, value_name = "PLURAL")]
    pub(crate) plural: Option<String>,

    /// Whether the objects are in namespaces.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true")]
    pub(crate) namespaced: Switch,

    /// Whether the project defines the kind. If not, it is one of Kubernetes itself, or of another crate.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) resource: Option<Switch>,

    /// Whether the kind gets a controller.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) controller: Option<Switch>,

    /// The name of the controller, where a kind gets another one beside the one that it has.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["image", "from_crd"])]
    pub(crate) controller_name: Option<String>,

    /// The image that the objects run: the controller then is complete.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<String>,

    /// The command of the container, its words separated by commas.
    #[arg(long, value_name = "WORDS", requires = "image", allow_hyphen_values = true)]
    pub(crate) image_container_command: Option<String>,

    /// The port on which the container listens.
    #[arg(long, value_name = "PORT", requires = "image")]
    pub(crate) image_container_port: Option<String>,

    /// The user as which the container runs, as a number.
    #[arg(long, value_name = "UID", requires = "image")]
    pub(crate) run_as_user: Option<String>,

    /// The module of another crate in which the type of the kind is, as `cert_manager::v1`.
    #[arg(long, value_name = "PATH")]
    pub(crate) external_api_path: Option<String>,

    /// The domain of that kind's group, if it is not the project's.
    #[arg(long, value_name = "DOMAIN", requires = "external_api_path")]
    pub(crate) external_api_domain: Option<String>,

    /// That crate and its version for Cargo.toml, as `cert-manager@0.3`.
    #[arg(long, value_name = "CRATE@VERSION", requires = "external_api_path")]
    pub(crate) external_api_module: Option<String>,

    /// Take the kind from a definition that is there already: a file with it, or its name on a cluster, as
    /// `httproutes.gateway.networking.k8s.io`. All its versions are taken, unless --version names one.
    #[arg(
        long,
        value_name = "FILE|NAME",
        conflicts_with_all = ["plural", "namespaced", "resource", "image", "external_api_path"]
    )]
    pub(crate) from_crd: Option<String>,

    #[command(flatten)]
    pub(crate) cluster: ClusterChoice,

    /// The folder of the project.
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) project: PathBuf,

    /// Ask nothing.
    #[arg(long, short)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) write: WriteOptions,

    #[command(flatten)]
    pub(crate) others: OtherOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CreateWebhookOptions {
    #[command(flatten)]
    pub(crate) of: KindChoice,

    /// The plural of a kind of Kubernetes, where it is not the usual one.
    #[arg(long, value_name = "PLURAL")]
    pub(crate) plural: Option<String>,

    /// A webhook that fills in what the user left out.
    #[arg(long)]
    pub(crate) defaulting: bool,

    /// A webhook that refuses what must not be.
    #[arg(long)]
    pub(crate) programmatic_validation: bool,

    /// A webhook that converts between the versions of the kind; this version is the hub.
    #[arg(long)]
    pub(crate) conversion: bool,

    /// The other versions, separated by commas.
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',', requires = "conversion")]
    pub(crate) spoke: Vec<String>,

    /// Where the defaulting webhook answers, if not at the usual path.
    #[arg(long, value_name = "PATH", requires = "defaulting")]
    pub(crate) defaulting_path: Option<String>,

    /// Where the validating webhook answers, if not at the usual path.
    #[arg(long, value_name = "PATH", requires = "programmatic_validation")]
    pub(crate) validation_path: Option<String>,

    /// The folder of the project.
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) project: PathBuf,

    /// Ask nothing.
    #[arg(long, short)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) write: WriteOptions,

    #[command(flatten)]
    pub(crate) others: OtherOptions,
}

#[derive(Debug, Args)]
pub(crate) struct EditOptions {
    /// Allow several API groups, or one alone. What is there moves to its new place.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) multigroup: Option<Switch>,

    /// Let the operator watch its own namespace alone, or all.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) namespaced: Option<Switch>,

    /// The licence.
    #[arg(long, value_enum, value_name = "LICENSE")]
    pub(crate) license: Option<LicenseName>,

    /// A file with the notice at the top of each source file, in place of that of a licence.
    #[arg(long, value_name = "FILE", conflicts_with = "license")]
    pub(crate) license_file: Option<PathBuf>,

    /// Who has the copyright.
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: Option<String>,

    /// Add a Makefile with the targets that Kubebuilder's projects have, or remove it.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) makefile: Option<Switch>,

    /// Where the project takes Kubewright from.
    #[arg(long, value_enum, value_name = "SOURCE")]
    pub(crate) framework_source: Option<FrameworkSource>,

    /// The folder of the project.
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) project: PathBuf,

    #[command(flatten)]
    pub(crate) write: WriteOptions,

    #[command(flatten)]
    pub(crate) others: OtherOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DeleteCommand {
    /// Take a kind out of the project, with its controller, its test and its configuration.
    ///
    /// Files that you changed are not removed without --force; then nothing is written at all. Definitions in clusters and
    /// their objects are left alone.
    #[command(after_help = DELETE_API_EXAMPLES)]
    Api(DeleteApiOptions),
}

#[derive(Debug, Args)]
pub(crate) struct DeleteApiOptions {
    /// The API group, without the project's domain.
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: String,

    /// The version.
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: String,

    /// The kind.
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: String,

    /// The folder of the project.
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) project: PathBuf,

    #[command(flatten)]
    pub(crate) write: WriteOptions,
}

#[derive(Debug, Args)]
pub(crate) struct UpgradeOptions {
    /// The folder of the project.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,

    /// Write nothing; exit with 1 if anything would change.
    #[arg(long)]
    pub(crate) check: bool,

    /// Show the changes as a diff, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Show nothing but what is wrong.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

pub(crate) const INIT_EXAMPLES: &str = "\
Examples:
  kubewright init --domain example.com
  kubewright init memcached-operator --domain example.com --owner \"Example Ltd\" --license mit
  kubewright init --domain example.com --namespaced --yes";

const CREATE_API_EXAMPLES: &str = "\
Examples:
  kubewright create api --group cache --version v1alpha1 --kind Memcached
  kubewright create api --group cache --version v1alpha1 --kind Memcached --image=memcached:1.4.36-alpine \\
      --image-container-command=\"memcached,-m=64,-o,modern,-v\" --image-container-port=11211 --run-as-user=1001
  kubewright create api --group apps --version v1 --kind Deployment --resource=false
  kubewright create api --group cache --version v1 --kind Memcached --controller=false
  kubewright create api --from-crd gateway-api.yaml --kind HTTPRoute
  kubewright create api --from-crd httproutes.gateway.networking.k8s.io --context staging";

const CREATE_WEBHOOK_EXAMPLES: &str = "\
Examples:
  kubewright create webhook --group cache --version v1alpha1 --kind Memcached --defaulting --programmatic-validation
  kubewright create webhook --group cache --version v1 --kind Memcached --conversion --spoke v1alpha1
  kubewright create webhook --group core --version v1 --kind Pod --programmatic-validation";

pub(crate) const EDIT_EXAMPLES: &str = "\
Examples:
  kubewright edit --multigroup
  kubewright edit --namespaced=false
  kubewright edit --license mit --owner \"Example Ltd\"";

const DELETE_API_EXAMPLES: &str = "\
Examples:
  kubewright delete api --group cache --version v1alpha1 --kind Memcached";

pub(crate) const UPGRADE_EXAMPLES: &str = "\
Examples:
  kubewright upgrade
  kubewright upgrade --check";

// === impl Switch ===

impl Switch {
    /// As a flag.
    pub(crate) fn is_on(self) -> bool {
        self == Self::True
    }
}

// === impl LicenseName ===

impl From<LicenseName> for License {
    fn from(name: LicenseName) -> Self {
        match name {
            LicenseName::Apache2 => Self::Apache2,
            LicenseName::Mit => Self::Mit,
            LicenseName::None => Self::None,
        }
    }
}

// === impl OtherOptions ===

impl OtherOptions {
    /// The flags that were given and change nothing, for a warning.
    pub(crate) fn without_effect(&self) -> Vec<&'static str> {
        let plugins = self
            .plugins
            .as_deref()
            .is_some_and(|plugins| plugins.split(',').any(|key| !key.contains("deploy-image")));
        let given = [
            (plugins, "--plugins"),
            (self.project_version.as_deref().is_some_and(|version| version != "3"), "--project-version"),
            (self.make == Some(Switch::True), "--make"),
            (self.manifests == Some(Switch::True), "--manifests"),
            (self.fetch_deps == Some(Switch::True), "--fetch-deps"),
            (self.skip_go_version_check, "--skip-go-version-check"),
        ];
        given.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag).collect()
    }
}
