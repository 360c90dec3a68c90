//! Who clients are by the certificates that they show.

use std::{
    fmt,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use http::Extensions;
use rustls::{
    DigitallySignedStruct, DistinguishedName, RootCertStore, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, UnixTime, pem::PemObject},
    server::{
        WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
};

use super::{
    PeerCertificate,
    certificates::{CertificateError, failed},
};

/// Certificates of authorities whose clients are who their certificates say.
#[derive(Clone, Debug)]
pub struct ClientCa {
    certificates: Vec<CertificateDer<'static>>,
}

/// A client has shown a certificate that does not verify, in the request's extensions.
///
/// As with a real server the connection lives on, and a bearer token may still show who the client is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedCertificate {
    /// What is wrong with it.
    pub reason: String,
}

/// Judges the certificates of clients.
///
/// In the handshake it lets every certificate pass whose key the client has: what it is worth is the business of
/// authentication, which answers with 401 and not with a broken connection.
pub(super) struct ClientVerifier {
    trusted: Arc<dyn ClientCertVerifier>,
}

/// What a client's certificate says, as judged when the client connected.
#[derive(Clone)]
pub(super) enum ClientIdentity {
    Verified {
        peer: Arc<PeerCertificate>,
        /// The second after which it does not hold.
        not_after: i64,
    },
    Refused(Arc<RefusedCertificate>),
}

// === impl ClientCa ===

impl ClientCa {
    /// The authorities of a text in PEM, one or more.
    ///
    /// # Errors
    /// If it has no certificate, or one that cannot be trusted; its line is named.
    pub fn from_pem(text: &str) -> Result<Self, CertificateError> {
        let mut certificates = Vec::new();
        let mut roots = RootCertStore::empty();
        let starts = text.lines().enumerate().filter(|(_, line)| line.contains("BEGIN CERTIFICATE"));
        let mut lines = starts.map(|(index, _)| index + 1);
        for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
            let line = lines.next().unwrap_or_default();
            let wrong = |what: &dyn fmt::Display| {
                failed("not a certificate of an authority")(format!("line {line}: {what}"))
            };
            let certificate = certificate.map_err(|error| wrong(&error))?;
            roots.add(certificate.clone()).map_err(|error| wrong(&error))?;
            certificates.push(certificate);
        }
        if certificates.is_empty() {
            let why = "there is no block that begins with -----BEGIN CERTIFICATE-----";
            return Err(failed("no certificate of an authority")(why));
        }
        Ok(Self { certificates })
    }

    /// The authorities.
    pub(super) fn certificates(&self) -> &[CertificateDer<'static>] {
        &self.certificates
    }
}

// === impl ClientVerifier ===

impl ClientVerifier {
    /// A verifier that trusts these authorities.
    pub(super) fn new(
        authorities: &[CertificateDer<'static>],
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, CertificateError> {
        let mut roots = RootCertStore::empty();
        for authority in authorities {
            roots.add(authority.clone()).map_err(failed("cannot trust an authority of clients"))?;
        }
        let trusted = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .allow_unauthenticated()
            .build()
            .map_err(failed("cannot verify clients"))?;
        Ok(Self { trusted })
    }

    /// Who shows this certificate, followed by those between it and an authority; `None` if it names nobody.
    pub(super) fn judge(&self, chain: &[CertificateDer<'_>]) -> Option<ClientIdentity> {
        let (own, others) = chain.split_first()?;
        match self.trusted.verify_client_cert(own, others, UnixTime::now()) {
            Ok(_) => {
                let (peer, not_after) = PeerCertificate::read(own)?;
                Some(ClientIdentity::Verified { peer: Arc::new(peer), not_after })
            }
            Err(error) => Some(ClientIdentity::refused(error.to_string())),
        }
    }
}

impl ClientCertVerifier for ClientVerifier {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.trusted.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.trusted.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.trusted.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trusted.supported_verify_schemes()
    }
}

impl fmt::Debug for ClientVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientVerifier").finish_non_exhaustive()
    }
}

// === impl ClientIdentity ===

impl ClientIdentity {
    fn refused(reason: String) -> Self {
        Self::Refused(Arc::new(RefusedCertificate { reason }))
    }

    /// Tells a request who makes it. A connection may outlive the certificate that it began with.
    pub(super) fn tell(&self, extensions: &mut Extensions) {
        match self {
            Self::Refused(refused) => drop(extensions.insert(Arc::clone(refused))),
            Self::Verified { not_after, .. } if *not_after < now() => {
                let reason = "the certificate has expired since the client connected".to_owned();
                extensions.insert(Arc::new(RefusedCertificate { reason }));
            }
            Self::Verified { peer, .. } => drop(extensions.insert(Arc::clone(peer))),
        }
    }
}

/// The machine's time, as certificates have it.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listener::CertificateAuthority;

    #[test]
    fn a_file_of_authorities_is_read_whole_or_its_fault_named() {
        let one = CertificateAuthority::generate().expect("an authority");
        let two = CertificateAuthority::generate().expect("an authority");
        let both = format!("# ours\n{}{}", one.certificate_pem(), two.certificate_pem());
        assert_eq!(ClientCa::from_pem(&both).expect("two authorities").certificates().len(), 2);

        let error = ClientCa::from_pem("nothing").expect_err("no certificate");
        assert!(error.to_string().contains("BEGIN CERTIFICATE"), "{error}");
        let wrong = format!("{both}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        let line = both.lines().count() + 1;
        let error = ClientCa::from_pem(&wrong).expect_err("not a certificate");
        assert!(error.to_string().contains(&format!("line {line}: ")), "{error}");
    }

    #[test]
    fn a_certificate_that_has_expired_is_refused_on_an_open_connection() {
        let peer = Arc::new(PeerCertificate {
            common_name: "jane".to_owned(),
            organizations: Vec::new(),
            credential_id: String::new(),
        });
        for (not_after, is_known) in [(now() - 1, false), (now() + 60, true)] {
            let mut extensions = Extensions::new();
            ClientIdentity::Verified { peer: Arc::clone(&peer), not_after }.tell(&mut extensions);
            assert_eq!(extensions.get::<Arc<PeerCertificate>>().is_some(), is_known);
            assert_eq!(extensions.get::<Arc<RefusedCertificate>>().is_none(), is_known);
        }
    }
}
