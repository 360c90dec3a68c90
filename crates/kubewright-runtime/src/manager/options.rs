use std::{ffi::OsString, path::PathBuf, str::FromStr, time::Duration};

use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, ValueEnum};

use super::{BindAddress, crd_command::CrdCommand};
use crate::{election::LeaderElectionOptions, logging::ZapFlags, sharding::ShardBy};

/// The settings of a manager, which are the flags of an operator's binary.
///
/// [`Options::parse`] reads the command line; an operator with flags of its own flattens this into its own
/// parser:
///
/// ```
/// use clap::Parser;
/// use kubewright_runtime::manager::Options;
///
/// #[derive(Parser)]
/// struct Flags {
///     #[command(flatten)]
///     manager: Options,
///     /// The image that the operator deploys.
///     #[arg(long, default_value = "memcached:1.6")]
///     image: String,
/// }
///
/// let flags = Flags::parse_from(["operator", "--health-probe-bind-address=:9090"]);
/// assert_eq!(flags.manager.health_probe_bind_address.to_string(), ":9090");
/// ```
///
/// In code, [`Options::default`] listens nowhere, so that many managers fit into one process.
#[derive(Clone, Debug, Parser)]
#[command(about = None, long_about = None)]
#[non_exhaustive]
pub struct Options {
    /// The address of the metrics endpoint (`/metrics`), as :8443, or :8080 for plain HTTP. 0 disables it.
    #[arg(long, env = "METRICS_BIND_ADDRESS", value_name = "ADDRESS", default_value = "0")]
    pub metrics_bind_address: BindAddress,

    /// Serve metrics by HTTPS, to clients whose token the API server knows and allows to get /metrics.
    #[arg(
        long,
        env = "METRICS_SECURE",
        default_value_t = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        action = ArgAction::Set
    )]
    pub metrics_secure: bool,

    /// The directory of the certificate of the metrics endpoint. Without it, a self-signed one is made.
    #[arg(long, env = "METRICS_CERT_PATH", value_name = "DIRECTORY")]
    pub metrics_cert_path: Option<PathBuf>,

    /// The name of the file of the certificate of the metrics endpoint.
    #[arg(long, value_name = "FILE", default_value = "tls.crt")]
    pub metrics_cert_name: String,

    /// The name of the file of the private key of the metrics endpoint.
    #[arg(long, value_name = "FILE", default_value = "tls.key")]
    pub metrics_cert_key: String,

    /// Where webhooks are served, if there are any: a port, or an address as 127.0.0.1:9443. 0 disables them.
    #[arg(
        long = "webhook-port",
        env = "WEBHOOK_BIND_ADDRESS",
        value_name = "PORT",
        default_value = "9443",
        value_parser = webhook_address,
        allow_hyphen_values = true
    )]
    pub webhook_bind_address: BindAddress,

    /// The directory of the certificate of webhooks, as cert-manager fills it. It is read again when it changes.
    #[arg(long, env = "WEBHOOK_CERT_PATH", value_name = "DIRECTORY", conflicts_with = "webhook_service")]
    pub webhook_cert_path: Option<PathBuf>,

    /// The name of the file of the certificate of webhooks.
    #[arg(long, value_name = "FILE", default_value = "tls.crt")]
    pub webhook_cert_name: String,

    /// The name of the file of the private key of webhooks.
    #[arg(long, value_name = "FILE", default_value = "tls.key")]
    pub webhook_cert_key: String,

    /// The service that webhooks are behind, in the namespace of the operator. The operator then makes and renews their
    /// certificate itself, and tells the API server whose to trust, so that there is no need for cert-manager.
    #[arg(long, env = "WEBHOOK_SERVICE", value_name = "NAME")]
    pub webhook_service: Option<String>,

    /// How long webhooks take new requests after everything else has stopped: until nobody sends requests here any more.
    #[arg(
        long,
        env = "WEBHOOK_SHUTDOWN_DELAY",
        value_name = "DURATION",
        default_value = "3s",
        value_parser = go_duration
    )]
    pub webhook_shutdown_delay: Duration,

    /// Let clients of the metrics endpoint and of webhooks use HTTP/2. Off, because of attacks that HTTP/2 makes cheap.
    #[arg(
        long = "enable-http2",
        default_value_t = false,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        action = ArgAction::Set
    )]
    pub enable_http2: bool,

    /// The address of the probe endpoints (`/healthz` and `/readyz`). 0 disables them.
    #[arg(long, env = "HEALTH_PROBE_BIND_ADDRESS", value_name = "ADDRESS", default_value = ":8081")]
    pub health_probe_bind_address: BindAddress,

    /// The address of the diagnostics page (`/debug`), for `kubewright top`, as 127.0.0.1:8082. Everybody who reaches it
    /// may read it. 0 disables it.
    #[arg(long, env = "DEBUG_BIND_ADDRESS", value_name = "ADDRESS", default_value = "0")]
    pub debug_bind_address: BindAddress,

    /// The kubeconfig to use. Without it: $KUBECONFIG, then the pod's service account, then ~/.kube/config.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Watch these namespaces alone, separated by commas. Without it, all.
    #[arg(long = "namespace", env = "WATCH_NAMESPACE", value_name = "NAMESPACE", value_delimiter = ',')]
    pub namespaces: Vec<String>,

    /// How long to wait for running reconciliations at the end, as 30s. 0s does not wait, -1s waits forever.
    #[arg(
        long,
        env = "GRACEFUL_SHUTDOWN_TIMEOUT",
        value_name = "DURATION",
        default_value = "30s",
        allow_hyphen_values = true
    )]
    pub graceful_shutdown_timeout: GracePeriod,

    /// How replicas elect the one that runs the controllers.
    #[command(flatten)]
    pub leader_election: LeaderElectionOptions,

    /// Split the work of the controllers over the replicas, by namespace or by object. Each replica reconciles its own.
    #[arg(long, env = "SHARD_BY", value_name = "WHAT", default_value = "none")]
    pub shard_by: ShardBy,

    /// What to log: a level (error, warn, info, debug, trace), or directives as info,kube_client=debug.
    #[arg(long, env = "RUST_LOG", value_name = "FILTER", default_value = "info")]
    pub log_level: String,

    /// How to log: text for people, json for programs.
    #[arg(long, env = "LOG_FORMAT", value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,

    /// The name under which the operator writes objects and events. By default that of its executable.
    #[arg(long, value_name = "NAME", default_value_t = executable_name())]
    pub name: String,

    /// The name of this process in events. In a pod, the pod's name.
    #[arg(long, env = "HOSTNAME", value_name = "NAME", default_value = "localhost", hide = true)]
    pub instance: String,

    #[command(flatten)]
    pub(crate) zap: ZapFlags,

    #[arg(skip)]
    pub(super) mode: Mode,
}

