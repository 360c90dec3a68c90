use std::{fmt, time::Duration};

use kube::core::Status;

/// Why a call of the [`Client`](super::Client) failed.
///
/// The message names what was attempted, on which object, what the server said, and for a missing
/// permission the marker that grants it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The API server answered with an error.
    #[error("cannot {operation}: {}{}", describe(status), hint(status))]
    Api {
        /// What was attempted.
        operation: Box<Operation>,
        /// The server's answer.
        status: Box<Status>,
    },

    /// No answer came, or one that is not of the expected form.
    #[error("cannot {operation}: {}", innermost(source))]
    Request {
        /// What was attempted.
        operation: Box<Operation>,
        /// What went wrong on the way.
        #[source]
        source: Box<kube::Error>,
    },

    /// No answer came in time. Whether the server did what was asked is not known.
    #[error("cannot {operation}: no answer within {}s", timeout.as_secs())]
    Timeout {
        /// What was attempted.
        operation: Box<Operation>,
        /// How long the client waited.
        timeout: Duration,
    },

    /// The server's answer does not fit the Rust type.
    #[error(
        "cannot read the answer to {operation}: {source}; the Rust type and the served version of the kind differ"
    )]
    Decode {
        /// What was attempted.
        operation: Box<Operation>,
        /// Where the answer differs from the type.
        #[source]
        source: serde_json::Error,
    },

    /// The object that was to be sent could not be turned into JSON.
    #[error("cannot {operation}: the object does not serialize: {source}")]
    Encode {
        /// What was attempted.
        operation: Box<Operation>,
        /// Why it does not serialize.
        #[source]
        source: serde_json::Error,
    },

    /// The object or the key does not say enough, or contradicts its kind.
    #[error("cannot {operation}: {reason}")]
    BadObject {
        /// What was attempted.
        operation: Box<Operation>,
        /// What is missing or wrong.
        reason: String,
    },

    /// A cached read of a kind that no controller of this manager watches.
    #[error(
        "{kind} is not in the cache: declare it on a controller with `.owns::<{kind}>()` or `.watches::<{kind}>(..)`, \
         or read it from the server with `client.live()`"
    )]
    NotCached {
        /// The kind.
        kind: String,
    },

    /// A cached read in a namespace that the cache does not watch.
    #[error(
        "the cache does not watch {kind} in namespace {namespace:?}: watch it (`--namespace`, or the namespaces of \
         the informer), or read from the server with `client.live()`"
    )]
    NotWatched {
        /// The kind.
        kind: String,
        /// The namespace.
        namespace: String,
    },

    /// A cached read of a kind whose first list has not arrived yet.
    #[error("the cache has not read {kind} from the server yet{}", last_error(cause))]
    NotSynced {
        /// The kind.
        kind: String,
        /// The last failure of its watch, if it failed.
        cause: Option<String>,
    },

    /// A read that was to show one's own writes, which the cache did not show in time.
    #[error("the cache of {kind} has not shown {writes}, within {}ms", waited.as_millis())]
    Stale {
        /// The kind.
        kind: String,
        /// The keys and versions that were written, and how far the watch has come.
        writes: String,
        /// How long it was waited.
        waited: Duration,
    },

    /// A cached list by an index that the kind does not have.
    #[error("{kind} has no index named {index:?}: declare it with the cache before the manager starts")]
    NoSuchIndex {
        /// The kind.
        kind: String,
        /// The index that was asked for.
        index: String,
    },

    /// A failure of the kube client outside of any call of ours.
    #[error("{}", innermost(.0))]
    Kube(#[source] Box<kube::Error>),
}

/// One call to the API server, as errors and logs name it: a verb, a resource and an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation {
    /// The RBAC verb: `get`, `list`, `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: &'static str,
    /// The API group, empty for the core group.
    pub group: String,
    /// The resource, in the plural.
    pub resource: String,
    /// The subresource, as `status`.
    pub subresource: Option<String>,
    /// The namespace; `None` for a cluster-scoped object or a call over all namespaces.
    pub namespace: Option<String>,
    /// The object's name; `None` for a call on a collection.
    pub name: Option<String>,
}

