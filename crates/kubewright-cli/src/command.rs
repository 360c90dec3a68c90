//! The commands and their flags: one table from which parsing, help and the error texts come.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use kubewright_cluster::Selection;
use kubewright_manifests::compatibility::Exception;

use crate::{
    api_server::ApiServerOptions,
    check, generate,
    image::ImageCommand,
    kubeconfig::ClusterChoice,
    scaffold::options::{self, CreateCommand, DeleteCommand, EditOptions, InitOptions, UpgradeOptions},
    ship::options::{
        self as ship, BuildInstallerOptions, DeployOptions, InstallOptions, RunOptions, UndeployOptions,
        UninstallOptions,
    },
    top::DEFAULT_ADDRESS,
};

/// The operator framework for Rust: one binary from an empty folder to a running operator.
#[derive(Debug, Parser)]
#[command(name = "kubewright", version, max_term_width = 110, after_help = AFTERWARDS)]
pub(crate) struct Arguments {
    /// Say more: -v for what Kubewright does, -vv for every request the API server answers.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a project for an operator.
    ///
    /// It builds, tests and runs at once. Nothing that is there is overwritten without --force: what stands in the way is
    /// shown, and nothing is written.
    #[command(after_help = options::INIT_EXAMPLES)]
    Init(InitOptions),

    /// Add a kind to a project.
    #[command(subcommand)]
    Create(CreateCommand),

    /// Change the settings of a project.
    #[command(after_help = options::EDIT_EXAMPLES)]
    Edit(EditOptions),

    /// Take something out of a project.
    #[command(subcommand)]
    Delete(DeleteCommand),

    /// Bring the scaffolded files of a project to this version.
    ///
    /// What this version would write is merged with what you made of the files, three-way. Where both changed the same
    /// lines, the file gets conflict marks, and the exit code is 1.
    #[command(after_help = options::UPGRADE_EXAMPLES)]
    Upgrade(UpgradeOptions),

    /// Run a Kubernetes API server with its controllers, for any client in any language.
    ///
    /// Ends at once on SIGINT or SIGTERM, with exit code 0. State lives in memory and ends with the command, unless
    /// --data-dir names a folder for it.
    #[command(after_help = CLUSTER_EXAMPLES)]
    Cluster(ClusterOptions),

    /// Run an operator against a development cluster; rebuild and swap it whenever its sources change.
    ///
    /// Starts an embedded cluster, installs the operator's CRDs, builds and runs the operator, and follows its
    /// sources. On save the operator is rebuilt and swapped while the cluster keeps its state; a failed build
    /// leaves the old operator running.
    #[command(after_help = DEV_EXAMPLES)]
    Dev(DevOptions),

    /// Write the operator's CRDs, roles and webhook configurations from its types and markers.
    ///
    /// CRDs come from the operator itself, which is built for it; roles and webhook configurations from the markers in its
    /// sources. Files that have the right content are not touched, and those that were generated and are no longer are
    /// removed. If anything is wrong, all of it is shown and nothing is written.
    #[command(after_help = generate::examples(), after_long_help = generate::options_help())]
    Generate(GenerateOptions),

    /// Put the definitions of a project on a cluster.
    ///
    /// They are generated, built from config/crd, applied, and waited for until they are served.
    #[command(after_help = ship::INSTALL_EXAMPLES)]
    Install(InstallOptions),

    /// Take the definitions of a project from a cluster.
    ///
    /// A definition that has objects is deleted only with --yes, or if you say so when asked.
    #[command(after_help = ship::UNINSTALL_EXAMPLES)]
    Uninstall(UninstallOptions),

    /// Run an operator on this machine, against any cluster.
    ///
    /// Its definitions have to be there: see `install`. Nothing is rebuilt when a file is saved: see `dev`.
    #[command(after_help = ship::RUN_EXAMPLES)]
    Run(RunOptions),

    /// Put an operator on a cluster, as config/default says.
    ///
    /// Definitions and roles are generated, the kustomization is built with --image, everything is applied by server-side
    /// apply, what an earlier deploy had and this one has not is pruned, and the operator is waited for.
    #[command(after_help = ship::DEPLOY_EXAMPLES)]
    Deploy(DeployOptions),

