//! References to images, such as `registry.example.com:5000/team/operator:v1@sha256:...`.

use std::{fmt, str::FromStr};

use crate::digest::{Digest, DigestError};

/// The registry of a reference that names none.
const DOCKER_HUB: &str = "docker.io";

/// The name of the same registry in old references.
const DOCKER_HUB_LEGACY: &str = "index.docker.io";

/// A repository's longest path.
const REPOSITORY_LIMIT: usize = 255;

/// A tag's greatest length.
const TAG_LIMIT: usize = 128;

/// The name of an image, in full.
///
/// It is read by the rules of Docker and of every other tool of the field: what stands before the first slash is the registry if it has a
/// dot, a colon or an uppercase letter, or is `localhost`; otherwise the registry is `docker.io`, where a name of one part is below
/// `library/`. A reference may have a tag, a digest, both or neither.
///
/// Displays in full: `docker.io/library/memcached:1.6`. [`Self::familiar`] is the short form.
///
/// ```
/// use kubewright_image::Reference;
///
/// let reference: Reference = "localhost:5000/team/operator:v1".parse()?;
/// assert_eq!(reference.registry(), "localhost:5000");
/// assert_eq!(reference.repository(), "team/operator");
/// assert_eq!(reference.tag(), Some("v1"));
///
/// let hub: Reference = "memcached".parse()?;
/// assert_eq!(hub.to_string(), "docker.io/library/memcached");
/// assert_eq!(hub.familiar(), "memcached");
/// # Ok::<(), kubewright_image::ReferenceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    registry: String,
    repository: String,
    tag: Option<String>,
    digest: Option<Digest>,
}

/// Why a text is no reference, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an image reference: {fault}")]
pub struct ReferenceError {
    /// What was to be a reference.
    pub text: String,
    /// What is wrong with it.
    pub fault: ReferenceFault,
}

/// What is wrong with a reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceFault {
    /// Nothing is there, or nothing where the repository would be.
    #[error("it names no repository")]
    Empty,
    /// A scheme stands before it.
    #[error("it is no URL; leave `{0}://` out")]
    Scheme(String),
    /// The registry is no host with an optional port.
    #[error("the registry `{0}` is no host name with an optional port")]
    Registry(String),
    /// The repository has uppercase letters.
    #[error("a repository is lowercase; write `{0}`")]
    Uppercase(String),
    /// A part of the repository breaks the rules.
    #[error(
        "`{0}` is no part of a repository: parts have lowercase letters and digits, separated by one dot, one or two underscores, or hyphens"
    )]
    Component(String),
    /// The repository is too long.
    #[error("a repository has at most {REPOSITORY_LIMIT} characters, not {0}")]
    Length(usize),
    /// The repository is 64 hexadecimal digits, which tools take for the id of an image.
    #[error("64 hexadecimal digits are the id of an image, not a name")]
    Id,
    /// The tag breaks the rules.
    #[error(
        "`{0}` is no tag: tags have 1 to {TAG_LIMIT} letters, digits, underscores, dots and hyphens, and begin with neither dot nor hyphen"
    )]
    Tag(String),
    /// The digest is none.
    #[error(transparent)]
    Digest(#[from] DigestError),
}

impl Reference {
    /// The registry, with its port if one is named. `docker.io` if none is.
    #[must_use]
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The repository within the registry.
    #[must_use]
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// The tag, if one is named.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The digest, if one is named.
    #[must_use]
    pub fn digest(&self) -> Option<&Digest> {
        self.digest.as_ref()
    }

    /// The same image with the tag `latest`, if it has neither tag nor digest: what every tool takes it for.
    #[must_use]
    pub fn or_latest(mut self) -> Self {
        if self.tag.is_none() && self.digest.is_none() {
            self.tag = Some("latest".to_owned());
        }
        self
    }

    /// The same repository, and exactly this content in it. The tag goes: it may mean something else later.
    #[must_use]
    pub fn pinned(&self, digest: Digest) -> Self {
        Self { tag: None, digest: Some(digest), ..self.clone() }
    }

    /// The same repository, and another tag.
    ///
    /// # Errors
    ///
    /// If `tag` is none.
    pub fn tagged(&self, tag: &str) -> Result<Self, ReferenceError> {
        check_tag(tag).map_err(|fault| ReferenceError { text: format!("{self}:{tag}"), fault })?;
        Ok(Self { tag: Some(tag.to_owned()), digest: None, ..self.clone() })
    }

    /// The form that people write: without `docker.io` and `library/`.
    #[must_use]
    pub fn familiar(&self) -> String {
        let full = self.to_string();
        match full.strip_prefix("docker.io/") {
            // A part that reads as a registry would be taken for one.
            Some(short) => match short.strip_prefix("library/") {
                Some(name) if !name.contains('/') && !is_id(name) => name.to_owned(),
                _ if reads_as_registry(short.split('/').next().unwrap_or_default()) => full,
                _ => short.to_owned(),
            },
            None => full,
        }
    }

