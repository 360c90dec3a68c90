//! Certificates as they are made and read.

use std::time::Duration;

use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use x509_parser::prelude::{FromDer, GeneralName, ParsedExtension, X509Certificate};

use crate::{Error, Result};

/// How long certificates count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lives {
    /// How long an authority is trusted.
    pub(super) authority: Duration,
    /// How long a certificate may be shown.
    pub(super) serving: Duration,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Certificates count from a little before they are made: clocks of other machines may be behind.
const SKEW: Duration = Duration::from_secs(60 * 60);

/// A certificate and its key, as PEM.
pub(super) struct Issued {
    pub(super) certificate: String,
    pub(super) key: String,
}

/// What is to be known of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) pem: String,
    pub(super) subject: String,
    pub(super) issuer: String,
    pub(super) not_before: i64,
    pub(super) not_after: i64,
    pub(super) names: Vec<String>,
}

/// A new authority. Its name says when it was made, so that no two of an operator have the same.
pub(super) fn new_authority(service: &str, now: Timestamp, life: Duration) -> Result<Issued> {
    let mut params = params(&format!("{service} webhook authority {}", now.as_second()), now, life);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = params.self_signed(&key).map_err(failed)?;
    Ok(Issued { certificate: certificate.pem(), key: key.serialize_pem() })
}

/// A certificate for the server of these names, of this authority, which has to be trusted longer.
pub(super) fn new_serving(
    authority: &Issued,
    names: &[String],
    now: Timestamp,
    life: Duration,
) -> Result<Issued> {
    let key = KeyPair::from_pem(&authority.key).map_err(failed)?;
    let issuer = Issuer::from_ca_cert_pem(&authority.certificate, key).map_err(failed)?;
    let mut params = params(names.first().map_or("webhook", String::as_str), now, life);
    let alternative = CertificateParams::new(names).map_err(failed)?.subject_alt_names;
    params.subject_alt_names = alternative;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = params.signed_by(&key, &issuer).map_err(failed)?;
    Ok(Issued { certificate: certificate.pem(), key: key.serialize_pem() })
}

fn params(name: &str, now: Timestamp, life: Duration) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    let now = date_time_ymd(1970, 1, 1) + Duration::from_secs(u64::try_from(now.as_second()).unwrap_or(0));
    params.not_before = now - SKEW;
    params.not_after = now + life;
    params
}

#[allow(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn failed(error: rcgen::Error) -> Error {
    Error::other(format!("cannot make a certificate: {error}"))
}

// === impl Lives ===

/// Renewed at two thirds: a certificate every 60 days, an authority every eight months.
impl Default for Lives {
    fn default() -> Self {
        Self { authority: 365 * DAY, serving: 90 * DAY }
    }
}

// === impl Facts ===

impl Facts {
    /// Those of each certificate in a PEM text. What is no certificate is passed over.
    pub(super) fn of(pem: &str) -> Vec<Self> {
        const END: &str = "-----END CERTIFICATE-----";
        let blocks = pem.split_inclusive(END).filter(|block| block.contains(END));
        blocks.filter_map(|block| Self::read(&format!("{}\n", block.trim()))).collect()
    }

    fn read(pem: &str) -> Option<Self> {
        let der = CertificateDer::from_pem_slice(pem.as_bytes()).ok()?;
        let (_, parsed) = X509Certificate::from_der(&der).ok()?;
        let names = parsed.extensions().iter().filter_map(|extension| match extension.parsed_extension() {
            ParsedExtension::SubjectAlternativeName(names) => Some(&names.general_names),
            _ => None,
        });
        let names = names.flatten().filter_map(|name| match name {
            GeneralName::DNSName(name) => Some((*name).to_owned()),
            _ => None,
        });
        Some(Self {
            pem: pem.to_owned(),
            subject: parsed.subject().to_string(),
            issuer: parsed.issuer().to_string(),
            not_before: parsed.validity().not_before.timestamp(),
            not_after: parsed.validity().not_after.timestamp(),
            names: names.collect(),
        })
    }

    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        (self.not_before..self.not_after).contains(&now.as_second())
    }

    /// Whether two thirds of its life are over.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        now.as_second() >= self.not_before + (self.not_after - self.not_before) / 3 * 2
    }
}
