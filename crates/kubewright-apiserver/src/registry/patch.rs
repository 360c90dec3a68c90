use bytes::Bytes;
use jiff::Timestamp;
use kubewright_schema::error::go;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Request, metadata};
use crate::{
    apply::field_manager::GroupVersionKind,
    patch::{PatchError, Patched, json_patch, merge_patch, strategic_merge_patch},
    status::{Details, Reason, Status},
    wire::{
        decode,
        options::{FieldValidation, WriteOptions},
        yaml,
    },
};

/// What a PATCH says to do.
#[derive(Clone, Debug)]
pub(crate) enum Patch {
    /// RFC 6902.
    Json(Bytes),
    /// RFC 7396.
    Merge(Bytes),
    /// A merge patch that knows the keys of lists.
    Strategic(Bytes),
    /// Server-side apply of a configuration, with the text it was read from.
    Apply { config: Value, text: Bytes },
}

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

impl Patch {
    /// Reads a patch.
    ///
    /// # Errors
    /// 415 for a kind of patch that the resource does not take, 400 for a configuration that cannot be read.
    pub(crate) fn parse(content_type: &str, body: &Bytes, is_custom: bool) -> Result<Self, Status> {
        let is_json = || serde_json::from_slice::<IgnoredAny>(body).is_ok();
        match content_type {
            JSON_PATCH | MERGE_PATCH if !is_json() => Err(Status::bad_request("invalid JSON patch")),
            JSON_PATCH => Ok(Self::Json(body.clone())),
            MERGE_PATCH => Ok(Self::Merge(body.clone())),
            STRATEGIC_PATCH if !is_custom => Ok(Self::Strategic(body.clone())),
            APPLY_PATCH => {
                let config = yaml::parse(body)
                    .map_err(|error| Status::bad_request(format!("error encoding patch: {error}")))?;
                if !config.is_object() && !config.is_null() {
                    return Err(Status::bad_request(format!(
                        "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal \
                         {} into Go value of type map[string]interface {{}}",
                        go::kind(&config)
                    )));
                }
                Ok(Self::Apply { config, text: body.clone() })
            }
            _ if is_custom => Err(Status::unsupported_media_type(&[JSON_PATCH, MERGE_PATCH, APPLY_PATCH])),
            _ => Err(Status::new(415, Reason::UnsupportedMediaType, "415: Unsupported Media Type")
                .with_details(Details::default())),
        }
    }

    /// Whether it is a server-side apply, which creates what is missing and keeps managed fields by itself.
    pub(crate) fn is_apply(&self) -> bool {
        matches!(self, Self::Apply { .. })
    }

    /// The object as the patch makes it of the one that is there, or of nothing.
    ///
    /// # Errors
    /// 400, 413 or 422 if the patch does not apply, 409 if it conflicts with other field managers.
    pub(crate) fn apply(
        &self,
        request: &Request,
        options: &WriteOptions,
        old: Option<&Value>,
        now: Timestamp,
    ) -> Result<Value, Status> {
        let Self::Apply { config, text } = self else {
            let old = old.unwrap_or(&Value::Null);
            return decode_patched(request, options, self.edit(request, old)?);
        };
        let served = &request.served;
        check_applied_uid(request, config, old)?;
        let manager = served.field_manager(&request.subresource);
        let force = options.force.unwrap_or_default();
        let mut new = manager.apply(old, config, &options.field_manager, force, now)?;
        let fault = yaml::duplicate_key(text).map(|fault| format!("error converting YAML to JSON: {fault}"));
        match (fault, options.field_validation) {
            (Some(fault), FieldValidation::Strict) => {
                return Err(Status::bad_request(format!("error strict decoding patch: {fault}")));
            }
            (Some(fault), FieldValidation::Warn) => request.warnings.extend([fault]),
            _ => {}
        }
        served.coerce(&mut new, true);
        Ok(new)
    }

    /// The `Scale` that the patch makes of one. `request` is for the subresource as if it were a resource.
    ///
    /// # Errors
    /// If the patch does not apply, what comes out is no `Scale`, or it is applied to a custom resource.
    pub(crate) fn apply_to_scale(
        &self,
        request: &Request,
        options: &WriteOptions,
        scale: &Value,
        is_custom: bool,
    ) -> Result<Value, Status> {
        if let Self::Apply { config, .. } = self {
            let (sent, kind) = (GroupVersionKind::of(config), request.served.kind_name(""));
            if (sent.group.as_str(), sent.version.as_str(), sent.kind.as_str())
                != (kind.group, kind.version, kind.kind)
            {
                return Err(Status::bad_request(format!("invalid object type: {sent}")));
            }
            if is_custom {
                // A real server does not know how to make a custom resource of it.
                return Err(Status::untyped(format!(
                    "failed to create manager for existing fields: failed to convert live object (/; {sent}) to proper \
                     version: request to convert CR to an invalid group/version: {}",
                    sent.api_version()
                )));
            }
        }
        decode_patched(request, options, self.edit(request, scale)?)
    }

    /// A value as the patch makes it, without regard to what it is.
    ///
    /// # Errors
    /// If the patch does not apply.
    fn edit(&self, request: &Request, old: &Value) -> Result<Patched, PatchError> {
        match self {
            Self::Json(patch) => json_patch(old, patch),
            Self::Merge(patch) => merge_patch(old, patch),
            Self::Strategic(patch) => match request.served.go_type() {
                Some(ty) => strategic_merge_patch(old, patch, ty),
                None => merge_patch(old, patch),
            },
            Self::Apply { config, .. } => merge_patch(old, config.to_string().as_bytes()),
        }
    }
}

/// Reads a patched object as if a client had sent it.
fn decode_patched(request: &Request, options: &WriteOptions, patched: Patched) -> Result<Value, Status> {
    let served = &request.served;
    let text = |field| patched.value.get(field).and_then(Value::as_str).unwrap_or_default();
    let shown = patched.value.to_string();
    let refuse = |reason: String| Status::from(PatchError::Invalid { shown: shown.clone(), reason });
    if served.custom.is_none()
        && let Some(why) = decode::kind_problem(served.kind_name(""), text("kind"), text("apiVersion"))
    {
        return Err(refuse(why));
    }
    let is_strict = options.field_validation == FieldValidation::Strict;
    let decoded = patched.decode(served.go_type(), is_strict)?;
    let (mut new, mut faults) = (decoded.value, decoded.strict_errors);
    faults.extend(decode::fields_of_other_version(served, &new));
    faults.extend(served.coerce_metadata(&mut new).map_err(refuse)?);
    faults.extend(served.coerce(&mut new, false));
    faults.extend(served.coerce_embedded(&mut new).map_err(refuse)?);
    match options.field_validation {
        FieldValidation::Strict if !faults.is_empty() => {
            Err(refuse(format!("strict decoding error: {}", faults.join(", "))))
        }
        FieldValidation::Warn => {
            request.warnings.extend(faults);
            Ok(new)
        }
        FieldValidation::Strict | FieldValidation::Ignore => Ok(new),
    }
}

/// Refuses to apply to a missing object what was meant for a certain one.
fn check_applied_uid(request: &Request, config: &Value, old: Option<&Value>) -> Result<(), Status> {
    let uid = metadata::uid(config);
    if old.is_some() || uid.is_empty() {
        return Ok(());
    }
    let why =
        format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
    Err(Status::conflict(&request.served.group_resource(), &request.name, &why))
}
