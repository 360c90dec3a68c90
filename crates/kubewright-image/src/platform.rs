//! The operating system and processor that an image is for.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// An operating system and a processor in the words of OCI, such as `linux/amd64` or `linux/arm/v7`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Platform {
    /// The processor.
    pub architecture: String,
    /// The operating system.
    pub os: String,
    /// The variant of the processor, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

/// A text names no platform that operators are built for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no platform to build for; there are {}", Platform::known().map(|known| known.to_string()).join(", "))]
pub struct PlatformError {
    /// What was to be a platform.
    pub text: String,
}

/// Processor, variant, and the same in Rust's target triples.
const KNOWN: [(&str, Option<&str>, &str); 6] = [
    ("amd64", None, "x86_64"),
    ("arm64", None, "aarch64"),
    ("arm", Some("v7"), "armv7"),
    ("ppc64le", None, "powerpc64le"),
    ("riscv64", None, "riscv64gc"),
    ("s390x", None, "s390x"),
];

impl Platform {
    /// The platforms that Kubernetes has nodes of and Rust builds for.
    #[must_use]
    pub fn known() -> [Self; KNOWN.len()] {
        KNOWN.map(|(architecture, variant, _)| Self {
            architecture: architecture.to_owned(),
            os: "linux".to_owned(),
            variant: variant.map(str::to_owned),
        })
    }

    /// The platform that a program of the Rust target `triple` runs on in a container.
    #[must_use]
    pub fn of_triple(triple: &str) -> Option<Self> {
        let processor = triple.split('-').next()?;
        // Rust calls the processor of Apple's machines as all others do.
        let index = KNOWN.iter().position(|(_, _, rust)| *rust == processor)?;
        Self::known().into_iter().nth(index)
    }

    /// The processor as the first part of Rust's target triples has it.
    #[must_use]
    pub fn rust_architecture(&self) -> Option<&'static str> {
        KNOWN.iter().find(|(name, ..)| *name == self.architecture).map(|(_, _, rust)| *rust)
    }

    /// Whether an image for `other` is the one to take on this platform. An image that names no variant is for all.
    #[must_use]
    pub fn accepts(&self, other: &Self) -> bool {
        let default = if self.architecture == "arm64" { Some("v8") } else { None };
        let variant = |platform: &Self| platform.variant.as_deref().or(default).map(str::to_owned);
        self.os == other.os
            && self.architecture == other.architecture
            && (other.variant.is_none() || variant(self) == variant(other))
    }
}

impl FromStr for Platform {
    type Err = PlatformError;

    fn from_str(text: &str) -> Result<Self, PlatformError> {
        let unknown = || PlatformError { text: text.to_owned() };
        let mut parts = text.split('/');
        let (os, architecture, variant) = (parts.next(), parts.next(), parts.next());
        if os != Some("linux") || parts.next().is_some() {
            return Err(unknown());
        }
        let architecture = match architecture {
            Some("x86_64") => "amd64",
            Some("aarch64") => "arm64",
            Some(other) => other,
            None => return Err(unknown()),
        };
        // `v8` is what every arm64 is, and is left out, as Docker does.
        let variant =
            if architecture == "arm64" { variant.filter(|variant| *variant != "v8") } else { variant };
        Self::known()
            .into_iter()
            .find(|known| {
                known.architecture == architecture
                    && (variant.is_none() || known.variant.as_deref() == variant)
            })
            .ok_or_else(unknown)
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.os, self.architecture)?;
        match &self.variant {
            Some(variant) => write!(f, "/{variant}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_read_and_shown() {
        for (text, shown) in [
            ("linux/amd64", "linux/amd64"),
            ("linux/x86_64", "linux/amd64"),
            ("linux/arm64/v8", "linux/arm64"),
            ("linux/arm", "linux/arm/v7"),
            ("linux/arm/v7", "linux/arm/v7"),
        ] {
            assert_eq!(text.parse::<Platform>().expect(text).to_string(), shown);
        }
        for text in ["", "linux", "amd64", "windows/amd64", "linux/arm64/v9", "linux/amd64/v2/x", "linux/vax"]
        {
            let error = text.parse::<Platform>().expect_err(text).to_string();
            assert!(error.ends_with("there are linux/amd64, linux/arm64, linux/arm/v7, linux/ppc64le, linux/riscv64, linux/s390x"), "{error}");
        }
    }

    #[test]
    fn triples_have_platforms() {
        assert_eq!(
            Platform::of_triple("aarch64-apple-darwin").map(|platform| platform.to_string()),
            Some("linux/arm64".to_owned())
        );
        assert_eq!(Platform::of_triple("wasm32-wasip2"), None);
        for platform in Platform::known() {
            let triple = format!("{}-unknown-linux-gnu", platform.rust_architecture().expect("known"));
            assert_eq!(Platform::of_triple(&triple), Some(platform));
        }
    }

    #[test]
    fn the_variant_of_arm64_may_be_left_out() {
        let named = Platform { variant: Some("v8".to_owned()), .."linux/arm64".parse().expect("known") };
        let bare: Platform = "linux/arm64".parse().expect("known");
        assert!(bare.accepts(&named) && named.accepts(&bare));
        let six = Platform { variant: Some("v6".to_owned()), ..Platform::known()[2].clone() };
        assert!(!Platform::known()[2].accepts(&six));
        assert!(!bare.accepts(&Platform::known()[0]));
    }
}
