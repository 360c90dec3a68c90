//! The error value of the API: Kubernetes' `Status`, with one constructor per reason.
//!
//! Every verb of the server fails with a [`Status`]. The constructors write the texts of a real server, so a
//! module that refuses something picks the constructor and never formats a message of its own.

use std::{collections::BTreeSet, fmt};

use serde_json::{Map, Value, json};

/// A refusal as the API server sends it.
///
/// `Display` is the message, which is what `kubectl` prints after `Error from server (Reason): `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The HTTP status code.
    pub code: u16,
    /// The machine-readable reason; empty where Kubernetes leaves it empty.
    pub reason: Reason,
    /// The text for people.
    pub message: String,
    /// What the refusal is about. `None` is left out, `Some` of an empty value is written as `{}`.
    pub details: Option<Box<Details>>,
    /// `metadata.continue`: how an expired list can be continued, inconsistently.
    pub continue_token: Option<String>,
}

/// What a [`Status`] is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// The object's name.
    pub name: String,
    /// The API group.
    pub group: String,
    /// The resource's plural, or the kind for [`Status::invalid`].
    pub kind: String,
    /// The object's uid.
    pub uid: String,
    /// The single faults.
    pub causes: Vec<Cause>,
    /// After how many seconds the client should try again; 0 is left out.
    pub retry_after_seconds: u32,
}

/// One fault of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// The machine-readable cause type, e.g. `FieldValueInvalid`.
    pub reason: String,
    /// The text for people.
    pub message: String,
    /// The path of the field at fault, e.g. `spec.replicas`.
    pub field: String,
}

/// The machine-readable reason of a [`Status`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// No reason, written as an absent field.
    Unknown,
    /// 401.
    Unauthorized,
    /// 403.
    Forbidden,
    /// 404.
    NotFound,
    /// 409 on create.
    AlreadyExists,
    /// 409 on update and delete.
    Conflict,
    /// 410 of something that was and is not.
    Gone,
    /// 410 of a resource version or a continue token.
    Expired,
    /// 422.
    Invalid,
    /// 500, try again.
    ServerTimeout,
    /// 500 of the storage.
    StoreReadError,
    /// 504.
    Timeout,
    /// 429.
    TooManyRequests,
    /// 400.
    BadRequest,
    /// 405.
    MethodNotAllowed,
    /// 406.
    NotAcceptable,
    /// 413.
    RequestEntityTooLarge,
    /// 415.
    UnsupportedMediaType,
    /// 500.
    InternalError,
    /// 503.
    ServiceUnavailable,
    /// A reason of somebody else, such as a webhook that refuses a request.
    Other(Box<str>),
}

/// A resource and its group, as messages name it: `pods`, `widgets.example.com`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupResource {
    /// The API group, empty for the core group.
    pub group: String,
    /// The resource's plural.
    pub resource: String,
}

/// A kind and its group, as messages name it: `Pod`, `Widget.example.com`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKind {
    /// The API group, empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
}

// === impl Status ===