/// A permission that the server missed: what an RBAC rule must grant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingPermission {
    /// The verb.
    pub verb: String,
    /// The API group, empty for the core group.
    pub group: String,
    /// The resource in the plural, with its subresource as in `pods/status`.
    pub resource: String,
}

// === impl ClientError ===

impl ClientError {
    /// Puts an error of the kube client in the words of this one: an answer stays an answer.
    #[must_use]
    pub fn from_kube(operation: &Operation, error: kube::Error) -> Self {
        let operation = Box::new(operation.clone());
        match error {
            kube::Error::Api(status) => Self::Api { operation, status },
            kube::Error::SerdeError(source) => Self::Decode { operation, source },
            error => Self::Request { operation, source: Box::new(error) },
        }
    }

    /// The server's answer, if there was one.
    #[must_use]
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Api { status, .. } => Some(status),
            Self::Request { source, .. } | Self::Kube(source) => match &**source {
                kube::Error::Api(status) => Some(status),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the object does not exist (404).
    ///
    /// That a server does not know the kind at all is another error, which no object would mend: see
    /// [`is_unknown_kind`](Self::is_unknown_kind).
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.status().is_some_and(|status| status.is_not_found() && !is_unknown_resource(status))
    }

    /// Whether the server does not serve the kind: its CustomResourceDefinition is not installed, or the
    /// version is not served.
    #[must_use]
    pub fn is_unknown_kind(&self) -> bool {
        self.status().is_some_and(is_unknown_resource)
    }

    /// Whether the object changed since it was read, or another field manager owns a field (409). Read
    /// again and retry; returning the error from a reconciler does that.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.status().is_some_and(Status::is_conflict)
    }

    /// Whether the object that was to be created exists (409).
    #[must_use]
    pub fn is_already_exists(&self) -> bool {
        self.status().is_some_and(Status::is_already_exists)
    }

    /// Whether the server refused for want of a permission, or an admission plugin did (403).
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        self.status().is_some_and(Status::is_forbidden)
    }

    /// Whether a read did not show one's own writes in time. Returning the error from a reconciler retries it.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        matches!(self, Self::Stale { .. })
    }

    /// Whether the object was found invalid (422). Trying the same again fails the same way.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        self.status().is_some_and(Status::is_invalid)
    }

    /// The permission that the server missed, if that is why it refused.
    #[must_use]
    pub fn missing_permission(&self) -> Option<MissingPermission> {
        MissingPermission::from_message(&self.status()?.message)
    }
}

impl From<kube::Error> for ClientError {
    fn from(error: kube::Error) -> Self {
        Self::Kube(Box::new(error))
    }
}

// === impl Operation ===

/// `patch deployments.apps/status "shop/cart"`, or `list pods in namespace "shop"` for a collection.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        if let Some(subresource) = &self.subresource {
            write!(f, "/{subresource}")?;
        }
        match (&self.namespace, &self.name) {
            (Some(namespace), Some(name)) => write!(f, " \"{namespace}/{name}\""),
            (None, Some(name)) => write!(f, " {name:?}"),
            (Some(namespace), None) => write!(f, " in namespace {namespace:?}"),
            (None, None) => Ok(()),
        }
    }
}

// === impl MissingPermission ===

impl MissingPermission {
    /// Reads the permission out of the authorizer's message. A 403 from an admission plugin (a quota, a
    /// webhook) has another form and no permission would help, so it gives `None`.
    pub(crate) fn from_message(message: &str) -> Option<Self> {
        let (_, rest) = message.split_once(" cannot ")?;
        let (verb, rest) = rest.split_once(" resource \"")?;
        if verb.is_empty() || verb.contains(' ') {
            return None;
        }
        let (resource, rest) = rest.split_once('"')?;
        let (_, rest) = rest.split_once(" in API group \"")?;
        let (group, _) = rest.split_once('"')?;
        Some(Self { verb: verb.to_owned(), group: group.to_owned(), resource: resource.to_owned() })
    }

