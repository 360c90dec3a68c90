//! The flags that kube-apiserver has, too, under its names, and the server that they describe.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use clap::{ArgAction, Args};
use kubewright_apiserver::{
    AdmissionPlugins, ApiServerBuilder, FeatureGates, ServiceRanges,
    authn::read_token_file,
    authz::AuthorizationMode,
    listener::{ClientCa, ListenOptions, ServerCertificate},
};

use crate::error::Error;

/// The plugin that refuses pods whose account is not there.
const SERVICE_ACCOUNT: &str = "ServiceAccount";

/// How the API server is set up. Each flag means what it means to kube-apiserver; where a default is another one, its help
/// says so.
#[derive(Debug, Args)]
#[command(next_help_heading = "Flags of kube-apiserver")]
pub(crate) struct ApiServerOptions {
    /// A file of static bearer tokens, one a line: token,user,uid or token,user,uid,"group1,group2".
    #[arg(long, value_name = "FILE")]
    token_auth_file: Option<PathBuf>,

    /// Certificates (PEM) of authorities whose clients are who their certificates say: the common name is the user,
    /// organizations are groups. The certificates of the cluster's own kubeconfigs are accepted in any case.
    #[arg(long, value_name = "FILE")]
    client_ca_file: Option<PathBuf>,

    /// Whether requests that do not show who makes them are those of system:anonymous, or are refused with 401.
    ///
    /// They are refused in any case if AlwaysAllow is one of the modes of --authorization-mode.
    #[arg(
        long,
        value_name = "BOOL",
        action = ArgAction::Set,
        num_args = 0..=1,
        require_equals = true,
        default_value_t = true,
        default_missing_value = "true"
    )]
    anonymous_auth: bool,

    /// Who decides what users may do, in this order, until one allows it: RBAC, AlwaysAllow, AlwaysDeny.
    ///
    /// The default is RBAC, where that of kube-apiserver is AlwaysAllow.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "RBAC")]
    authorization_mode: Vec<AuthorizationMode>,

    /// The issuer of service account tokens. May be repeated: tokens are issued under the first name and accepted under all.
    #[arg(long, value_name = "NAME", default_value = "https://kubernetes.default.svc", value_parser = parse_issuer)]
    service_account_issuer: Vec<String>,

    /// Whom service account tokens must be for to be accepted; the issuers, if this is not given.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    api_audiences: Vec<String>,

    /// The addresses that services get: one range, or one of IPv4 and one of IPv6, such as 10.43.0.0/16,fd00:43::/112.
    #[arg(long, value_name = "CIDR[,CIDR]", default_value_t)]
    service_cluster_ip_range: ServiceRanges,

    /// Built-in admission plugins to ask beside those that are asked by default.
    ///
    /// ServiceAccount, which lets no pod in without an account, is one of these only if serviceaccount-controller runs.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    enable_admission_plugins: Vec<String>,

    /// Built-in admission plugins not to ask.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    disable_admission_plugins: Vec<String>,

    /// Features to switch, as Name=true,Name=false: APIResponseCompression, WatchList.
    #[arg(long, value_name = "LIST", default_value_t)]
    feature_gates: FeatureGates,

    /// The certificate (PEM) with which the server shows who it is, followed by those up to its authority. Without it the
    /// cluster makes one that its kubeconfig trusts.
    #[arg(long, value_name = "FILE", requires = "tls_private_key_file")]
    tls_cert_file: Option<PathBuf>,

    /// The private key (PEM) of the certificate in --tls-cert-file.
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    tls_private_key_file: Option<PathBuf>,

    /// An address under which others reach the server. The certificate that the cluster makes is valid for it, too.
    #[arg(long, value_name = "IP")]
    advertise_address: Option<IpAddr>,
}

impl ApiServerOptions {
    /// Sets up the server that these flags describe. `makes_accounts` tells whether a controller makes the accounts that
    /// pods need.
    pub(crate) fn configure(
        &self,
        mut server: ApiServerBuilder,
        makes_accounts: bool,
    ) -> Result<ApiServerBuilder, Error> {
        if let Some(path) = &self.token_auth_file {
            let tokens = read_token_file(path)
                .map_err(|error| Error::Flag { flag: "--token-auth-file", reason: error.to_string() })?;
            for (token, user) in tokens {
                server = server.token(token, user);
            }
        }
        for (index, mode) in self.authorization_mode.iter().enumerate() {
            if self.authorization_mode[..index].contains(mode) {
                let reason = "a mode is named twice; name each once".to_owned();
                return Err(Error::Flag { flag: "--authorization-mode", reason });
            }
        }
        let mut disabled = self.disable_admission_plugins.clone();
        if !makes_accounts && !self.enable_admission_plugins.iter().any(|name| name == SERVICE_ACCOUNT) {
            disabled.push(SERVICE_ACCOUNT.to_owned());
        }
        let plugins = AdmissionPlugins::new(&self.enable_admission_plugins, &disabled).map_err(|error| {
            Error::Flag {
                flag: "--enable-admission-plugins and --disable-admission-plugins",
                reason: error.to_string(),
            }
        })?;
        Ok(server
            .admission_plugins(plugins)
            .feature_gates(self.feature_gates)
            .anonymous(self.anonymous_auth)
            .authorization_modes(self.authorization_mode.iter().copied())
            .service_account_issuers(self.service_account_issuer.iter().cloned())
            .api_audiences(self.api_audiences.iter().cloned())
            .service_ranges(self.service_cluster_ip_range.clone()))
    }

    /// Sets up the listener that these flags describe.
    pub(crate) fn configure_listener(&self, options: &mut ListenOptions) -> Result<(), Error> {
        if let Some(path) = &self.client_ca_file {
            let text = read("--client-ca-file", path)?;
            let client_ca = ClientCa::from_pem(&text).map_err(refused("--client-ca-file", path))?;
            options.client_ca = Some(client_ca);
        }
        if let (Some(certificate), Some(key)) = (&self.tls_cert_file, &self.tls_private_key_file) {
            let chain = read("--tls-cert-file", certificate)?;
            let key = read("--tls-private-key-file", key)?;
            let shown =
                ServerCertificate::from_pem(&chain, &key).map_err(refused("--tls-cert-file", certificate))?;
            options.certificate = Some(shown);
        }
        options.extra_names.extend(self.advertise_address.map(|address| address.to_string()));
        Ok(())
    }
}

fn read(flag: &'static str, path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path)
        .map_err(|error| Error::Flag { flag, reason: format!("cannot read {}: {error}", path.display()) })
}

fn refused<E: std::fmt::Display>(flag: &'static str, path: &Path) -> impl FnOnce(E) -> Error {
    move |error| Error::Flag { flag, reason: format!("{}: {error}", path.display()) }
}

/// An issuer is any name; one that looks like a URL has to be one.
fn parse_issuer(text: &str) -> Result<String, String> {
    if text.is_empty() || text.chars().any(|c| c.is_control() || c == ' ') {
        return Err("an issuer is a URL or a name, without spaces".to_owned());
    }
    Ok(text.to_owned())
}