impl Status {
    /// A refusal without details.
    #[must_use]
    pub fn new(code: u16, reason: Reason, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: None, continue_token: None }
    }

    /// The same refusal with `details`.
    #[must_use]
    pub fn with_details(mut self, details: Details) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// The same refusal with one more cause.
    #[must_use]
    pub fn with_cause(mut self, cause: Cause) -> Self {
        self.details.get_or_insert_default().causes.push(cause);
        self
    }

    /// 404 `widgets.example.com "w1" not found`.
    #[must_use]
    pub fn not_found(resource: &GroupResource, name: &str) -> Self {
        Self::new(404, Reason::NotFound, format!("{resource} {name:?} not found"))
            .with_details(resource.details(name))
    }

    /// 404 `the server could not find the requested resource`: the path names no resource.
    #[must_use]
    pub fn no_such_resource() -> Self {
        Self::new(404, Reason::NotFound, "the server could not find the requested resource")
            .with_details(Details::default())
    }

    /// 409 `widgets.example.com "w1" already exists`.
    #[must_use]
    pub fn already_exists(resource: &GroupResource, name: &str) -> Self {
        Self::new(409, Reason::AlreadyExists, format!("{resource} {name:?} already exists"))
            .with_details(resource.details(name))
    }

    /// 409 of a create whose predecessor has not gone yet.
    #[must_use]
    pub fn being_deleted(resource: &GroupResource, name: &str) -> Self {
        let mut status = Self::already_exists(resource, name);
        status.message = format!("object is being deleted: {}", status.message);
        status
    }

    /// 409 after every generated name was taken; the client may try again after a second.
    #[must_use]
    pub fn generate_name_exhausted(resource: &GroupResource, name: &str) -> Self {
        let message = format!(
            "{resource} {name:?} already exists, the server was not able to generate a unique name for the object"
        );
        let details = Details { retry_after_seconds: 1, ..resource.details(name) };
        Self::new(409, Reason::AlreadyExists, message).with_details(details)
    }

    /// 409 `Operation cannot be fulfilled on widgets.example.com "w1": why`.
    #[must_use]
    pub fn conflict(resource: &GroupResource, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {resource} {name:?}: {why}");
        Self::new(409, Reason::Conflict, message).with_details(resource.details(name))
    }

    /// 409 of an update at an old resource version.
    #[must_use]
    pub fn modified(resource: &GroupResource, name: &str) -> Self {
        Self::conflict(
            resource,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// 409 of a server-side apply; `conflicts` are the causes, each `FieldManagerConflict`.
    #[must_use]
    pub fn apply_conflict(message: impl Into<String>, conflicts: Vec<Cause>) -> Self {
        Self::new(409, Reason::Conflict, message)
            .with_details(Details { causes: conflicts, ..Details::default() })
    }

    /// 422 `Widget.example.com "w1" is invalid: ...`, with the texts of `causes`, equal ones once.
    #[must_use]
    pub fn invalid(kind: &GroupKind, name: &str, causes: Vec<Cause>) -> Self {
        let mut seen = BTreeSet::new();
        let mut texts: Vec<String> = causes.iter().map(ToString::to_string).collect();
        texts.retain(|text| seen.insert(text.clone()));
        let text = match texts.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let details = Details {
            name: name.to_owned(),
            group: kind.group.clone(),
            kind: kind.kind.clone(),
            causes,
            ..Details::default()
        };
        Self::new(422, Reason::Invalid, format!("{kind} {name:?} is invalid: {text}")).with_details(details)
    }

    /// 422 as [`Status::invalid`], or nothing if the list of faults is empty.
    ///
    /// # Errors
    /// The 422 itself, if the list is not empty.
    pub fn check(kind: &GroupKind, name: &str, errors: &kubewright_schema::ErrorList) -> Result<(), Self> {
        if errors.is_empty() {
            return Ok(());
        }
        let causes = errors.causes().into_iter().map(Cause::from).collect();
        Err(Self::invalid(kind, name, causes))
    }

    /// 422 of a patch that cannot be applied, e.g. a failed `test` of a JSON patch.
    #[must_use]
    pub fn unprocessable() -> Self {
        Self::new(422, Reason::Invalid, "the server rejected our request due to an error in our request")
            .with_details(Details::default())
    }

    /// 400.
    #[must_use]
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, Reason::BadRequest, message)
    }

    /// 401 `Unauthorized`.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self::new(401, Reason::Unauthorized, "Unauthorized")
    }

    /// 403 `pods "p" is forbidden: why`; without a name `pods is forbidden: why`.
    #[must_use]
    pub fn forbidden(resource: &GroupResource, name: &str, why: &str) -> Self {
        let message = match (resource.resource.is_empty(), name.is_empty()) {
            (true, _) => format!("forbidden: {why}"),
            (false, true) => format!("{resource} is forbidden: {why}"),
            (false, false) => format!("{resource} {name:?} is forbidden: {why}"),
        };
        Self::new(403, Reason::Forbidden, message).with_details(resource.details(name))
    }

    /// 405 of a custom resource: `create is not supported on resources of kind "widgets.example.com"`.
    #[must_use]
    pub fn method_not_supported(resource: &GroupResource, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind {:?}", resource.to_string());
        Self::new(405, Reason::MethodNotAllowed, message)
            .with_details(Details { name: String::new(), ..resource.details("") })
    }

    /// 405 of a built-in resource.
    #[must_use]
    pub fn method_not_allowed() -> Self {
        Self::new(
            405,
            Reason::MethodNotAllowed,
            "the server does not allow this method on the requested resource",
        )
        .with_details(Details::default())
    }

    /// 406 with the media types that the endpoint can write.
    #[must_use]
    pub fn not_acceptable(offered: &[&str]) -> Self {
        let message = format!("only the following media types are accepted: {}", offered.join(", "));
        Self::new(406, Reason::NotAcceptable, message)
    }

    /// 410 of a watch or a list at a revision that is no longer kept.
    #[must_use]
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, Reason::Expired, message)
    }

    /// 410 `too old resource version: 5 (10)`.
    #[must_use]
    pub fn too_old_resource_version(asked: u64, oldest: u64) -> Self {
        Self::expired(format!("too old resource version: {asked} ({oldest})"))
    }

    /// 410 of a continue token, with the token that continues inconsistently.
    #[must_use]
    pub fn continue_expired(continue_token: String) -> Self {
        let mut status = Self::expired(
            "The provided continue parameter is too old to display a consistent list result. \
             You can start a new list without the continue parameter, or use the continue token in this response \
             to retrieve the remainder of the results. Continuing with the provided token results in an \
             inconsistent list - objects that were created, modified, or deleted between the time the first chunk \
             was returned and now may show up in the list.",
        );
        status.continue_token = Some(continue_token);
        status
    }

    /// 413 `Request entity too large: limit is 3145728`.
    #[must_use]
    pub fn too_large(limit: usize) -> Self {
        Self::new(413, Reason::RequestEntityTooLarge, format!("Request entity too large: limit is {limit}"))
    }

    /// 415 with the media types that the endpoint can read.
    #[must_use]
    pub fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(415, Reason::UnsupportedMediaType, message)
    }

    /// 429; the client may try again after `retry_after_seconds`.
    #[must_use]
    pub fn too_many_requests(message: impl Into<String>, retry_after_seconds: u32) -> Self {
        Self::new(429, Reason::TooManyRequests, message)
            .with_details(Details { retry_after_seconds, ..Details::default() })
    }

    /// 500 `Internal error occurred: what`.
    #[must_use]
    pub fn internal(what: impl fmt::Display) -> Self {
        let what = what.to_string();
        let cause = Cause { message: what.clone(), ..Cause::default() };
        Self::new(500, Reason::InternalError, format!("Internal error occurred: {what}"))
            .with_details(Details { causes: vec![cause], ..Details::default() })
    }

    /// 500 without a reason: what Kubernetes makes of an error that is no `Status`.
    #[must_use]
    pub fn untyped(message: impl Into<String>) -> Self {
        Self::new(500, Reason::Unknown, message)
    }

    /// 503.
    #[must_use]
    pub fn service_unavailable(message: impl Into<String>) -> Self {
        Self::new(503, Reason::ServiceUnavailable, message)
    }

    /// 504 `Timeout: what`.
    #[must_use]
    pub fn timeout(what: &str) -> Self {
        Self::new(504, Reason::Timeout, format!("Timeout: {what}")).with_details(Details::default())
    }

    /// 504 of a read at a revision that has not been written yet.
    #[must_use]
    pub fn resource_version_too_large(asked: u64, current: u64) -> Self {
        let cause = Cause {
            reason: "ResourceVersionTooLarge".to_owned(),
            message: "Too large resource version".to_owned(),
            field: String::new(),
        };
        Self::new(
            504,
            Reason::Timeout,
            format!("Timeout: Too large resource version: {asked}, current: {current}"),
        )
        .with_details(Details { causes: vec![cause], retry_after_seconds: 1, ..Details::default() })
    }

    /// The object as it goes over the wire.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut metadata = Map::new();
        if let Some(token) = &self.continue_token {
            metadata.insert("continue".to_owned(), Value::from(token.as_str()));
        }
        let mut object = Map::new();
        object.insert("kind".to_owned(), Value::from("Status"));
        object.insert("apiVersion".to_owned(), Value::from("v1"));
        object.insert("metadata".to_owned(), Value::Object(metadata));
        object.insert("status".to_owned(), Value::from("Failure"));
        if !self.message.is_empty() {
            object.insert("message".to_owned(), Value::from(self.message.as_str()));
        }
        if self.reason != Reason::Unknown {
            object.insert("reason".to_owned(), Value::from(self.reason.as_str()));
        }
        if let Some(details) = &self.details {
            object.insert("details".to_owned(), details.to_value());
        }
        object.insert("code".to_owned(), Value::from(self.code));
        Value::Object(object)
    }

    /// The answer to a delete that removed the object at once.
    #[must_use]
    pub fn deleted(resource: &GroupResource, name: &str, uid: &str) -> Value {
        let details = Details { uid: uid.to_owned(), ..resource.details(name) };
        json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": details.to_value(),
        })
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Status {}

