//! Whose certificates are trusted: those that a `caBundle` signed, and those that stand in it themselves.

use std::sync::Arc;

use rustls::{
    CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::CryptoProvider,
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::BoxError;

/// Trusts what Go trusts. To rustls a root is who signs; to Go it may also be the server's own certificate, which is what
/// a webhook with one self-made certificate puts in its configuration.
#[derive(Debug)]
pub(super) struct BundleVerifier {
    signed: Arc<WebPkiServerVerifier>,
    bundle: Vec<CertificateDer<'static>>,
}

impl BundleVerifier {
    /// # Errors
    /// If the bundle has no certificate, or one that cannot be read.
    pub(super) fn new(
        bundle: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, BoxError> {
        let mut roots = RootCertStore::empty();
        for certificate in &bundle {
            roots.add(certificate.clone())?;
        }
        let signed = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build()?;
        Ok(Self { signed, bundle })
    }
}

impl ServerCertVerifier for BundleVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.bundle.iter().any(|trusted| trusted == end_entity) {
            verify_validity(end_entity, now)?;
            verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            return Ok(ServerCertVerified::assertion());
        }
        self.signed.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signed.supported_verify_schemes()
    }
}

/// Whether a certificate is valid now.
fn verify_validity(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
    let (_, parsed) = X509Certificate::from_der(certificate)
        .map_err(|_| Error::InvalidCertificate(CertificateError::BadEncoding))?;
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let validity = parsed.validity();
    if now < validity.not_before.timestamp() {
        return Err(Error::InvalidCertificate(CertificateError::NotValidYet));
    }
    if now > validity.not_after.timestamp() {
        return Err(Error::InvalidCertificate(CertificateError::Expired));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    /// A server's certificate that it signed itself, valid in 2030.
    fn certificate(name: &str) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        params.not_before = date_time_ymd(2030, 1, 1);
        params.not_after = date_time_ymd(2030, 12, 31);
        let key = KeyPair::generate().expect("a key");
        params.self_signed(&key).expect("a certificate").der().clone()
    }

    fn verify(
        bundle: &CertificateDer<'static>,
        shown: &CertificateDer<'_>,
        name: &str,
        year: u64,
    ) -> Result<(), Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = BundleVerifier::new(vec![bundle.clone()], provider).expect("a verifier");
        let name = ServerName::try_from(name.to_owned()).expect("a name");
        // The middle of the year, near enough.
        let now = Duration::from_hours(((year - 1970) * 365 + 180) * 24);
        verifier.verify_server_cert(shown, &[], &name, &[], UnixTime::since_unix_epoch(now)).map(|_| ())
    }

    #[test]
    fn a_certificate_in_the_bundle_is_trusted_for_its_names_while_it_is_valid() {
        let own = certificate("hook.default.svc");
        assert_eq!(verify(&own, &own, "hook.default.svc", 2030), Ok(()));
        let refused = |name: &str, year| match verify(&own, &own, name, year) {
            Err(Error::InvalidCertificate(error)) => error,
            other => panic!("{other:?}"),
        };
        assert!(matches!(
            refused("other.default.svc", 2030),
            CertificateError::NotValidForNameContext { .. }
        ));
        assert_eq!(refused("hook.default.svc", 2029), CertificateError::NotValidYet);
        assert_eq!(refused("hook.default.svc", 2032), CertificateError::Expired);
    }

    #[test]
    fn another_certificate_of_the_same_name_is_not_trusted() {
        let (own, other) = (certificate("hook.default.svc"), certificate("hook.default.svc"));
        assert!(matches!(verify(&own, &other, "hook.default.svc", 2030), Err(Error::InvalidCertificate(_))));
    }
}
