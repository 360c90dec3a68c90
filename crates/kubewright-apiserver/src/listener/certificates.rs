//! The certificate authority of a server, and what is read from the certificates of its clients.

use std::{collections::BTreeSet, fmt, net::IpAddr, sync::Arc};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::{
    ServerConfig,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::CertifiedKey,
};
use sha2::{Digest, Sha256};

use super::clients::{ClientCa, ClientVerifier};

/// Issues the certificate of the server and those of its clients. Clones are the same authority.
///
/// Its certificates are valid from 1975 to 4096, so that they hold for a client on any clock.
#[derive(Clone)]
pub struct CertificateAuthority {
    inner: Arc<Authority>,
}

struct Authority {
    certificate_pem: String,
    key_pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A client certificate and its key, in PEM.
#[derive(Clone)]
#[non_exhaustive]
pub struct ClientCertificate {
    /// The certificate.
    pub certificate_pem: String,
    /// The private key (PKCS #8).
    pub key_pem: String,
}

/// The certificate that a server shows, with its key, in place of one of its own authority.
#[derive(Clone)]
pub struct ServerCertificate {
    chain_pem: String,
    key: Arc<CertifiedKey>,
}

/// Whom the verified certificate of a client names, in the request's extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerCertificate {
    /// The subject's common name: the user.
    pub common_name: String,
    /// The subject's organizations: the groups.
    pub organizations: Vec<String>,
    /// `X509SHA256=<hex>` of the certificate, which tells two certificates of one user apart.
    pub credential_id: String,
}

/// A certificate that cannot be made or read.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {source}")]
pub struct CertificateError {
    what: &'static str,
    source: Box<dyn std::error::Error + Send + Sync>,
}

pub(super) fn failed<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    what: &'static str,
) -> impl FnOnce(E) -> CertificateError {
    move |source| CertificateError { what, source: source.into() }
}

// === impl CertificateAuthority ===

impl CertificateAuthority {
    /// A new authority with a new key.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    pub fn generate() -> Result<Self, CertificateError> {
        let mut params = params("kubewright");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().map_err(failed("cannot generate the key of the authority"))?;
        let certificate = params.self_signed(&key).map_err(failed("cannot sign the authority"))?;
        let (certificate_pem, key_pem) = (certificate.pem(), key.serialize_pem());
        let issuer = Issuer::new(params, key);
        Ok(Self { inner: Arc::new(Authority { certificate_pem, key_pem, issuer }) })
    }

    /// An authority that was kept, so that kubeconfigs stay valid when a server starts again.
    ///
    /// # Errors
    /// When one of the texts is not PEM of the right kind.
    pub fn from_pem(certificate_pem: &str, key_pem: &str) -> Result<Self, CertificateError> {
        let key = KeyPair::from_pem(key_pem).map_err(failed("cannot read the key of the authority"))?;
        let issuer = Issuer::from_ca_cert_pem(certificate_pem, key)
            .map_err(failed("cannot read the certificate of the authority"))?;
        let (certificate_pem, key_pem) = (certificate_pem.to_owned(), key_pem.to_owned());
        Ok(Self { inner: Arc::new(Authority { certificate_pem, key_pem, issuer }) })
    }

    /// The authority's certificate, which clients must trust.
    #[must_use]
    pub fn certificate_pem(&self) -> &str {
        &self.inner.certificate_pem
    }

    /// The authority's private key. Whoever has it can be anyone.
    #[must_use]
    pub fn key_pem(&self) -> &str {
        &self.inner.key_pem
    }

    /// A certificate with which a client is `user`, and in `group` if given.
    ///
    /// # Errors
    /// When a name cannot be put into a certificate.
    pub fn issue_client(
        &self,
        user: &str,
        group: Option<&str>,
    ) -> Result<ClientCertificate, CertificateError> {
        let mut params = params(user);
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().map_err(failed("cannot generate the key of a client"))?;
        let certificate =
            params.signed_by(&key, &self.inner.issuer).map_err(failed("cannot sign a client"))?;
        Ok(ClientCertificate { certificate_pem: certificate.pem(), key_pem: key.serialize_pem() })
    }

    /// A certificate for a server that is reached at `address` and under the usual names.
    pub(super) fn issue_server(
        &self,
        address: IpAddr,
        extra_names: &[String],
    ) -> Result<ServerCertificate, CertificateError> {
        let usual = [
            "localhost",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
            "127.0.0.1",
            "::1",
        ];
        let mut names: BTreeSet<String> = usual.iter().map(|&name| name.to_owned()).collect();
        names.extend(extra_names.iter().cloned());
        if !address.is_unspecified() {
            names.insert(address.to_string());
        }
        let names: Vec<String> = names.into_iter().collect();
        let mut params =
            CertificateParams::new(names).map_err(failed("a name of the server is not valid"))?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "kube-apiserver");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().map_err(failed("cannot generate the key of the server"))?;
        let certificate =
            params.signed_by(&key, &self.inner.issuer).map_err(failed("cannot sign the server"))?;
        let mut issued = ServerCertificate::from_pem(&certificate.pem(), &key.serialize_pem())?;
        // Clients trust the authority, not the certificate of the day.
        issued.chain_pem.clone_from(&self.inner.certificate_pem);
        Ok(issued)
    }

    /// Judges clients by certificates of this authority and of others.
    pub(super) fn verifier(
        &self,
        others: Option<&ClientCa>,
    ) -> Result<Arc<ClientVerifier>, CertificateError> {
        let own = CertificateDer::from_pem_slice(self.inner.certificate_pem.as_bytes())
            .map_err(failed("cannot read the certificate of the authority"))?;
        let mut authorities = vec![own];
        authorities.extend(others.into_iter().flat_map(ClientCa::certificates).cloned());
        ClientVerifier::new(&authorities, provider()).map(Arc::new)
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Keeps the key out of logs.
impl fmt::Debug for CertificateAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertificateAuthority").finish_non_exhaustive()
    }
}