// === impl Details ===

impl Details {
    fn to_value(&self) -> Value {
        let mut object = Map::new();
        for (key, value) in
            [("name", &self.name), ("group", &self.group), ("kind", &self.kind), ("uid", &self.uid)]
        {
            if !value.is_empty() {
                object.insert(key.to_owned(), Value::from(value.as_str()));
            }
        }
        if !self.causes.is_empty() {
            object.insert("causes".to_owned(), self.causes.iter().map(Cause::to_value).collect());
        }
        if self.retry_after_seconds > 0 {
            object.insert("retryAfterSeconds".to_owned(), Value::from(self.retry_after_seconds));
        }
        Value::Object(object)
    }
}

// === impl Cause ===

impl Cause {
    /// A `FieldValueInvalid`: `field: Invalid value: <value>: detail`.
    #[must_use]
    pub fn invalid(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        Self {
            reason: "FieldValueInvalid".to_owned(),
            message: format!("Invalid value: {value}: {detail}"),
            field: field.into(),
        }
    }

    /// A `FieldValueRequired`: `field: Required value: detail`, or without `: detail` if that is empty.
    #[must_use]
    pub fn required(field: impl Into<String>, detail: &str) -> Self {
        let message =
            if detail.is_empty() { "Required value".to_owned() } else { format!("Required value: {detail}") };
        Self { reason: "FieldValueRequired".to_owned(), message, field: field.into() }
    }

