use std::{fmt::Write, pin::pin, time::Duration};

use bytes::Bytes;
use futures::FutureExt;
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use kubewright_schema::error::go;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::{
    media,
    options::FieldValidation,
    protobuf::{self, ProtobufError},
    yaml,
};
use crate::{
    admission::KindName,
    registry::{Served, Warnings},
    status::Status,
    types::{
        Type,
        strict::{self, DecodeError, Decoded},
    },
};

/// The largest body that is read, in bytes.
pub(crate) const BODY_LIMIT: usize = 3 * 1024 * 1024;

/// How long a client may take to send a body, as long as kube-apiserver lets a request take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads a body. What is not there at once is waited for with a permit of `uploads`, which limits what unfinished bodies
/// take in memory.
///
/// # Errors
/// 413 if it is too large, 400 if the client stops sending it, 504 if that takes a minute.
pub(crate) async fn read<B>(body: B, uploads: &Semaphore) -> Result<Bytes, Status>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut reading = pin!(Limited::new(body, BODY_LIMIT).collect());
    // What is there at once needs no timer.
    let read = match reading.as_mut().now_or_never() {
        Some(read) => read,
        None => {
            let permitted = async {
                // It is never closed.
                let _permit = uploads.acquire().await;
                reading.await
            };
            tokio::time::timeout(PATIENCE, permitted).await.map_err(|_| {
                Status::timeout(
                    "request did not complete within requested timeout - context deadline exceeded",
                )
            })?
        }
    };
    match read {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Status::too_large(BODY_LIMIT)),
        Err(error) => Err(Status::bad_request(error.to_string())),
    }
}

/// Parses a body that is no object of the resource: options, or the object of a subresource. It is read along its Go
/// type, if that is given.
///
/// # Errors
/// 415 for a media type that is not read, 400 for a body that cannot be.
pub(crate) fn document(body: &[u8], content_type: &str, ty: Option<&Type>) -> Result<Value, Status> {
    match parse(body, content_type, ty)? {
        Ok(decoded) => Ok(decoded.value),
        Err(error) => Err(Status::bad_request(unreadable(content_type, &error))),
    }
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
    if content_type == media::PROTOBUF && served.custom.is_some() {
        return Err(Status::unsupported_media_type(&[media::JSON, media::YAML]));
    }
    let kind = served.definition.kind.as_str();
    let unrecognized = |why: &str| {
        let start = excerpt(body);
        Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {why} ({start})"
        ))
    };
    let decoded = match parse(body, content_type, served.go_type())? {
        Ok(decoded) => decoded,
        Err(DecodeError::Type(why)) => {
            // The body may be of another kind, for which its fields are right.
            if let Ok(Ok(mut decoded)) = parse(body, content_type, None) {
                check_object(served, &decoded.value).map_err(|why| unrecognized(&why))?;
                identify(served, &mut decoded.value)?;
            }
            return Err(unfit(served, kind, &served.definition.version, &why));
        }
        Err(error) => return Err(unrecognized(&unreadable(content_type, &error))),
    };
    let Decoded { mut value, strict_errors: mut faults } = decoded;
    check_object(served, &value).map_err(|why| unrecognized(&why))?;
    if served.custom.is_some() && text(&value, "kind").is_empty() {
        let whole = String::from_utf8_lossy(body);
        return Err(unrecognized(&format!("Object 'Kind' is missing in '{whole}'")));
    }
    let unknown = fields_of_other_version(served, &value);
    match validation {
        FieldValidation::Strict if !unknown.is_empty() => {
            let (kind, api_version) = (text(&value, "kind"), text(&value, "apiVersion"));
            let version = api_version.rsplit('/').next().unwrap_or_default();
            return Err(unfit(
                served,
                &kind,
                version,
                &format!("strict decoding error: {}", unknown.join(", ")),
            ));
        }
        FieldValidation::Warn => warnings.extend(unknown),
        FieldValidation::Strict | FieldValidation::Ignore => {}
    }
    identify(served, &mut value)?;
    let refuse = |why: String| unfit(served, kind, &served.definition.version, &why);
    faults.extend(served.coerce_metadata(&mut value).map_err(refuse)?);
    faults.extend(served.coerce(&mut value, false));
    faults.extend(served.coerce_embedded(&mut value).map_err(refuse)?);
    if content_type == media::YAML {
        faults.extend(yaml::duplicate_key(body));
    }
    match validation {
        FieldValidation::Strict if !faults.is_empty() => {
            let why = format!("strict decoding error: {}", faults.join(", "));
            return Err(unfit(served, kind, &served.definition.version, &why));
        }
        FieldValidation::Warn => warnings.extend(faults),
        FieldValidation::Strict | FieldValidation::Ignore => {}
    }
    Ok(value)
}