    fn parse(text: &str) -> Result<Self, ReferenceFault> {
        if let Some((scheme, _)) = text.split_once("://") {
            return Err(ReferenceFault::Scheme(scheme.to_owned()));
        }
        let (text, digest) = match text.split_once('@') {
            Some((text, digest)) => (text, Some(digest.parse()?)),
            None => (text, None),
        };
        // A colon before the last slash is that of a port.
        let name = text.rfind('/').map_or(0, |slash| slash + 1);
        let (name, tag) = match text[name..].find(':') {
            Some(colon) => (&text[..name + colon], Some(&text[name + colon + 1..])),
            None => (text, None),
        };
        let (registry, path) = match name.split_once('/') {
            Some((first, rest)) if reads_as_registry(first) => (first, rest),
            _ => (DOCKER_HUB, name),
        };
        let registry = if registry == DOCKER_HUB_LEGACY { DOCKER_HUB } else { registry };
        check_registry(registry)?;
        check_repository(path)?;
        if let Some(tag) = tag {
            check_tag(tag)?;
        }
        let official = registry == DOCKER_HUB && !path.contains('/');
        if official && is_id(path) {
            return Err(ReferenceFault::Id);
        }
        Ok(Self {
            registry: registry.to_owned(),
            repository: if official { format!("library/{path}") } else { path.to_owned() },
            tag: tag.map(str::to_owned),
            digest,
        })
    }
}

