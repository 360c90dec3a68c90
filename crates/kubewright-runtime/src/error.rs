use std::fmt;

use crate::{Action, client::ClientError};

/// What a reconciler, a runnable or the manager returns. The type parameter is [`Action`] unless given.
pub type Result<T = Action, E = Error> = std::result::Result<T, E>;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a reconciliation, a runnable or the manager failed.
///
/// `?` turns the errors of the client, of kube, of serde_json and of I/O into it; wrap any other with
/// [`Error::other`]:
///
/// ```
/// use kubewright_runtime::{Error, Result};
///
/// fn replicas(text: &str) -> Result<i32> {
///     text.parse().map_err(Error::other)
/// }
/// assert!(replicas("three").is_err());
/// ```
///
/// `Debug` prints the message and its causes rather than the fields, because that is what `main` shows a
/// user when it returns the error.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call to the API server or a read of the cache failed.
    #[error(transparent)]
    Client(#[from] ClientError),

    /// Trying again without a change does not help. The request is not retried; the next event for the
    /// object reconciles it again.
    #[error("terminal error: {0}")]
    Terminal(#[source] BoxError),

    /// The process is set up in a way that cannot work: the message says which setting and how to fix it.
    #[error("{0}")]
    Setup(String),

    /// Something of the manager did not stop within the grace period.
    #[error("failed waiting for all runnables to end within grace period of {grace}: still running: {}", running.join(", "))]
    GracePeriod {
        /// The grace period, as `30s`.
        grace: String,
        /// The names of what still runs.
        running: Vec<String>,
    },

    /// The lease of the leader was lost. The leader work has been stopped; let the process end and stand for election
    /// anew, as it does when `main` returns the error and the kubelet restarts it.
    #[error("leader election lost: the lease {lease}: {reason}")]
    LeaderElectionLost {
        /// The lease, as `namespace/name`.
        lease: String,
        /// How it came.
        reason: String,
    },

    /// The lease of this replica was lost, by which it takes [its part of the work](crate::sharding). Its work has been
    /// stopped; let the process end and join anew, as it does when `main` returns the error and the kubelet restarts it.
    #[error("the part of the work is lost: the lease {lease}: {reason}")]
    ShardLost {
        /// The lease, as `namespace/name`.
        lease: String,
        /// How it came.
        reason: String,
    },

    /// Something of the manager ended with an error, which ends the manager.
    #[error("{name} failed: {source}")]
    Runnable {
        /// Its name.
        name: String,
        /// Why it ended.
        #[source]
        source: Box<Error>,
    },

    /// Anything else.
    #[error(transparent)]
    Other(BoxError),
}

impl Error {
    /// Wraps an error of another crate, or a message.
    pub fn other(error: impl Into<BoxError>) -> Self {
        Self::Other(error.into())
    }

    /// Wraps an error that a retry cannot mend, as a spec that contradicts itself: it is logged and counted,
    /// and the object waits for its next event.
    pub fn terminal(error: impl Into<BoxError>) -> Self {
        Self::Terminal(error.into())
    }

    /// A setting that cannot work.
    pub fn setup(message: impl Into<String>) -> Self {
        Self::Setup(message.into())
    }

    /// Whether a retry is pointless, as [`Error::terminal`] promises.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// The client's error, if that is what it is.
    #[must_use]
    pub fn as_client_error(&self) -> Option<&ClientError> {
        match self {
            Self::Client(error) => Some(error),
            Self::Terminal(error) | Self::Other(error) => error.downcast_ref(),
            _ => None,
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut message = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            let text = cause.to_string();
            if !message.contains(&text) {
                message.push_str("\n  caused by: ");
                message.push_str(&text);
            }
            source = cause.source();
        }
        f.write_str(&message)
    }
}

impl From<kube::Error> for Error {
    fn from(error: kube::Error) -> Self {
        Self::Client(error.into())
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::other(error)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::other(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_error_keeps_its_cause() {
        let cause = "a".parse::<i32>().expect_err("not a number");
        let error = Error::terminal(cause.clone());
        assert!(error.is_terminal());
        assert_eq!(error.to_string(), format!("terminal error: {cause}"));
        assert!(!Error::other("once more").is_terminal());
    }

    #[test]
    fn debug_shows_the_message_for_main() {
        let error = Error::setup("port 8080 is in use");
        assert_eq!(format!("{error:?}"), "port 8080 is in use");
    }
}