    /// A `FieldValueForbidden`: `field: Forbidden: detail`.
    #[must_use]
    pub fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self {
            reason: "FieldValueForbidden".to_owned(),
            message: format!("Forbidden: {detail}"),
            field: field.into(),
        }
    }

    /// A `FieldValueNotSupported`: `field: Unsupported value: "x": supported values: "a", "b"`.
    #[must_use]
    pub fn not_supported(field: impl Into<String>, value: &Value, supported: &[&str]) -> Self {
        let supported: Vec<String> = supported.iter().map(|value| format!("{value:?}")).collect();
        Self {
            reason: "FieldValueNotSupported".to_owned(),
            message: format!("Unsupported value: {value}: supported values: {}", supported.join(", ")),
            field: field.into(),
        }
    }

    fn to_value(&self) -> Value {
        let mut object = Map::new();
        for (key, value) in [("reason", &self.reason), ("message", &self.message), ("field", &self.field)] {
            if !value.is_empty() {
                object.insert(key.to_owned(), Value::from(value.as_str()));
            }
        }
        Value::Object(object)
    }
}

impl From<kubewright_schema::Cause> for Cause {
    fn from(cause: kubewright_schema::Cause) -> Self {
        Self { reason: cause.reason.to_owned(), message: cause.message, field: cause.field }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.field, self.message)
        }
    }
}

// === impl Reason ===