    /// Take an operator from a cluster.
    ///
    /// A definition that has objects is deleted only with --yes, or if you say so when asked.
    #[command(after_help = ship::UNDEPLOY_EXAMPLES)]
    Undeploy(UndeployOptions),

    /// Write all that is deployed into one file.
    #[command(after_help = ship::BUILD_INSTALLER_EXAMPLES)]
    BuildInstaller(BuildInstallerOptions),

    /// Check what a change breaks.
    #[command(subcommand)]
    Check(CheckCommand),

    /// Build the operator's container image without Docker, push it, pull it.
    #[command(subcommand)]
    Image(ImageCommand),

    /// Show what an operator is doing: its controllers, what runs, what fails and why, its watches.
    ///
    /// The operator tells it at its --debug-bind-address, which `dev` and `run` set. For one in a cluster, forward the port:
    /// kubectl port-forward deployment/NAME 8082. Ends on Ctrl-C.
    #[command(after_help = TOP_EXAMPLES)]
    Top(TopOptions),

    /// Print the completions of a shell, or write the manual pages.
    #[command(after_help = COMPLETION_EXAMPLES)]
    Completion(CompletionOptions),

    /// Print the versions of the command and of what it stands for.
    #[command(after_help = VERSION_EXAMPLES)]
    Version(VersionOptions),
}

#[derive(Debug, Args)]
pub(crate) struct TopOptions {
    /// Where the operator tells what it is doing: host and port, or the URL of its secure metrics endpoint.
    #[arg(value_name = "ADDRESS", default_value = DEFAULT_ADDRESS)]
    pub(crate) address: String,

    /// How often to look.
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = parse_duration)]
    pub(crate) interval: Duration,

    /// Print it once and end, as without a terminal.
    #[arg(long)]
    pub(crate) once: bool,

    /// How to print it. JSON is printed once.
    #[arg(long, short, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output: OutputFormat,

    /// The bearer token to show to a secure endpoint.
    #[arg(long, env = "KUBEWRIGHT_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,

    /// Take any certificate of a secure endpoint.
    #[arg(long)]
    pub(crate) insecure_skip_tls_verify: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionOptions {
    /// The shell whose completions are printed.
    #[arg(value_enum, value_name = "SHELL", required_unless_present = "man")]
    pub(crate) shell: Option<Shell>,

    /// Write a manual page for each command into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "shell")]
    pub(crate) man: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct VersionOptions {
    /// How to print them.
    #[arg(long, short, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output: OutputFormat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CheckCommand {
    /// Tell which changes of CRDs break stored objects or clients.
    ///
    /// Every change is safe, needs conversion, or is unsafe, and is shown with its path and the reason. Safe means: whatever
    /// was valid before, stored or requested, still is, and keeps its fields.
    ///
    /// Exit codes: 0 if nothing is worse than safe, exceptions aside; 1 if something needs conversion or is unsafe; 2 if the
    /// CRDs could not be compared.
    #[command(after_help = check::EXAMPLES, after_long_help = check::rules_help())]
    Crd(CheckCrdOptions),
}

#[derive(Debug, Args)]
pub(crate) struct CheckCrdOptions {
    /// The CRDs as they are: a file or a folder, REV:PATH in git, `cluster`, or `cluster:NAME`.
    ///
    /// Files hold YAML or JSON, with any number of documents; what is no CRD is left out. `git:REV:PATH` is git for sure.
    /// `cluster` asks the cluster for the CRDs of the other side, `cluster:NAME` for one.
    #[arg(value_name = "OLD")]
    pub(crate) old: String,

    /// The CRDs as they are to be, named in the same ways.
    #[arg(value_name = "NEW")]
    pub(crate) new: String,

    /// Do not count changes of this rule, everywhere or at one path only. May be repeated; --help lists the rules.
    #[arg(long, value_name = "RULE[:PATH]", value_parser = Exception::parse)]
    pub(crate) allow: Vec<Exception>,

    /// How to print the changes.
    #[arg(long, short, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output: OutputFormat,

    #[command(flatten)]
    pub(crate) cluster: ClusterChoice,
}

/// What a cluster consists of, where it listens and where its kubeconfig goes.
#[derive(Debug, Args)]
pub(crate) struct ServingOptions {
    /// The address to listen on. The default is reachable from this machine alone.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub(crate) bind_address: IpAddr,

    /// Where to write the kubeconfig (mode 0600). `~/.kube/config` is never touched unless named here.
    #[arg(long, value_name = "FILE")]
    pub(crate) write_kubeconfig: Option<PathBuf>,

    /// The controllers to run: `*` for all, `none`, or a list such as `deployment,replicaset`; `-name`
    /// takes one away from `*`.
    #[arg(long, value_name = "LIST", default_value = "*", allow_hyphen_values = true)]
    pub(crate) controllers: Selection,

    /// A folder that keeps the cluster across restarts, kill -9 included: objects with their versions, the certificate
    /// authority and service account keys, so that kubeconfigs and tokens stay valid. Without it the cluster lives in memory.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) api_server: ApiServerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ClusterOptions {
    /// The port to listen on with TLS; 0 picks a free one.
    #[arg(long, value_name = "PORT", default_value_t = 6443)]
    pub(crate) secure_port: u16,

    #[command(flatten)]
    pub(crate) serving: ServingOptions,

    /// The form of the one line that is printed when the cluster answers.
    #[arg(long, short, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output: OutputFormat,
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people.
    Text,
    /// One JSON object on one line, for programs.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct DevOptions {
    /// The folder of the operator's Cargo package.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,

    /// Run once, for scripts: apply the project's samples, wait until the operator has reconciled them, end.
    ///
    /// A sample is reconciled when its status reports the condition Available, Ready or Established as true for
    /// its current generation. Exit code 1 if one is not within --timeout.
    #[arg(long)]
    pub(crate) once: bool,

    /// How long --once waits for the samples.
    #[arg(long, value_name = "DURATION", default_value = "120s", value_parser = parse_duration)]
    pub(crate) timeout: Duration,

    /// Use the cluster of this kubeconfig instead of an embedded one.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["secure_port", "write_kubeconfig", "controllers", "bind_address", "data_dir", "ApiServerOptions"]
    )]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// The port of the embedded cluster; 0 picks a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) secure_port: u16,

    #[command(flatten)]
    pub(crate) serving: ServingOptions,

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

