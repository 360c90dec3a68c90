use bytes::Bytes;
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;

use super::{json, json::Document, media, options::FieldValidation, protobuf};
use crate::{
    registry::{Served, Warnings},
    status::Status,
};

/// The largest body that is read, in bytes.
pub(crate) const BODY_LIMIT: usize = 3 * 1024 * 1024;

/// Reads a body.
///
/// # Errors
/// 413 if it is too large, 400 if the client stops sending it.
pub(crate) async fn read<B>(body: B) -> Result<Bytes, Status>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    match Limited::new(body, BODY_LIMIT).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Status::too_large(BODY_LIMIT)),
        Err(error) => Err(Status::bad_request(error.to_string())),
    }
}

/// Parses a body by its media type.
///
/// # Errors
/// 415 for a media type that is not read, and the parser's message for a body that it cannot read.
pub(crate) fn document(body: &[u8], content_type: &str) -> Result<Result<Document, String>, Status> {
    match content_type {
        media::JSON => Ok(json::parse(body).map_err(|error| error.to_string())),
        media::YAML => Ok(yaml(body)),
        media::PROTOBUF => Ok(protobuf::decode(body)
            .map(|value| Document { value, duplicates: Vec::new() })
            .map_err(|error| error.to_string())),
        _ => Err(Status::unsupported_media_type(&[media::JSON, media::YAML, media::PROTOBUF])),
    }
}

/// Reads YAML, which JSON is as well.
pub(crate) fn yaml(body: &[u8]) -> Result<Document, String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    serde_saphyr::from_str(text).map_err(|error| error.to_string())
}

/// Reads an object of the resource's kind from the body of a write. What the client should know of goes to
/// `warnings`.
///
/// # Errors
/// 400 for what is no such object, 415 for a media type that is not read.
pub(crate) fn object(
    served: &Served,
    body: &[u8],
    content_type: &str,
    validation: FieldValidation,
    warnings: &Warnings,
) -> Result<Value, Status> {
    let definition = &served.definition;
    if content_type == media::PROTOBUF && served.custom.is_some() {
        return Err(Status::unsupported_media_type(&[media::JSON, media::YAML]));
    }
    let document = document(body, content_type)?.map_err(|error| {
        Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): couldn't get version/kind; \
             json parse error: {error} ({})",
            definition.kind,
            excerpt(body)
        ))
    })?;
    let faults = document.faults();
    let mut value = document.value;
    identify(served, &mut value)?;
    served.coerce(&mut value, faults, false, validation, warnings)?;
    Ok(value)
}

/// Checks that a body is of the resource's kind and version, and completes what a built-in kind may leave out.
fn identify(served: &Served, value: &mut Value) -> Result<(), Status> {
    let definition = &served.definition;
    let api_version = definition.api_version();
    let is_custom = served.custom.is_some();
    if value.is_null() && !is_custom {
        *value = Value::Object(serde_json::Map::new());
    }
    let text = value.to_string();
    let Some(object) = value.as_object_mut() else {
        return Err(Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): couldn't get version/kind; \
             json parse error: json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \
             \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }} ({})",
            definition.kind,
            go_kind(value),
            excerpt(text.as_bytes()),
        )));
    };
    let own = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let (kind, version) = (own("kind").to_owned(), own("apiVersion").to_owned());
    if kind.is_empty() && is_custom {
        return Err(Status::bad_request(format!("Object 'Kind' is missing in '{text}'")));
    }
    if !version.is_empty() && version != api_version {
        return Err(Status::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({api_version})"
        )));
    }
    if !kind.is_empty() && kind != definition.kind {
        return Err(Status::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {expected}: converting ({short}.{kind}) to \
             ({short}.{expected}): unknown conversion",
            version = definition.version,
            short = definition.version,
            expected = definition.kind,
        )));
    }
    object.insert("kind".to_owned(), Value::from(definition.kind.as_str()));
    object.insert("apiVersion".to_owned(), Value::from(api_version));
    Ok(())
}

/// The name that Go's JSON reader has for a value.
fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The beginning of a body, as Kubernetes quotes what it cannot read: as text if it looks like JSON, else in hex.
fn excerpt(body: &[u8]) -> String {
    const LENGTH: usize = 30;
    let start = body.get(..LENGTH.min(body.len())).unwrap_or_default();
    let more = if body.len() > LENGTH { " ..." } else { "" };
    if start.first() == Some(&b'{') {
        format!("{}{more}", String::from_utf8_lossy(start))
    } else {
        let hex: String = start.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{hex}{more}")
    }
}