impl Reason {
    /// The reason on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Unknown => "",
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "NotFound",
            Self::AlreadyExists => "AlreadyExists",
            Self::Conflict => "Conflict",
            Self::Gone => "Gone",
            Self::Expired => "Expired",
            Self::Invalid => "Invalid",
            Self::ServerTimeout => "ServerTimeout",
            Self::StoreReadError => "StoreReadError",
            Self::Timeout => "Timeout",
            Self::TooManyRequests => "TooManyRequests",
            Self::BadRequest => "BadRequest",
            Self::MethodNotAllowed => "MethodNotAllowed",
            Self::NotAcceptable => "NotAcceptable",
            Self::RequestEntityTooLarge => "RequestEntityTooLarge",
            Self::UnsupportedMediaType => "UnsupportedMediaType",
            Self::InternalError => "InternalError",
            Self::ServiceUnavailable => "ServiceUnavailable",
            Self::Other(text) => text,
        }
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        match text {
            "" => Self::Unknown,
            "Unauthorized" => Self::Unauthorized,
            "Forbidden" => Self::Forbidden,
            "NotFound" => Self::NotFound,
            "AlreadyExists" => Self::AlreadyExists,
            "Conflict" => Self::Conflict,
            "Gone" => Self::Gone,
            "Expired" => Self::Expired,
            "Invalid" => Self::Invalid,
            "ServerTimeout" => Self::ServerTimeout,
            "StoreReadError" => Self::StoreReadError,
            "Timeout" => Self::Timeout,
            "TooManyRequests" => Self::TooManyRequests,
            "BadRequest" => Self::BadRequest,
            "MethodNotAllowed" => Self::MethodNotAllowed,
            "NotAcceptable" => Self::NotAcceptable,
            "RequestEntityTooLarge" => Self::RequestEntityTooLarge,
            "UnsupportedMediaType" => Self::UnsupportedMediaType,
            "InternalError" => Self::InternalError,
            "ServiceUnavailable" => Self::ServiceUnavailable,
            other => Self::Other(other.into()),
        }
    }
}

// === impl GroupResource ===

impl GroupResource {
    /// Names the resource `resource` of `group`.
    #[must_use]
    pub fn new(group: impl Into<String>, resource: impl Into<String>) -> Self {
        Self { group: group.into(), resource: resource.into() }
    }

    fn details(&self, name: &str) -> Details {
        Details {
            name: name.to_owned(),
            group: self.group.clone(),
            kind: self.resource.clone(),
            ..Details::default()
        }
    }
}

impl fmt::Display for GroupResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_qualified(f, &self.resource, &self.group)
    }
}

// === impl GroupKind ===

impl GroupKind {
    /// Names the kind `kind` of `group`.
    #[must_use]
    pub fn new(group: impl Into<String>, kind: impl Into<String>) -> Self {
        Self { group: group.into(), kind: kind.into() }
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_qualified(f, &self.kind, &self.group)
    }
}

fn write_qualified(f: &mut fmt::Formatter<'_>, name: &str, group: &str) -> fmt::Result {
    if group.is_empty() { f.write_str(name) } else { write!(f, "{name}.{group}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_found_is_what_a_real_server_says() {
        let status = Status::not_found(&GroupResource::new("example.com", "widgets"), "w1");
        assert_eq!(
            status.to_value(),
            json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": "widgets.example.com \"w1\" not found", "reason": "NotFound",
                "details": {"name": "w1", "group": "example.com", "kind": "widgets"}, "code": 404,
            })
        );
    }

    #[test]
    fn invalid_lists_every_cause_and_says_equal_ones_once() {
        let kind = GroupKind::new("", "Pod");
        let one = Cause::required("spec.containers", "");
        assert_eq!(
            Status::invalid(&kind, "p", vec![one.clone()]).message,
            "Pod \"p\" is invalid: spec.containers: Required value"
        );
        let other = Cause::invalid("metadata.name", &json!("P"), "no");
        let status = Status::invalid(&kind, "p", vec![one.clone(), other, one]);
        assert_eq!(
            status.message,
            "Pod \"p\" is invalid: [spec.containers: Required value, metadata.name: Invalid value: \"P\": no]"
        );
        assert_eq!(status.details.map(|details| details.causes.len()), Some(3));
    }

    #[test]
    fn empty_details_are_written_and_absent_ones_are_not() {
        assert_eq!(Status::method_not_allowed().to_value()["details"], json!({}));
        assert_eq!(Status::bad_request("no").to_value().get("details"), None);
        assert_eq!(Status::untyped("no").to_value().get("reason"), None);
    }
}