#[derive(Debug, Args)]
pub(crate) struct GenerateOptions {
    /// What to generate (crd, rbac, webhook; all of them unless one is named), with options after a colon,
    /// output rules, and the folder of the operator's Cargo package.
    ///
    /// The syntax is controller-gen's, so that the line of a Makefile works as it stands. See the end of this help.
    #[arg(value_name = "GENERATOR|OUTPUT|PATH")]
    pub(crate) words: Vec<String>,

    /// Write nothing; show what would change, and fail if anything would.
    #[arg(long)]
    pub(crate) check: bool,

    /// Write all files to this folder, or, for `-`, all documents to the standard output.
    #[arg(long, short, value_name = "DIR|-")]
    pub(crate) output: Option<String>,

    /// Whose conventions to follow, to the byte.
    #[arg(long, value_enum, value_name = "GENERATOR")]
    pub(crate) compat: Option<Compat>,

    /// The binary target that is the operator, if the package has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) bin: Option<String>,

    /// Show nothing but what is wrong.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// How to tell what is wrong and what was done: for people, or as one JSON object a line on the standard output.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = MessageFormat::Human)]
    pub(crate) message_format: MessageFormat,

    /// Print what markers there are, and do nothing else.
    #[arg(long, value_enum, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "markdown")]
    pub(crate) markers: Option<MarkersFormat>,
}

/// A generator whose output is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compat {
    /// controller-gen v0.23.
    ControllerGen,
    /// None, whatever the manifest says.
    None,
}

/// How messages are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// For people.
    Human,
    /// One JSON object a line, for programs.
    Json,
}

/// How the table of markers is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MarkersFormat {
    /// A page for people.
    Markdown,
    /// One JSON document, for programs.
    Json,
}

const AFTERWARDS: &str = "\
Examples:
  kubewright init --domain example.com
  kubewright create api --group cache --version v1alpha1 --kind Memcached
  kubewright dev --once

Exit codes: 0 for success, and for a command that SIGINT or SIGTERM ends as it should; 1 for a failure, or a verdict that
something is not up to date; 2 for arguments that make no sense. `check` has 1 for a bad verdict alone, and 2 for whatever
keeps it from one.";

const VERSION_EXAMPLES: &str = "\
Examples:
  kubewright version
  kubewright version --output json";

