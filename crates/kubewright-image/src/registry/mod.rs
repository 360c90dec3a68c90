//! Pushing to registries and pulling from them, by the protocol of OCI distribution.
//!
//! [`Registry`] is the client of one registry. `push.rs` and `pull.rs` are what is done with it, `upload.rs` how a blob gets there;
//! `session.rs` is one authenticated request, with `auth.rs` for the registry's challenges; `transport.rs` is HTTP, with its retries.
//! [`credentials`] reads the logins of Docker and Podman.

mod auth;
pub mod credentials;
mod error;
mod pull;
mod push;
mod session;
mod transport;
mod upload;

use std::{fmt, sync::Arc, time::Duration};

pub use self::error::{ApiError, RegistryError};
use self::{credentials::Login, session::Session};
use crate::{digest::Digest, reference::Reference, spec::Descriptor};

/// How to reach a registry.
#[derive(Clone)]
pub struct Options {
    /// Who asks. Nobody in particular, by default.
    pub login: Login,
    /// Speak plain HTTP if the registry does not speak HTTPS. Passwords and images can then be read and changed on the way. To this machine's
    /// own addresses that is always done.
    pub insecure: bool,
    /// Blobs that are longer are sent in pieces of this many bytes, of which only one is lost with a connection. 32 MiB, by default.
    pub chunk: usize,
    /// How long to wait after the first failure that may pass. Twice as long after the next; five attempts are made. 1 s, by default.
    pub pause: Duration,
    /// Is told how it goes.
    pub progress: Progress,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            login: Login::default(),
            insecure: false,
            chunk: 32 << 20,
            pause: Duration::from_secs(1),
            progress: Progress::default(),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("login", &self.login)
            .field("insecure", &self.insecure)
            .field("chunk", &self.chunk)
            .finish_non_exhaustive()
    }
}

/// What happens to a blob or a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The registry had it already.
    Exists(Descriptor),
    /// The registry took it from another of its repositories.
    Mounted(Descriptor, String),
    /// So many of its bytes are there. May go back, when a connection breaks.
    Moved(Descriptor, u64),
    /// All of it is there.
    Done(Descriptor),
    /// Something failed and is tried again.
    Retry(String),
}

/// Who is told [`Event`]s.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(Event) + Send + Sync>>);

impl Progress {
    /// Calls `listener` for each event, between two pieces of work: it must not block.
    pub fn new(listener: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    fn tell(&self, event: Event) {
        if let Some(listener) = &self.0 {
            listener(event);
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}

/// The client of one registry. It keeps connections and tokens for as long as it lives.
#[derive(Debug)]
pub struct Registry {
    session: Session,
    options: Options,
}

impl Registry {
    /// A client of the registry with this name, as [`Reference::registry`] has it. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// If TLS cannot be set up.
    pub fn new(name: &str, options: Options) -> Result<Self, RegistryError> {
        Ok(Self { session: Session::new(name, &options)?, options })
    }

    /// The digest, size and type of what `reference` names now.
    ///
    /// # Errors
    ///
    /// If the registry does not answer, refuses, or has no such image.
    pub async fn resolve(&self, reference: &Reference) -> Result<Descriptor, RegistryError> {
        let (descriptor, _) = self.manifest(reference).await?;
        Ok(descriptor)
    }
}

/// What may be done to a repository, in the words of token servers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Scope(String);

impl Scope {
    fn pull(repository: &str) -> Self {
        Self(format!("repository:{repository}:pull"))
    }

    fn push(repository: &str) -> Self {
        Self(format!("repository:{repository}:pull,push"))
    }
}

/// Whether the registry found the same digest as we did. An answer without one is of a registry that does not tell.
fn check_digest(response: &transport::Response, expected: &Digest, what: &str) -> Result<(), RegistryError> {
    match response.header("docker-content-digest") {
        Some(found) if found.parse() != Ok(expected.clone()) => Err(RegistryError::Digest {
            what: what.to_owned(),
            expected: expected.clone(),
            found: found.to_owned(),
        }),
        _ => Ok(()),
    }
}