/// What the process is to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// Run the controllers.
    #[default]
    Run,
    /// Print the CustomResourceDefinitions of the controllers and end.
    PrintCrds(CrdCommand),
}

/// How long the manager waits at its end for what runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GracePeriod {
    /// At most this long. Zero does not wait.
    AtMost(Duration),
    /// As long as it takes.
    Forever,
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[non_exhaustive]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, with the keys of controller-runtime's production logger.
    Json,
}

// === impl Options ===

impl Options {
    /// Reads the command line and the environment. Ends the process on `--help`, `--version` and bad flags.
    ///
    /// The subcommand `crd` makes the manager print the CustomResourceDefinitions of its controllers instead of
    /// running them: see [`Manager::start`](super::Manager::start).
    #[must_use]
    pub fn parse() -> Self {
        Self::from_command_line(std::env::args_os()).unwrap_or_else(|error| error.exit())
    }

    /// As [`parse`](Self::parse), from the given words, of which the first is the name of the program.
    ///
    /// # Errors
    ///
    /// For bad flags, and for `--help`, which clap reports as an error too.
    pub fn from_command_line<T: Into<OsString> + Clone>(
        words: impl IntoIterator<Item = T>,
    ) -> Result<Self, clap::Error> {
        let matches = Self::command().subcommand(CrdCommand::command()).try_get_matches_from(words)?;
        let mut options = Self::from_arg_matches(&matches)?;
        if let Some(("crd", matches)) = matches.subcommand() {
            options.mode = Mode::PrintCrds(CrdCommand::from_arg_matches(matches)?);
        }
        Ok(options)
    }

    /// Makes the manager print the CustomResourceDefinitions of its controllers instead of running them, for
    /// an operator with a command line of its own.
    #[must_use]
    pub fn print_crds(mut self) -> Self {
        self.mode = Mode::PrintCrds(CrdCommand::default());
        self
    }
}

