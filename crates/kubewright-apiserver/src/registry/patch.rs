use serde_json::Value;

use super::Served;
use crate::{status::Cause, status::GroupKind, status::Status};

/// A patch of one of the kinds that say what to change.
#[derive(Clone, Debug)]
pub(crate) enum Patch {
    /// RFC 6902.
    Json(json_patch::Patch),
    /// RFC 7396.
    Merge(Value),
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
        match content_type {
            JSON_PATCH => {
                let patch: json_patch::Patch = serde_json::from_slice(body)
                    .map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))?;
                if patch.0.len() > JSON_PATCH_LIMIT {
                    return Err(Status::new(
                        413,
                        crate::status::Reason::RequestEntityTooLarge,
                        format!(
                            "The allowed maximum operations in a JSON patch is {JSON_PATCH_LIMIT}, got {}",
                            patch.0.len()
                        ),
                    ));
                }
                Ok(Self::Json(patch))
            }
            MERGE_PATCH => serde_json::from_slice(body)
                .map(Self::Merge)
                .map_err(|error| Status::bad_request(format!("error decoding patch: {error}"))),
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

    /// The object as the patch makes it.
    ///
    /// # Errors
    /// 422 if the patch does not apply.
    pub(crate) fn apply(&self, served: &Served, old: &Value) -> Result<Value, Status> {
        let mut new = old.clone();
        match self {
            Self::Json(patch) => {
                json_patch::patch(&mut new, patch).map_err(|_| Status::unprocessable())?;
            }
            Self::Merge(patch) => json_patch::merge(&mut new, patch),
        }
        let is_same_kind =
            new.get("kind") == old.get("kind") && new.get("apiVersion") == old.get("apiVersion");
        if !new.is_object() || !is_same_kind {
            if served.custom.is_some() && new.is_object() {
                let expected = &served.definition.kind;
                let kind = new.get("kind").cloned().unwrap_or_default();
                let cause = Cause::invalid("kind", &kind, &format!("must be {expected}"));
                let name = super::metadata::name(old);
                return Err(Status::invalid(&served.definition.group_kind(), name, vec![cause]));
            }
            let cause = Cause::invalid(
                "patch",
                &Value::from(new.to_string()),
                "the patch changes the kind of the object",
            );
            return Err(Status::invalid(&GroupKind::default(), "", vec![cause]));
        }
        Ok(new)
    }
}
