use thiserror::Error;

/// Why a protobuf body could not be decoded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProtobufError {
    /// The body does not start with the four bytes that mark a Kubernetes object.
    #[error("the body does not start with the prefix of a protobuf-encoded Kubernetes object")]
    NoPrefix,

    /// The envelope around the object is broken.
    #[error("the protobuf envelope of the object is malformed: {0}")]
    Envelope(#[source] WireError),

    /// There is no built-in kind of this name. Custom resources have no protobuf form: send JSON.
    #[error("no kind {kind:?} is registered for version {api_version:?}")]
    UnknownKind {
        /// The `apiVersion` of the object, as sent.
        api_version: String,
        /// The kind of the object, as sent.
        kind: String,
    },

    /// A field of the object is broken.
    #[error("{kind} in version {api_version:?} is malformed at {field:?}: {reason}")]
    Malformed {
        /// The `apiVersion` of the object.
        api_version: String,
        /// The kind of the object.
        kind: String,
        /// The path of the field in the JSON form, e.g. `spec.template.spec.containers[0].image`.
        field: String,
        /// What is wrong there.
        #[source]
        reason: WireError,
    },
}

/// What is wrong at one place of a protobuf message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// The message ends within a field, or a length reaches over the end.
    #[error("unexpected end of the message")]
    Truncated,

    /// A variable-length number has more than ten bytes.
    #[error("a number is longer than 64 bits")]
    Overflow,

    /// A tag has a field number of zero or a wire type that does not exist.
    #[error("illegal tag {0}")]
    Tag(u64),

    /// A known field comes in a wire type that its type does not have.
    #[error("wire type {0} does not fit the type of the field")]
    WireType(u8),

    /// Messages are nested too deeply.
    #[error("messages are nested too deeply")]
    TooDeep,

    /// Embedded JSON does not parse.
    #[error("invalid JSON: {0}")]
    Json(String),

    /// An embedded object cannot be decoded.
    #[error("embedded object: {0}")]
    Embedded(String),

    /// A number has no JSON form, or a time is outside the years that can be written.
    #[error("a value is out of range")]
    Range,
}