/// Listens nowhere, watches all namespaces, stands for no election, and waits 30 s at the end.
impl Default for Options {
    fn default() -> Self {
        Self {
            metrics_bind_address: BindAddress::disabled(),
            metrics_secure: true,
            metrics_cert_path: None,
            metrics_cert_name: "tls.crt".to_owned(),
            metrics_cert_key: "tls.key".to_owned(),
            webhook_bind_address: BindAddress::disabled(),
            webhook_cert_path: None,
            webhook_cert_name: "tls.crt".to_owned(),
            webhook_cert_key: "tls.key".to_owned(),
            webhook_service: None,
            webhook_shutdown_delay: Duration::ZERO,
            enable_http2: false,
            health_probe_bind_address: BindAddress::disabled(),
            debug_bind_address: BindAddress::disabled(),
            kubeconfig: None,
            namespaces: Vec::new(),
            graceful_shutdown_timeout: GracePeriod::default(),
            leader_election: LeaderElectionOptions::default(),
            shard_by: ShardBy::None,
            log_level: "info".to_owned(),
            log_format: LogFormat::default(),
            name: "kubewright".to_owned(),
            instance: "localhost".to_owned(),
            zap: ZapFlags::default(),
            mode: Mode::Run,
        }
    }
}

/// A port alone, as the flag has it in Kubebuilder's projects, or an address.
fn webhook_address(text: &str) -> Result<BindAddress, String> {
    match text {
        "-1" => Ok(BindAddress::disabled()),
        port if port.parse::<u16>().is_ok_and(|port| port > 0) => format!(":{port}").parse(),
        address => address.parse(),
    }
}

fn go_duration(text: &str) -> Result<Duration, String> {
    let duration = text.parse::<kube::core::Duration>().map_err(|error| error.to_string())?;
    if duration.is_negative() { Err("a negative duration".to_owned()) } else { Ok(duration.into()) }
}

/// The name of the executable without its directory and extension: what `ps` shows, and by custom the field
/// manager of an operator.
fn executable_name() -> String {
    let program = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let name = program.file_stem().map(|name| name.to_string_lossy().into_owned());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "kubewright".to_owned())
}

// === impl GracePeriod ===

/// 30 s.
impl Default for GracePeriod {
    fn default() -> Self {
        Self::AtMost(Duration::from_secs(30))
    }
}

/// A duration as Go writes it; a negative one means forever.
impl FromStr for GracePeriod {
    type Err = kube::core::duration::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let duration = kube::core::Duration::from_str(text)?;
        Ok(if duration.is_negative() { Self::Forever } else { Self::AtMost(duration.into()) })
    }
}

// `Options` is flattened into other parsers, which needs both.
const _: fn() = || {
    fn is_args<T: Args + Parser>() {}
    is_args::<Options>();
};

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Options {
        let words = ["operator"].iter().chain(words);
        Options::from_command_line(words).expect("valid flags")
    }

    #[test]
    fn the_flags_are_those_of_the_field() {
        Options::command().debug_assert();
        let options = parse(&[
            "--metrics-bind-address=:8443",
            "--health-probe-bind-address=0",
            "--graceful-shutdown-timeout=-1s",
            "--namespace=a,b",
            "--log-format=json",
            "--metrics-secure=false",
            "--enable-http2",
            "--leader-elect",
            "--webhook-cert-path=/tmp/certs",
            "--webhook-cert-name=webhook.crt",
            "--webhook-cert-key=webhook.key",
            "--webhook-port=9444",
        ]);
        assert_eq!(options.webhook_bind_address.to_string(), ":9444");
        assert_eq!(parse(&[]).webhook_bind_address.to_string(), ":9443");
        assert!(parse(&["--webhook-port=-1"]).webhook_bind_address.is_disabled());
        assert_eq!(parse(&["--webhook-port=127.0.0.1:0"]).webhook_bind_address.to_string(), "127.0.0.1:0");
        assert!(!options.metrics_secure && options.enable_http2 && options.leader_election.enabled);
        assert_eq!(options.metrics_bind_address.to_string(), ":8443");
        assert!(options.health_probe_bind_address.is_disabled());
        assert_eq!(options.graceful_shutdown_timeout, GracePeriod::Forever);
        assert_eq!(options.namespaces, ["a", "b"]);
        assert_eq!(options.log_format, LogFormat::Json);
        assert_eq!(options.mode, Mode::Run);
    }

    #[test]
    fn crd_is_a_subcommand() {
        assert_eq!(parse(&["crd"]).mode, Mode::PrintCrds(CrdCommand::default()));
        assert!(Options::from_command_line(["operator", "crds"]).is_err());
    }

    #[test]
    fn the_shutdown_timeout_is_a_go_duration() {
        let options = parse(&["--graceful-shutdown-timeout", "1m30s"]);
        assert_eq!(options.graceful_shutdown_timeout, GracePeriod::AtMost(Duration::from_secs(90)));
        assert!(Options::from_command_line(["operator", "--graceful-shutdown-timeout=30"]).is_err());
    }
}