/// Keeps the key out of logs.
impl fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCertificate")
            .field("certificate_pem", &self.certificate_pem)
            .finish_non_exhaustive()
    }
}

// === impl ServerCertificate ===

impl ServerCertificate {
    /// A certificate in PEM, followed by those between it and its authority if there are any, and its private key in
    /// PEM (PKCS #8, PKCS #1 or SEC 1).
    ///
    /// Kubeconfigs of the server trust all of them: with the authority's certificate among them, or a certificate that
    /// is signed by itself, clients need nothing else.
    ///
    /// # Errors
    /// If one of the texts is not what it should be, or the key is that of another certificate.
    pub fn from_pem(chain_pem: &str, key_pem: &str) -> Result<Self, CertificateError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain_pem.as_bytes()).collect();
        let chain = chain.map_err(failed("cannot read the certificate of the server"))?;
        if chain.is_empty() {
            let why = "there is no block that begins with -----BEGIN CERTIFICATE-----";
            return Err(failed("cannot read the certificate of the server")(why));
        }
        let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes())
            .map_err(failed("cannot read the private key of the server"))?;
        let key = CertifiedKey::from_der(chain, key, &provider())
            .map_err(failed("the private key of the server does not fit its certificate"))?;
        Ok(Self { chain_pem: chain_pem.to_owned(), key: Arc::new(key) })
    }

    /// What clients must trust.
    pub(super) fn trust_pem(&self) -> &str {
        &self.chain_pem
    }

    /// The TLS configuration of a server with this certificate, which asks clients for one without insisting.
    pub(super) fn server_config(
        &self,
        clients: Arc<ClientVerifier>,
    ) -> Result<Arc<ServerConfig>, CertificateError> {
        let resolver = rustls::sign::SingleCertAndKey::from(Arc::clone(&self.key));
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(failed("cannot choose TLS versions"))?
            .with_client_cert_verifier(clients)
            .with_cert_resolver(Arc::new(resolver));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

/// Keeps the key out of logs.
impl fmt::Debug for ServerCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerCertificate").field("chain_pem", &self.chain_pem).finish_non_exhaustive()
    }
}

// === impl PeerCertificate ===

impl PeerCertificate {
    /// Reads the subject of a certificate (DER) that has been verified, and the second after which it does not hold.
    /// `None` if it names no user.
    pub(super) fn read(certificate: &[u8]) -> Option<(Self, i64)> {
        let (_, parsed) = x509_parser::parse_x509_certificate(certificate).ok()?;
        let subject = parsed.subject();
        let text = |attribute: &x509_parser::x509::AttributeTypeAndValue<'_>| {
            attribute.as_str().ok().map(str::to_owned)
        };
        let common_name = subject.iter_common_name().last().and_then(text)?;
        let organizations = subject.iter_organization().filter_map(text).collect();
        let digest = Sha256::digest(certificate);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let credential_id = format!("X509SHA256={hex}");
        let not_after = parsed.validity().not_after.timestamp();
        (!common_name.is_empty()).then_some((Self { common_name, organizations, credential_id }, not_after))
    }
}

fn params(common_name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params.use_authority_key_identifier_extension = true;
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_certificate_names_its_user_and_group() {
        let authority = CertificateAuthority::generate().expect("an authority");
        let client = authority.issue_client("jane", Some("dev")).expect("a certificate");
        let der = CertificateDer::from_pem_slice(client.certificate_pem.as_bytes()).expect("PEM");
        let (peer, _) = PeerCertificate::read(&der).expect("a subject");
        assert_eq!(peer.common_name, "jane");
        assert_eq!(peer.organizations, ["dev"]);
        assert_eq!(peer.credential_id.len(), "X509SHA256=".len() + 64);
        assert_eq!(PeerCertificate::read(b"no certificate"), None);
        assert!(!format!("{client:?}{authority:?}").contains("PRIVATE"));
    }

    #[test]
    fn a_kept_authority_issues_for_the_same_root() {
        let authority = CertificateAuthority::generate().expect("an authority");
        let kept = CertificateAuthority::from_pem(authority.certificate_pem(), authority.key_pem());
        let kept = kept.expect("its own PEM");
        assert_eq!(kept.certificate_pem(), authority.certificate_pem());
        let error = CertificateAuthority::from_pem("", authority.key_pem()).expect_err("no certificate");
        assert!(error.to_string().starts_with("cannot read the certificate of the authority"), "{error}");
        let error = kept.issue_server("127.0.0.1".parse().expect("an address"), &["é".to_owned()]);
        assert!(error.is_err(), "a name that no certificate can hold");
    }

    #[test]
    fn a_certificate_and_its_key_belong_together() {
        let authority = CertificateAuthority::generate().expect("an authority");
        let one = authority.issue_client("one", None).expect("a certificate");
        let two = authority.issue_client("two", None).expect("a certificate");
        ServerCertificate::from_pem(&one.certificate_pem, &one.key_pem).expect("they fit");
        for (chain, key, expected) in [
            (&one.certificate_pem, &two.key_pem, "does not fit its certificate"),
            (&one.key_pem, &one.key_pem, "cannot read the certificate of the server"),
            (&one.certificate_pem, &one.certificate_pem, "cannot read the private key of the server"),
        ] {
            let error = ServerCertificate::from_pem(chain, key).expect_err(expected);
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