/// Refuses what is no object at all. Go takes null for an empty struct.
fn check_object(served: &Served, value: &Value) -> Result<(), String> {
    if let Value::Object(fields) = value {
        for name in ["kind", "apiVersion"] {
            if let Some(other) = fields.get(name).filter(|value| !value.is_string() && !value.is_null()) {
                return Err(format!(
                    "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go struct field \
                     .{name} of type string",
                    go::kind(other)
                ));
            }
        }
        let api_version = text(value, "apiVersion");
        if api_version.matches('/').count() > 1 {
            return Err(format!("unexpected GroupVersion string: {api_version}"));
        }
        return Ok(());
    }
    if value.is_null() && served.custom.is_none() {
        return Ok(());
    }
    Err(format!(
        "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type \
         struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
         \"json:\\\"kind,omitempty\\\"\" }}",
        go::kind(value)
    ))
}

/// Why an object of a built-in kind cannot be one of this resource, judging by its `kind` and `apiVersion`; `None`
/// if it can.
pub(crate) fn kind_problem(own: KindName<'_>, kind: &str, api_version: &str) -> Option<String> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    if (group, version, kind) == (own.group, own.version, own.kind) {
        return None;
    }
    if crate::types::Types::get().kind(group, version, kind).is_none() {
        return Some(no_such_kind(kind, api_version));
    }
    let internal = match own.group.split('.').next() {
        None | Some("") => "core",
        Some(group) => group,
    };
    let expected = own.kind;
    (group != own.group || kind != expected)
        .then(|| format!("converting ({version}.{kind}) to ({internal}.{expected}): unknown conversion"))
}

/// Checks that a body is of the resource's kind and version, and completes what a built-in kind may leave out.
fn identify(served: &Served, value: &mut Value) -> Result<(), Status> {
    let definition = &served.definition;
    let own = definition.api_version();
    if value.is_null() {
        *value = Value::Object(serde_json::Map::new());
    }
    let (mut kind, mut api_version) = (text(value, "kind"), text(value, "apiVersion"));
    if served.custom.is_none() {
        if kind.is_empty() {
            kind.clone_from(&definition.kind);
        }
        if api_version.is_empty() {
            api_version.clone_from(&own);
        }
        if let Some(why) = kind_problem(served.kind_name(""), &kind, &api_version) {
            let version = api_version.rsplit('/').next().unwrap_or_default();
            return Err(unfit(served, &kind, version, &why));
        }
    }
    if api_version != own && !is_old_eviction(served, &api_version) {
        return Err(Status::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({own})"
        )));
    }
    if let Value::Object(object) = value {
        object.insert("kind".to_owned(), Value::from(kind));
        object.insert("apiVersion".to_owned(), Value::from(own));
    }
    Ok(())
}

/// Texts about the fields of a custom resource in a version that it does not have: no field of it is known.
pub(crate) fn fields_of_other_version(served: &Served, value: &Value) -> Vec<String> {
    let definition = &served.definition;
    let (kind, api_version) = (text(value, "kind"), text(value, "apiVersion"));
    let (group, _) = api_version.split_once('/').unwrap_or_default();
    let Some(custom) = &served.custom else { return Vec::new() };
    let has_version = custom.field_versions.api_versions().any(|own| own == api_version);
    if group != definition.group || kind != definition.kind || has_version {
        return Vec::new();
    }
    let mut unknown: Vec<&str> =
        value.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    unknown.retain(|name| !matches!(*name, "apiVersion" | "kind" | "metadata"));
    unknown.sort_unstable();
    unknown.into_iter().map(|name| format!("unknown field {name:?}")).collect()
}