fn is_id(path: &str) -> bool {
    path.len() == 64 && path.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn reads_as_registry(first: &str) -> bool {
    first == "localhost" || first.contains(['.', ':']) || first.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn check_registry(registry: &str) -> Result<(), ReferenceFault> {
    let fault = || ReferenceFault::Registry(registry.to_owned());
    let (host, rest) = match registry.strip_prefix('[') {
        Some(address) => {
            let (address, rest) = address.split_once(']').ok_or_else(fault)?;
            address.parse::<std::net::Ipv6Addr>().map_err(|_| fault())?;
            (None, rest)
        }
        None => match registry.find(':') {
            Some(colon) => (Some(&registry[..colon]), &registry[colon..]),
            None => (Some(registry), ""),
        },
    };
    if let Some(host) = host {
        let label = |label: &str| {
            !label.is_empty()
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        if !host.split('.').all(label) {
            return Err(fault());
        }
    }
    match rest.strip_prefix(':') {
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok() => Ok(()),
        None if rest.is_empty() => Ok(()),
        _ => Err(fault()),
    }
}

fn check_repository(path: &str) -> Result<(), ReferenceFault> {
    if path.is_empty() {
        return Err(ReferenceFault::Empty);
    }
    if path.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Err(ReferenceFault::Uppercase(path.to_ascii_lowercase()));
    }
    if let Some(wrong) = path.split('/').find(|component| !is_component(component)) {
        return Err(ReferenceFault::Component(wrong.to_owned()));
    }
    if path.len() > REPOSITORY_LIMIT { Err(ReferenceFault::Length(path.len())) } else { Ok(()) }
}

/// Runs of letters and digits with separators between them.
fn is_component(component: &str) -> bool {
    let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = component.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    ends.iter().all(|end| end.is_some_and(|byte| alphanumeric(*byte)))
        && component.split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()).all(|separator| {
            matches!(separator, "" | "." | "_" | "__") || separator.bytes().all(|b| b == b'-')
        })
}

fn check_tag(tag: &str) -> Result<(), ReferenceFault> {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let valid = tag.bytes().next().is_some_and(word)
        && tag.bytes().all(|byte| word(byte) || matches!(byte, b'.' | b'-'))
        && tag.len() <= TAG_LIMIT;
    if valid { Ok(()) } else { Err(ReferenceFault::Tag(tag.to_owned())) }
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        Self::parse(text).map_err(|fault| ReferenceError { text: text.to_owned(), fault })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn valid_references() {
        let pinned = format!("r.io/a@sha256:{HASH}");
        let both = format!("r.io:443/a/b:v1@sha256:{HASH}");
        // Written, in full, in short.
        for (text, full, familiar) in [
            ("memcached", "docker.io/library/memcached", "memcached"),
            ("memcached:1.6.26-alpine3.19", "docker.io/library/memcached:1.6.26-alpine3.19", ""),
            ("docker.io/memcached", "docker.io/library/memcached", "memcached"),
            ("index.docker.io/library/memcached:1", "docker.io/library/memcached:1", "memcached:1"),
            ("team/operator", "docker.io/team/operator", ""),
            ("library/a/b", "docker.io/library/a/b", ""),
            ("localhost/operator", "localhost/operator", ""),
            ("localhost:5000/operator", "localhost:5000/operator", ""),
            ("127.0.0.1:5000/a/b/c:v1.2_3-x", "127.0.0.1:5000/a/b/c:v1.2_3-x", ""),
            ("[::1]:5000/operator:v1", "[::1]:5000/operator:v1", ""),
            ("[2001:db8::1]/operator", "[2001:db8::1]/operator", ""),
            ("registry/operator", "docker.io/registry/operator", ""),
            ("Registry/operator", "Registry/operator", ""),
            ("ghcr.io/a__b/c-d/e--f/g.h/i_j", "ghcr.io/a__b/c-d/e--f/g.h/i_j", ""),
            ("gcr.io/0/1:_", "gcr.io/0/1:_", ""),
            ("a:1", "docker.io/library/a:1", "a:1"),
            ("xn--n3h.com/a", "xn--n3h.com/a", ""),
            (&pinned, &pinned, ""),
            (&both, &both, ""),
        ] {
            let reference: Reference = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(reference.to_string(), full);
            let familiar = if familiar.is_empty() { text } else { familiar };
            assert_eq!(reference.familiar(), familiar, "{text}");
            assert_eq!(familiar.parse(), Ok(reference), "the short form means the same");
        }
    }

    #[test]
    fn invalid_references() {
        let long = format!("r.io/{}", "a".repeat(256));
        let long_tag = format!("a:{}", "t".repeat(129));
        let upper = format!("a@sha256:{}", HASH.to_uppercase());
        let twice = format!("a@sha256:{HASH}@sha256:{HASH}");
        for (text, fault) in [
            ("", "names no repository"),
            (":v1", "names no repository"),
            ("r.io/", "names no repository"),
            ("https://r.io/a", "leave `https://` out"),
            ("r.io/Team/Operator:V1", "write `team/operator`"),
            ("r.io//a", "`` is no part"),
            ("r.io/a/", "`` is no part"),
            ("r.io/a..b", "`a..b` is no part"),
            ("r.io/a___b", "`a___b` is no part"),
            ("r.io/a._b", "`a._b` is no part"),
            ("r.io/-a", "`-a` is no part"),
            ("r.io/a-", "`a-` is no part"),
            ("r.io/a b", "`a b` is no part"),
            ("r.io/ä", "`ä` is no part"),
            ("-r.io/a", "registry `-r.io`"),
            ("r..io/a", "registry `r..io`"),
            ("r.io:/a", "registry `r.io:`"),
            ("r.io:port/a", "registry `r.io:port`"),
            ("r.io:65536/a", "registry `r.io:65536`"),
            ("r.io:+80/a", "registry `r.io:+80`"),
            ("[::1/a", "registry `[::1`"),
            ("[::g]/a", "registry `[::g]`"),
            ("[::1]5000/a", "registry `[::1]5000`"),
            ("a:", "`` is no tag"),
            ("a:.v1", "`.v1` is no tag"),
            ("a:-v1", "`-v1` is no tag"),
            ("a:v1:v2", "`v1:v2` is no tag"),
            ("a:v1+build", "`v1+build` is no tag"),
            ("a@", "has the form sha256:HEX"),
            ("a@sha256:e3b0", "64 lowercase"),
            ("a@md5:d41d8cd98f00b204e9800998ecf8427e", "`md5` is not supported"),
            (HASH, "the id of an image"),
            (&long, "at most 255 characters, not 256"),
            (&long_tag, "is no tag"),
            (&upper, "64 lowercase"),
            (&twice, "64 lowercase"),
        ] {
            let error = text.parse::<Reference>().expect_err(text).to_string();
            assert!(error.contains(fault), "{error}");
            assert!(error.starts_with(&format!("`{text}` is not an image reference: ")), "{error}");
        }
    }

    #[test]
    fn tags_and_digests_are_exchanged() {
        let reference: Reference = "r.io/a:v1".parse().expect("a reference");
        let pinned = reference.pinned(Digest::of(b""));
        assert_eq!(pinned.to_string(), format!("r.io/a@sha256:{HASH}"));
        assert_eq!(pinned.clone().or_latest(), pinned);
        assert_eq!(pinned.tagged("v2").expect("a tag").to_string(), "r.io/a:v2");
        assert!(reference.tagged("").is_err());
        assert_eq!("r.io/a".parse::<Reference>().expect("one").or_latest().tag(), Some("latest"));
    }

    proptest! {
        #[test]
        fn what_is_read_is_read_again(text in "([a-zA-Z.:]{0,8}/)?[a-z0-9._/-]{0,12}(:[a-zA-Z0-9._-]{0,6})?") {
            if let Ok(reference) = text.parse::<Reference>() {
                prop_assert_eq!(reference.to_string().parse(), Ok(reference.clone()));
                prop_assert_eq!(reference.familiar().parse(), Ok(reference));
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,20}") {
            let _ = text.parse::<Reference>();
        }
    }
}
