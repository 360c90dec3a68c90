//! Certificates with their keys, as servers use them.

use rustls::{
    crypto::ring::sign::any_supported_type,
    pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer},
};
use x509_parser::{
    pem::Pem,
    prelude::{FromDer, X509Certificate},
    x509::SubjectPublicKeyInfo,
};

/// What is wrong with a certificate and its key, in the words of Go's library; `None` also if they are in a form that
/// cannot be read here.
pub(super) fn problem(certificate: &[u8], key: &[u8]) -> Option<String> {
    let blocks = blocks(certificate);
    let Some(leaf) = blocks.iter().find(|block| block.label == "CERTIFICATE") else {
        return Some(match labels(&blocks).as_slice() {
            [] => "tls: failed to find any PEM data in certificate input".to_owned(),
            [one] if one.ends_with("PRIVATE KEY") => {
                "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs \
                 may have been switched"
                    .to_owned()
            }
            labels => format!(
                "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the \
                 following types: [{}]",
                labels.join(" ")
            ),
        });
    };
    let blocks = self::blocks(key);
    let is_key = |label: &str| label == "PRIVATE KEY" || label.ends_with(" PRIVATE KEY");
    let Some(key) = blocks.iter().find(|block| is_key(&block.label)) else {
        return Some(match labels(&blocks).as_slice() {
            [] => "tls: failed to find any PEM data in key input".to_owned(),
            ["CERTIFICATE"] => {
                "tls: found a certificate rather than a key in the PEM for the private key".to_owned()
            }
            labels => format!(
                "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM \
                 blocks of the following types: [{}]",
                labels.join(" ")
            ),
        });
    };
    mismatch(leaf, key).map(str::to_owned)
}

fn blocks(text: &[u8]) -> Vec<Pem> {
    Pem::iter_from_buffer(text).map_while(Result::ok).collect()
}

fn labels(blocks: &[Pem]) -> Vec<&str> {
    blocks.iter().map(|block| block.label.as_str()).collect()
}

/// Why the key is not that of the certificate.
fn mismatch(certificate: &Pem, key: &Pem) -> Option<&'static str> {
    let (_, certificate) = X509Certificate::from_der(&certificate.contents).ok()?;
    let bytes = key.contents.clone();
    let forms: [PrivateKeyDer<'static>; 3] = [
        PrivatePkcs8KeyDer::from(bytes.clone()).into(),
        PrivatePkcs1KeyDer::from(bytes.clone()).into(),
        PrivateSec1KeyDer::from(bytes).into(),
    ];
    let key = forms.iter().find_map(|form| any_supported_type(form).ok())?;
    let own = key.public_key()?;
    let (_, own) = SubjectPublicKeyInfo::from_der(own.as_ref()).ok()?;
    let public = certificate.public_key();
    if own.algorithm.algorithm != public.algorithm.algorithm {
        Some("tls: private key type does not match public key type")
    } else if own.subject_public_key.data != public.subject_public_key.data {
        Some("tls: private key does not match public key")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n";
    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nYQ==\n-----END PRIVATE KEY-----\n";

    fn of(certificate: &str, key: &str) -> String {
        problem(certificate.as_bytes(), key.as_bytes()).unwrap_or_default()
    }

    #[test]
    fn certificates_and_keys_are_told_apart() {
        assert_eq!(of("a", "b"), "tls: failed to find any PEM data in certificate input");
        assert_eq!(of(CERTIFICATE, "b"), "tls: failed to find any PEM data in key input");
        assert!(of(KEY, CERTIFICATE).ends_with("PEM inputs may have been switched"));
        assert!(of(CERTIFICATE, CERTIFICATE).starts_with("tls: found a certificate rather than a key"));
    }

    #[test]
    fn a_key_must_be_that_of_its_certificate() {
        let make = || rcgen::generate_simple_self_signed(["a".to_owned()]).expect("a certificate");
        let (one, other) = (make(), make());
        let key = |certified: &rcgen::CertifiedKey<rcgen::KeyPair>| certified.signing_key.serialize_pem();
        assert_eq!(of(&one.cert.pem(), &key(&one)), "");
        assert_eq!(of(&one.cert.pem(), &key(&other)), "tls: private key does not match public key");
    }
}