/// Evictions are also taken in their former version, which is served nowhere else.
fn is_old_eviction(served: &Served, api_version: &str) -> bool {
    let definition = &served.definition;
    definition.group == "policy" && definition.kind == "Eviction" && api_version == "policy/v1beta1"
}

/// 400 `Widget in version "v1" cannot be handled as a Widget: why`.
fn unfit(served: &Served, kind: &str, version: &str, why: &str) -> Status {
    let expected = &served.definition.kind;
    Status::bad_request(format!("{kind} in version {version:?} cannot be handled as a {expected}: {why}"))
}

/// The text for a kind that is not built in.
pub(crate) fn no_such_kind(kind: &str, api_version: &str) -> String {
    format!(
        "no kind {kind:?} is registered for version {api_version:?} in scheme \"pkg/runtime/scheme.go:111\""
    )
}

/// Parses a body by its media type.
fn parse(body: &[u8], content_type: &str, ty: Option<&Type>) -> Result<Result<Decoded, DecodeError>, Status> {
    let value = match content_type {
        media::JSON => return Ok(strict::decode(body, ty)),
        media::YAML => yaml::parse(body).map_err(DecodeError::Syntax),
        media::PROTOBUF => protobuf::decode(body).map_err(|error| {
            DecodeError::Syntax(match error {
                ProtobufError::NoPrefix => {
                    "provided data does not appear to be a protobuf message, expected prefix \
                                            [107 56 115 0]"
                        .to_owned()
                }
                ProtobufError::Envelope(_) => "unexpected EOF".to_owned(),
                other => other.to_string(),
            })
        }),
        _ => {
            return Err(Status::unsupported_media_type(&[media::JSON, media::YAML, media::PROTOBUF]));
        }
    };
    Ok(value.and_then(|value| strict::decode(value.to_string().as_bytes(), ty)))
}

/// The text for a body that cannot be parsed.
fn unreadable(content_type: &str, error: &DecodeError) -> String {
    match error {
        DecodeError::Syntax(why) if content_type == media::JSON => {
            format!("couldn't get version/kind; json parse error: {why}")
        }
        other => other.to_string(),
    }
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The beginning of a body, as Kubernetes quotes what it cannot read: as text if it looks like JSON, else in hex.
fn excerpt(body: &[u8]) -> String {
    const LENGTH: usize = 30;
    if body.is_empty() {
        return "<empty>".to_owned();
    }
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

#[cfg(test)]
mod tests {
    use futures::{StreamExt, stream};
    use http_body::Frame;
    use http_body_util::Full;
    use http_body_util::StreamBody;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_end_is_not_waited_for() {
        let start: Result<_, std::io::Error> = Ok(Frame::data(Bytes::from_static(b"{")));
        let endless = StreamBody::new(stream::iter([start]).chain(stream::pending()));
        let refused = read(endless, &Semaphore::new(1)).await.expect_err("no body");
        assert_eq!(
            (refused.code, refused.message.as_str()),
            (504, "Timeout: request did not complete within requested timeout - context deadline exceeded")
        );
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_bodies_are_waited_for_at_once() {
        let uploads = Semaphore::new(1);
        let permit = uploads.acquire().await.expect("it is open");
        let whole = Full::new(Bytes::from_static(b"{}"));
        assert_eq!(read(whole, &uploads).await.expect("a body"), "{}", "it is there at once");
        let (sender, pieces) = tokio::sync::mpsc::unbounded_channel();
        let late = StreamBody::new(stream::unfold(pieces, async |mut pieces| {
            let piece: Bytes = pieces.recv().await?;
            Some((Ok::<_, std::io::Error>(Frame::data(piece)), pieces))
        }));
        let mut reading = pin!(read(Box::pin(late), &uploads));
        assert!(futures::poll!(reading.as_mut()).is_pending());
        sender.send(Bytes::from_static(b"{}")).expect("it is read");
        drop(sender);
        assert!(futures::poll!(reading.as_mut()).is_pending(), "another one is read");
        drop(permit);
        assert_eq!(reading.await.expect("a body"), "{}");
    }
}
