//! What keeps objects from being brought about.

use kube::api::DynamicObject;

use crate::name_of;

/// A step that failed. What was done before it stays; the same command again goes on from there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeployError {
    /// The API server refused it.
    #[error("cannot {action} the {object}: {reason}{hint}")]
    Refused {
        /// What was to be done.
        action: &'static str,
        /// To which object.
        object: String,
        /// The server's answer.
        reason: String,
        /// What to do.
        hint: String,
    },

    /// The cluster does not know a kind.
    #[error(
        "the cluster does not know the kind of the {object} ({api_version}); install its definition first"
    )]
    UnknownKind {
        /// The object.
        object: String,
        /// Its API version.
        api_version: String,
    },

    /// The cluster cannot be asked.
    #[error("cannot find out what the cluster serves: {0}; is it there, and is the kubeconfig right?")]
    Discovery(String),

    /// Objects did not become ready in time.
    #[error("not ready within {seconds} s: {}", states.join("; "))]
    NotReady {
        /// How long it was waited.
        seconds: u64,
        /// Each object and its state.
        states: Vec<String>,
    },
}

impl DeployError {
    pub(crate) fn refused(action: &'static str, object: &DynamicObject, error: &kube::Error) -> Self {
        let (reason, code) = match error {
            kube::Error::Api(status) => (status.message.clone(), status.code),
            other => (other.to_string(), 0),
        };
        let hint = match code {
            401 => "; the credentials of the kubeconfig are not valid",
            403 => "; ask for the right, or use a kubeconfig that has it",
            409 if reason.contains("conflict") => "; --force-conflicts takes the fields over",
            _ => "",
        };
        Self::Refused { action, object: name_of(object), reason, hint: hint.to_owned() }
    }
}
