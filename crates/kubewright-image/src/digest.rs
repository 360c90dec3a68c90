//! The digest of some content, by which everything in an image is named.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// An algorithm and a hash: `sha256:` and 64 hexadecimal digits.
///
/// Orders as its text does.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    text: String,
    /// Where the colon is.
    colon: usize,
}

/// Why a text is no digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DigestError {
    /// There is no colon.
    #[error("`{0}` is no digest, which has the form sha256:HEX")]
    Form(String),
    /// The algorithm is none that registries use.
    #[error("the digest algorithm `{0}` is not supported; use sha256")]
    Algorithm(String),
    /// The hash is not of the algorithm.
    #[error("a {algorithm} digest has {digits} lowercase hexadecimal digits, not `{hash}`")]
    Hash {
        /// The algorithm that was named.
        algorithm: String,
        /// How many digits it has.
        digits: usize,
        /// What stands there.
        hash: String,
    },
}

/// The algorithms that digests in the field have, with the length of their hashes.
const ALGORITHMS: [(&str, usize); 3] = [("sha256", 64), ("sha384", 96), ("sha512", 128)];

impl Digest {
    /// The SHA-256 of `content`.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self::new("sha256", &Sha256::digest(content))
    }

    fn new(algorithm: &str, hash: &[u8]) -> Self {
        use fmt::Write;
        let mut text = format!("{algorithm}:");
        for byte in hash {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
        }
        Self { text, colon: algorithm.len() }
    }

    /// Whether `content` has this digest.
    #[must_use]
    pub fn is_of(&self, content: &[u8]) -> bool {
        let actual = match self.algorithm() {
            "sha384" => Self::new("sha384", &Sha384::digest(content)),
            "sha512" => Self::new("sha512", &Sha512::digest(content)),
            _ => Self::of(content),
        };
        *self == actual
    }

    /// `sha256`.
    #[must_use]
    pub fn algorithm(&self) -> &str {
        &self.text[..self.colon]
    }

    /// The hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.text[self.colon + 1..]
    }

    /// All of it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The first twelve digits, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.hash()[..12]
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let (algorithm, hash) = text.split_once(':').ok_or_else(|| DigestError::Form(text.to_owned()))?;
        let Some((_, digits)) = ALGORITHMS.iter().find(|(name, _)| *name == algorithm) else {
            return Err(DigestError::Algorithm(algorithm.to_owned()));
        };
        if hash.len() != *digits || !hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            let (algorithm, hash) = (algorithm.to_owned(), hash.to_owned());
            return Err(DigestError::Hash { algorithm, digits: *digits, hash });
        }
        Ok(Self { text: text.to_owned(), colon: algorithm.len() })
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_of_their_content() {
        let digest = Digest::of(b"");
        assert_eq!(
            digest.as_str(),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(digest.as_str().parse(), Ok(digest.clone()));
        assert!(digest.is_of(b""));
        assert!(!digest.is_of(b"x"));
        let long: Digest = format!("sha512:{}", "ab".repeat(64)).parse().expect("a digest");
        assert!(!long.is_of(b""));
        assert_eq!((long.algorithm(), long.short()), ("sha512", "abababababab"));
    }

    #[test]
    fn what_is_no_digest_is_refused() {
        for (text, error) in [
            ("e3b0", "has the form sha256:HEX"),
            ("md5:e3b0", "`md5` is not supported"),
            ("sha256:e3b0", "64 lowercase"),
            (&format!("sha256:{}", "AB".repeat(32)), "64 lowercase"),
        ] {
            let refused = text.parse::<Digest>().expect_err(text).to_string();
            assert!(refused.contains(error), "{refused}");
        }
    }
}
