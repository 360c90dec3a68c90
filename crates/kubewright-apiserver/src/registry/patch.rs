use bytes::Bytes;
use jiff::Timestamp;
use serde_json::Value;

use super::{Request, metadata};
use crate::{
    patch::{self, PatchError, Patched},
    status::{Cause, Details, GroupKind, Reason, Status},
    types::Type,
    wire::{
        decode,
        options::{FieldValidation, WriteOptions},
    },
};

/// What a PATCH says to do.
#[derive(Clone, Debug)]
pub(crate) enum Patch {
    /// A change of the object, as sent.
    Change(Form, Bytes),
    /// Server-side apply of a configuration.
    Apply(Value),
}

/// The form of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// RFC 6902.
    Json,
    /// RFC 7396.
    Merge,
    /// The merge that knows the types of built-in kinds.
    Strategic,
}

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

impl Patch {
    /// Reads a patch as far as its kind.
    ///
    /// # Errors
    /// 415 for a kind of patch that the resource does not take, 400 for a configuration that cannot be read.
    pub(crate) fn parse(content_type: &str, body: &Bytes, is_custom: bool) -> Result<Self, Status> {
        let unreadable = |error: String| Status::bad_request(format!("error decoding patch: {error}"));
        match content_type {
            JSON_PATCH => Ok(Self::Change(Form::Json, body.clone())),
            MERGE_PATCH => Ok(Self::Change(Form::Merge, body.clone())),
            STRATEGIC_PATCH if !is_custom => Ok(Self::Change(Form::Strategic, body.clone())),
            APPLY_PATCH => decode::yaml(body).map(Self::Apply).map_err(unreadable),
            _ if is_custom => Err(Status::unsupported_media_type(&[JSON_PATCH, MERGE_PATCH, APPLY_PATCH])),
            // The router of a real server refuses here, before anything reads the request.
            _ => Err(Status::new(415, Reason::UnsupportedMediaType, "415: Unsupported Media Type")
                .with_details(Details::default())),
        }
    }

    /// Whether it is a server-side apply, which creates what is missing and keeps managed fields by itself.
    pub(crate) fn is_apply(&self) -> bool {
        matches!(self, Self::Apply(_))
    }

    /// The object as the patch makes it of the one that is there, or of nothing.
    ///
    /// # Errors
    /// With why the patch cannot be read or does not apply; 409 if it conflicts with other field managers.
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
            Self::Change(form, body) => {
                let old = old.unwrap_or(&Value::Null);
                let patched = change(*form, old, body, served.go_type())?;
                check_kind(request, &patched.value, old)?;
                decode_patched(request, options, patched)
            }
        }
    }

    /// A value of another type than that of the resource, as the patch makes it.
    ///
    /// # Errors
    /// With why the patch cannot be read or does not apply.
    pub(crate) fn edit(&self, old: &Value) -> Result<Value, Status> {
        match self {
            Self::Change(form, body) => Ok(change(*form, old, body, None)?.value),
            Self::Apply(config) => {
                let mut new = old.clone();
                json_patch::merge(&mut new, config);
                Ok(new)
            }
        }
    }
}

fn change(form: Form, old: &Value, body: &[u8], ty: Option<&'static Type>) -> Result<Patched, PatchError> {
    match (form, ty) {
        (Form::Json, _) => patch::json_patch(old, body),
        (Form::Strategic, Some(ty)) => patch::strategic_merge_patch(old, body, ty),
        // Without a type there are no lists to merge.
        (Form::Merge | Form::Strategic, _) => patch::merge_patch(old, body),
    }
}

/// Reads a patched object as if a client had sent it.
fn decode_patched(request: &Request, options: &WriteOptions, patched: Patched) -> Result<Value, Status> {
    let served = &request.served;
    let is_strict = options.field_validation == FieldValidation::Strict;
    let text = patched.value.to_string();
    let decoded = patched.decode(served.go_type(), is_strict)?;
    let (mut new, mut faults) = (decoded.value, decoded.strict_errors);
    faults.extend(served.coerce(&mut new, false));
    match options.field_validation {
        FieldValidation::Strict if !faults.is_empty() => {
            let why = format!("strict decoding error: {}", faults.join(", "));
            let cause = Cause::invalid("patch", &Value::from(text), &why);
            Err(Status::invalid(&GroupKind::default(), "", vec![cause]))
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
