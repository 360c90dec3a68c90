//! The certificate authority of a server, and what is read from the certificates of its clients.

use std::{collections::BTreeSet, fmt, net::IpAddr, sync::Arc};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};
use sha2::{Digest, Sha256};

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

fn failed<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
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

    /// A TLS configuration for a server that is reached at `address` and under the usual names, and that
    /// asks clients for a certificate without insisting.
    pub(super) fn server_config(
        &self,
        address: IpAddr,
        extra_names: &[String],
    ) -> Result<Arc<ServerConfig>, CertificateError> {
        let usual = [
            "localhost",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
            "127.0.0.1",
            "::1",
            "10.96.0.1",
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
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());

        let provider: Arc<CryptoProvider> = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_slice(self.inner.certificate_pem.as_bytes())
            .map_err(failed("cannot read the certificate of the authority"))?;
        roots.add(root).map_err(failed("cannot trust the certificate of the authority"))?;
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .allow_unauthenticated()
            .build()
            .map_err(failed("cannot verify clients"))?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(failed("cannot choose TLS versions"))?
            .with_client_cert_verifier(clients)
            .with_single_cert(vec![certificate.der().clone()], key)
            .map_err(failed("cannot use the certificate of the server"))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
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

// === impl PeerCertificate ===

impl PeerCertificate {
    /// Reads the subject of a certificate (DER) that has been verified. `None` if it names no user.
    pub(super) fn read(certificate: &[u8]) -> Option<Self> {
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
        (!common_name.is_empty()).then_some(Self { common_name, organizations, credential_id })
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
        let peer = PeerCertificate::read(&der).expect("a subject");
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
        let error = kept.server_config("127.0.0.1".parse().expect("an address"), &["é".to_owned()]);
        assert!(error.is_err(), "a name that no certificate can hold");
    }
}
