//! What can go wrong with a registry.

use serde::Deserialize;

use crate::{digest::Digest, image::ImageError, platform::Platform};

/// Why an image was not pushed or pulled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// TLS could not be set up.
    #[error("cannot set up TLS: {0}")]
    Tls(String),
    /// Nobody answers.
    #[error("cannot reach {url}: {reason}")]
    Connect {
        /// What was asked.
        url: String,
        /// Why there is no answer, and what can be done.
        reason: String,
    },
    /// Whoever answers cannot show that they are the registry.
    #[error(
        "{url} has a certificate that is not trusted ({reason}); if it is signed by an authority of your own, name its file in SSL_CERT_FILE"
    )]
    Untrusted {
        /// What was asked.
        url: String,
        /// What is wrong with the certificate.
        reason: String,
    },
    /// The registry does not know who asks, or does not let them.
    #[error("{registry} refuses to {action}: {who}{}; {advice}", said(.errors))]
    Refused {
        /// The registry.
        registry: String,
        /// What was tried.
        action: String,
        /// Who asked.
        who: String,
        /// What the registry says.
        errors: Vec<ApiError>,
        /// What can be done.
        advice: String,
    },
    /// There is no such thing.
    #[error("cannot {action}: {registry} does not have it{}", said(.errors))]
    NotFound {
        /// The registry.
        registry: String,
        /// What was tried.
        action: String,
        /// What the registry says.
        errors: Vec<ApiError>,
    },
    /// The registry answers with an error.
    #[error("cannot {action}: {registry} answers {status}{}", said(.errors))]
    Answer {
        /// The registry.
        registry: String,
        /// What was tried.
        action: String,
        /// The status.
        status: http::StatusCode,
        /// What the registry says.
        errors: Vec<ApiError>,
    },
    /// The registry answers what makes no sense.
    #[error("cannot {action}: the answer of {registry} makes no sense: {reason}")]
    Protocol {
        /// The registry.
        registry: String,
        /// What was tried.
        action: String,
        /// What is wrong.
        reason: String,
    },
    /// Content was changed on the way.
    #[error(
        "{what} was changed on the way or in the registry: its digest is {expected}, and {found} arrived; try again, and look for a proxy if it stays so"
    )]
    Digest {
        /// What was sent or received.
        what: String,
        /// The digest that it has.
        expected: Digest,
        /// The digest that was found.
        found: String,
    },
    /// There is no image for a platform.
    #[error("{reference} has no image for {platform}")]
    NoPlatform {
        /// The image.
        reference: String,
        /// The platform that was asked for.
        platform: Platform,
    },
    /// The name has the digest of another image.
    #[error("{reference} is the name of another image: this one has the digest {actual}")]
    OtherImage {
        /// The name.
        reference: String,
        /// The digest of the image that was to get it.
        actual: Digest,
    },
    /// The image is not whole, or is none.
    #[error(transparent)]
    Image(#[from] ImageError),
}

/// One error in a registry's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ApiError {
    /// What it is, for programs: `NAME_UNKNOWN`.
    pub code: String,
    /// The same for people.
    pub message: String,
}

impl ApiError {
    /// The errors in the body of an answer; what is no such body is one error without a code, in its own words.
    pub(super) fn of(body: &[u8]) -> Vec<Self> {
        #[derive(Deserialize)]
        struct Errors {
            errors: Vec<ApiError>,
        }
        /// What fits on a line.
        const SHOWN: usize = 200;
        match serde_json::from_slice::<Errors>(body) {
            Ok(Errors { errors }) => errors,
            Err(_) => {
                let text = String::from_utf8_lossy(body);
                let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
                // A page for browsers says nothing to people on a terminal.
                if line.is_empty() || line.starts_with('<') {
                    return Vec::new();
                }
                vec![Self { code: String::new(), message: line.chars().take(SHOWN).collect() }]
            }
        }
    }
}

fn said(errors: &[ApiError]) -> String {
    let texts: Vec<String> = errors
        .iter()
        .map(|error| match (error.code.as_str(), error.message.as_str()) {
            ("", message) => message.to_owned(),
            (code, "") => code.to_owned(),
            (code, message) => format!("{code}: {message}"),
        })
        .collect();
    if texts.is_empty() { String::new() } else { format!(" ({})", texts.join("; ")) }
}