const COMPLETION_EXAMPLES: &str = "\
Examples:
  kubewright completion bash > ~/.local/share/bash-completion/completions/kubewright
  kubewright completion zsh > \"${fpath[1]}/_kubewright\"
  kubewright completion fish > ~/.config/fish/completions/kubewright.fish
  kubewright completion --man ~/.local/share/man/man1";

const TOP_EXAMPLES: &str = "\
Examples:
  kubewright top
  kubewright top --once
  kubewright top 127.0.0.1:8082 --output json
  kubewright top https://127.0.0.1:8443 --insecure-skip-tls-verify --token \"$(kubectl create token operator)\"";

const CLUSTER_EXAMPLES: &str = "\
Examples:
  kubewright cluster --write-kubeconfig kubeconfig
  kubewright cluster --secure-port 0 --controllers none --output json
  kubewright cluster --data-dir ./cluster-data
  kubewright cluster --token-auth-file tokens.csv --anonymous-auth=false
  kubewright cluster --service-cluster-ip-range 10.43.0.0/16,fd00:43::/112";

const DEV_EXAMPLES: &str = "\
Examples:
  kubewright dev
  kubewright dev examples/memcached-operator
  kubewright dev --once
  kubewright dev --kubeconfig ~/.kube/config -- --log-level debug";

/// Parses `90s`, `2m`, `500ms` or a plain number of seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let number: u64 = number.parse().map_err(|_| format!("`{text}` is not a duration such as 90s or 2m"))?;
    match unit {
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        "m" => Ok(Duration::from_secs(number.saturating_mul(60))),
        _ => Err(format!("`{unit}` is not a unit of time; use ms, s or m")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_table_of_commands_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(parse_duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert!(parse_duration("soon").is_err());
        assert!(parse_duration("3 days").is_err());
    }

    #[test]
    fn arguments_after_two_dashes_go_to_the_operator() {
        let arguments =
            Arguments::try_parse_from(["kubewright", "dev", "somewhere", "--", "--log-level", "debug"])
                .expect("valid arguments");
        let Command::Dev(options) = arguments.command else { panic!("not dev: {arguments:?}") };
        assert_eq!(options.path, PathBuf::from("somewhere"));
        assert_eq!(options.operator_arguments, ["--log-level", "debug"]);
    }

    #[test]
    fn a_kubeconfig_excludes_the_flags_of_the_embedded_cluster() {
        for flag in [
            "--secure-port=1",
            "--controllers=none",
            "--data-dir=d",
            "--anonymous-auth=false",
            "--token-auth-file=f",
        ] {
            let result = Arguments::try_parse_from(["kubewright", "dev", "--kubeconfig", "f", flag]);
            assert!(result.is_err(), "{flag}");
        }
        assert!(Arguments::try_parse_from(["kubewright", "dev", "--kubeconfig", "f"]).is_ok());
    }

    #[test]
    fn flags_of_kube_apiserver_are_checked_where_they_are_read() {
        let refusal = |arguments: &[&str]| {
            let arguments = [&["kubewright", "cluster"], arguments].concat();
            Arguments::try_parse_from(arguments).expect_err("refused").to_string()
        };
        for (arguments, expected) in [
            (&["--authorization-mode=Node,RBAC"][..], "supported are RBAC, AlwaysAllow and AlwaysDeny"),
            (&["--service-cluster-ip-range=10.0.0.0/30"], "fewer than 8 addresses"),
            (&["--tls-cert-file=a"], "--tls-private-key-file"),
            (&["--service-account-issuer="], "an issuer is a URL or a name"),
            (&["--feature-gates=Foo=true"], "those that can are APIResponseCompression and WatchList"),
            (&["--feature-gates=WatchList"], "is not of the form Name=true or Name=false"),
            (&["--token-auth-fil=a"], "a similar argument exists: '--token-auth-file'"),
            (&["--etcd-servers=a"], "unexpected argument '--etcd-servers'"),
        ] {
            let refusal = refusal(arguments);
            assert!(refusal.contains(expected), "{arguments:?}: {refusal}");
        }
        for flag in ["--anonymous-auth", "--anonymous-auth=false", "--authorization-mode=AlwaysDeny,RBAC"] {
            assert!(Arguments::try_parse_from(["kubewright", "cluster", flag]).is_ok(), "{flag}");
        }
    }
}
