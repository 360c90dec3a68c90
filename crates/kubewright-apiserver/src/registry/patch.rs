use jiff::Timestamp;
use serde_json::Value;

use super::{Request, metadata};
use crate::{
    status::{Cause, GroupKind, Reason, Status},
    types::strict,
    wire::{
        decode,
        options::{FieldValidation, WriteOptions},
    },
};

/// What a PATCH says to do.
#[derive(Clone, Debug)]
pub(crate) enum Patch {
    /// RFC 6902.
    Json(json_patch::Patch),
    /// RFC 7396.
    Merge(Value),
    /// Server-side apply of a configuration.
    Apply(Value),
}

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

/// How many operations a JSON patch may have.
const JSON_PATCH_LIMIT: usize = 10_000;

impl Patch {
    /// Reads a patch.
    ///
    /// # Errors
    /// 415 for a kind of patch that the resource does not take, 400 for one that cannot be read.
    pub(crate) fn parse(content_type: &str, body: &[u8], is_custom: bool) -> Result<Self, Status> {
        let unreadable = |error: String| Status::bad_request(format!("error decoding patch: {error}"));
        let json = |body| serde_json::from_slice(body).map_err(|error| unreadable(error.to_string()));
        match content_type {
            JSON_PATCH => {
                let patch: json_patch::Patch =
                    serde_json::from_slice(body).map_err(|error| unreadable(error.to_string()))?;
                let operations = patch.0.len();
                if operations > JSON_PATCH_LIMIT {
                    let message = format!(
                        "The allowed maximum operations in a JSON patch is {JSON_PATCH_LIMIT}, got {operations}"
                    );
                    return Err(Status::new(413, Reason::RequestEntityTooLarge, message));
                }
                Ok(Self::Json(patch))
            }
            MERGE_PATCH => json(body).map(Self::Merge),
            APPLY_PATCH => decode::yaml(body).map(Self::Apply).map_err(unreadable),
            _ => {
                let accepted: &[&str] = if is_custom {
                    &[JSON_PATCH, MERGE_PATCH, APPLY_PATCH]
                } else {
                    &[JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH]
                };
                Err(Status::unsupported_media_type(accepted))
            }
        }
    }

    /// Whether it is a server-side apply, which creates what is missing and keeps managed fields by itself.
    pub(crate) fn is_apply(&self) -> bool {
        matches!(self, Self::Apply(_))
    }

    /// The object as the patch makes it of the one that is there, or of nothing.
    ///
    /// # Errors
    /// 422 if the patch does not apply, 409 if it conflicts with other field managers.
    pub(crate) fn apply(
        &self,
        request: &Request,
        options: &WriteOptions,
        old: Option<&Value>,
        now: Timestamp,
    ) -> Result<Value, Status> {
        let served = &request.served;
        match self {
            Self::Apply(config) => {
                check_applied_uid(request, config, old)?;
                let manager = served.field_manager(&request.subresource);
                let force = options.force.unwrap_or_default();
                let mut new = manager.apply(old, config, &options.field_manager, force, now)?;
                served.coerce(&mut new, true);
                Ok(new)
            }
            Self::Json(_) | Self::Merge(_) => {
                let old = old.unwrap_or(&Value::Null);
                let new = self.edit(old)?;
                check_kind(request, &new, old)?;
                decode_patched(request, options, new)
            }
        }
    }

    /// A value as the patch makes it, without regard to what it is.
    ///
    /// # Errors
    /// 422 if the patch does not apply.
    pub(crate) fn edit(&self, old: &Value) -> Result<Value, Status> {
        let mut new = old.clone();
        match self {
            Self::Json(patch) => json_patch::patch(&mut new, patch).map_err(|_| Status::unprocessable())?,
            Self::Merge(patch) | Self::Apply(patch) => json_patch::merge(&mut new, patch),
        }
        Ok(new)
    }
}

/// Reads a patched object as if a client had sent it.
fn decode_patched(request: &Request, options: &WriteOptions, new: Value) -> Result<Value, Status> {
    let served = &request.served;
    let refuse = |text: &str, why: &str| {
        let cause = Cause::invalid("patch", &Value::from(text), why);
        Status::invalid(&GroupKind::default(), "", vec![cause])
    };
    let text = new.to_string();
    let (mut new, mut faults) = match served.go_type() {
        Some(ty) => {
            let decoded = strict::decode(text.as_bytes(), Some(ty))
                .map_err(|error| refuse(&text, &error.to_string()))?;
            (decoded.value, decoded.strict_errors)
        }
        None => (new, Vec::new()),
    };
    faults.extend(served.coerce(&mut new, false));
    match options.field_validation {
        FieldValidation::Strict if !faults.is_empty() => {
            Err(refuse(&text, &format!("strict decoding error: {}", faults.join(", "))))
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

/// Refuses a patch that makes the object one of another kind.
fn check_kind(request: &Request, new: &Value, old: &Value) -> Result<(), Status> {
    let served = &request.served;
    let is_same = |field| new.get(field) == old.get(field);
    if new.is_object() && is_same("kind") && is_same("apiVersion") {
        return Ok(());
    }
    if served.custom.is_some() && new.is_object() {
        let field = if is_same("kind") { "apiVersion" } else { "kind" };
        let text = |object: &Value| object.get(field).cloned().unwrap_or_default();
        let expected = text(old);
        let detail = format!("must be {}", expected.as_str().unwrap_or_default());
        let cause = Cause::invalid(field, &text(new), &detail);
        return Err(Status::invalid(&served.definition.group_kind(), &request.name, vec![cause]));
    }
    let detail = "the patch changes the kind of the object";
    let cause = Cause::invalid("patch", &Value::from(new.to_string()), detail);
    Err(Status::invalid(&GroupKind::default(), "", vec![cause]))
}