    /// The marker that makes the generated role grant this permission.
    #[must_use]
    pub fn marker(&self) -> String {
        let group = if self.group.is_empty() { "\"\"" } else { &self.group };
        format!("+kubebuilder:rbac:groups={group},resources={},verbs={}", self.resource, self.verb)
    }
}

fn describe(status: &Status) -> String {
    let message = if status.message.is_empty() { "the server gave no message" } else { &status.message };
    match (status.code, status.reason.is_empty()) {
        (0, true) => message.to_owned(),
        (0, false) => format!("{message} ({})", status.reason),
        (code, true) => format!("{message} ({code})"),
        (code, false) => format!("{message} ({code} {})", status.reason),
    }
}

/// The next step, where the answer tells it.
fn hint(status: &Status) -> String {
    match MissingPermission::from_message(&status.message) {
        Some(permission) if status.is_forbidden() => {
            format!(
                "; grant it with `/// {}` on the reconciler and generate the role again",
                permission.marker()
            )
        }
        _ if is_unknown_resource(status) => {
            "; the server does not serve this resource: is its CustomResourceDefinition installed?".to_owned()
        }
        _ => String::new(),
    }
}

/// Whether a 404 means that there is no such kind. A missing object is reported with the reason `NotFound`.
pub(super) fn is_unknown_resource(status: &Status) -> bool {
    status.code == 404 && status.reason != kube::core::response::reason::NOT_FOUND
}

fn last_error(cause: &Option<String>) -> String {
    cause.as_ref().map(|cause| format!("; its watch failed last with: {cause}")).unwrap_or_default()
}

/// The message of an error and of its causes, without those that an outer one repeats: hyper and tower
/// nest "client error (Connect)" around the reason that a user needs.
fn innermost(error: &kube::Error) -> String {
    let mut message = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let text = cause.to_string();
        if !message.contains(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
        source = cause.source();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch_deployment() -> Operation {
        Operation {
            verb: "patch",
            group: "apps".into(),
            resource: "deployments".into(),
            subresource: None,
            namespace: Some("shop".into()),
            name: Some("cart".into()),
        }
    }

    fn api(message: &str, reason: &str, code: u16) -> ClientError {
        let status = Status::failure(message, reason).with_code(code).boxed();
        ClientError::from_kube(&patch_deployment(), kube::Error::Api(status))
    }

    #[test]
    fn a_missing_permission_is_named_as_the_marker_to_add() {
        let error = api(
            "deployments.apps \"cart\" is forbidden: User \"system:serviceaccount:shop:operator\" cannot patch \
             resource \"deployments\" in API group \"apps\" in the namespace \"shop\"",
            "Forbidden",
            403,
        );
        assert!(error.is_forbidden());
        let message = error.to_string();
        assert!(message.starts_with("cannot patch deployments.apps \"shop/cart\": "), "{message}");
        assert!(message.contains("(403 Forbidden)"), "{message}");
        assert!(
            message.contains("+kubebuilder:rbac:groups=apps,resources=deployments,verbs=patch"),
            "{message}"
        );
    }

    #[test]
    fn the_core_group_is_quoted_and_the_servers_verb_wins() {
        let permission = MissingPermission::from_message(
            "pods is forbidden: User \"u\" cannot create resource \"pods/eviction\" in API group \"\" in the namespace \"a\"",
        )
        .expect("a permission");
        assert_eq!(permission.marker(), "+kubebuilder:rbac:groups=\"\",resources=pods/eviction,verbs=create");
    }

    #[test]
    fn a_quota_is_no_missing_permission() {
        let error = api("pods \"a\" is forbidden: exceeded quota: q", "Forbidden", 403);
        assert!(error.is_forbidden());
        assert_eq!(error.missing_permission(), None);
        assert!(!error.to_string().contains("rbac"));
    }

    #[test]
    fn the_reason_decides_before_the_code() {
        assert!(api("", "AlreadyExists", 409).is_already_exists());
        assert!(!api("", "AlreadyExists", 409).is_conflict());
        assert!(api("", "Conflict", 409).is_conflict());
        assert!(api("", "NotFound", 404).is_not_found());
        assert!(api("", "Invalid", 422).is_invalid());
    }
}
