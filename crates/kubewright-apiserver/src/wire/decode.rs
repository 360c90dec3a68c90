use std::fmt::Write;

use bytes::Bytes;
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;

use super::{media, options::FieldValidation, protobuf};
use crate::{
    registry::{Served, Warnings},
    status::Status,
    types::{
        Type,
        strict::{self, DecodeError, Decoded},
    },
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

/// Parses a body that is no object of the resource: options, or the object of a subresource.
///
/// # Errors
/// 415 for a media type that is not read, 400 for a body that cannot be.
pub(crate) fn document(body: &[u8], content_type: &str) -> Result<Value, Status> {
    match parse(body, content_type, None)? {
        Ok(decoded) => Ok(decoded.value),
        Err(error) => Err(Status::bad_request(error.to_string())),
    }
}

/// Reads YAML, which JSON is as well.
///
/// # Errors
/// With the parser's message.
pub(crate) fn yaml(body: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    serde_saphyr::from_str(text).map_err(|error| error.to_string())
}

/// Reads an object of the resource's kind from the body of a write, prepared to be checked. What the client should
/// know of goes to `warnings`.
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
    let kind = definition.kind.as_str();
    if content_type == media::PROTOBUF && served.custom.is_some() {
        return Err(Status::unsupported_media_type(&[media::JSON, media::YAML]));
    }
    let Decoded { mut value, strict_errors } = match parse(body, content_type, served.go_type())? {
        Ok(decoded) => decoded,
        Err(DecodeError::Type(why)) => {
            // The body may be of another kind, for which its fields are right.
            if let Ok(Ok(mut decoded)) = parse(body, content_type, None) {
                identify(served, &mut decoded.value)?;
            }
            return Err(unfit(served, &why));
        }
        Err(error) => {
            return Err(Status::bad_request(format!(
                "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; \
                 json parse error: {error} ({})",
                excerpt(body)
            )));
        }
    };
    identify(served, &mut value)?;
    let mut faults = strict_errors;
    faults.extend(served.coerce(&mut value, false));
    match validation {
        FieldValidation::Strict if !faults.is_empty() => {
            return Err(unfit(served, &format!("strict decoding error: {}", faults.join(", "))));
        }
        FieldValidation::Warn => warnings.extend(faults),
        FieldValidation::Strict | FieldValidation::Ignore => {}
    }
    Ok(value)
}

/// 400 `Widget in version "v1" cannot be handled as a Widget: why`.
fn unfit(served: &Served, why: &str) -> Status {
    let definition = &served.definition;
    Status::bad_request(format!(
        "{kind} in version {version:?} cannot be handled as a {kind}: {why}",
        kind = definition.kind,
        version = definition.version,
    ))
}

/// Parses a body by its media type.
fn parse(body: &[u8], content_type: &str, ty: Option<&Type>) -> Result<Result<Decoded, DecodeError>, Status> {
    let value = match content_type {
        media::JSON => return Ok(strict::decode(body, ty)),
        media::YAML => yaml(body).map_err(DecodeError::Syntax),
        media::PROTOBUF => protobuf::decode(body).map_err(|error| DecodeError::Syntax(error.to_string())),
        _ => {
            return Err(Status::unsupported_media_type(&[media::JSON, media::YAML, media::PROTOBUF]));
        }
    };
    Ok(value.and_then(|value| strict::decode(value.to_string().as_bytes(), ty)))
}

/// Checks that a body is of the resource's kind and version, and completes what a built-in kind may leave out.
fn identify(served: &Served, value: &mut Value) -> Result<(), Status> {
    let definition = &served.definition;
    let api_version = definition.api_version();
    let is_custom = served.custom.is_some();
    if value.is_null() && !is_custom {
        *value = Value::Object(serde_json::Map::new());
    }
    let text =
        |value: &Value, field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    if !value.is_object() {
        return Err(Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): couldn't get version/kind; \
             json parse error: json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \
             \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }} ({})",
            definition.kind,
            go_kind(value),
            excerpt(value.to_string().as_bytes()),
        )));
    }
    let (kind, version) = (text(value, "kind"), text(value, "apiVersion"));
    if kind.is_empty() && is_custom {
        return Err(Status::bad_request(format!("Object 'Kind' is missing in '{value}'")));
    }
    if !version.is_empty() && version != api_version {
        return Err(Status::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({api_version})"
        )));
    }
    if !kind.is_empty() && kind != definition.kind && !is_custom {
        return Err(Status::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {expected}: converting ({short}.{kind}) to \
             ({group}.{expected}): unknown conversion",
            version = definition.version,
            short = definition.version,
            group = match definition.group.split('.').next() {
                None | Some("") => "core",
                Some(group) => group,
            },
            expected = definition.kind,
        )));
    }
    if let Value::Object(object) = value {
        object.entry("kind").or_insert_with(|| Value::from(definition.kind.as_str()));
        object.insert("apiVersion".to_owned(), Value::from(api_version));
        if kind.is_empty() {
            object.insert("kind".to_owned(), Value::from(definition.kind.as_str()));
        }
    }
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
        return format!("{}{more}", String::from_utf8_lossy(start));
    }
    let mut hex = String::new();
    for byte in start {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex + more
}
