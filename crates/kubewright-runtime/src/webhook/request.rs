use k8s_openapi::api::authentication::v1::UserInfo;
use kube::core::{GroupVersionKind, GroupVersionResource};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{Error, Result};

/// What the API server asks an admission webhook: a write of an object, with who makes it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AdmissionRequest {
    /// Which question this is. The answer repeats it.
    pub uid: String,
    /// The kind of the object, in the version that the webhook is configured for.
    pub kind: GroupVersionKind,
    /// The resource that is written, in the same version.
    pub resource: GroupVersionResource,
    /// The subresource that is written, as `status` or `scale`; empty for the object itself.
    #[serde(default, deserialize_with = "nullable")]
    pub sub_resource: String,
    /// The kind that the client wrote, if the object was converted for the webhook.
    #[serde(default)]
    pub request_kind: Option<GroupVersionKind>,
    /// The resource that the client wrote to, if the object was converted for the webhook.
    #[serde(default)]
    pub request_resource: Option<GroupVersionResource>,
    /// The name of the object; empty where the API server is yet to make one of `generateName`.
    #[serde(default, deserialize_with = "nullable")]
    pub name: String,
    /// The namespace of the object, if its kind has namespaces.
    #[serde(default)]
    pub namespace: Option<String>,
    /// What is done to the object.
    pub operation: Operation,
    /// Who does it.
    #[serde(default)]
    pub user_info: UserInfo,
    /// The object as it is to become. None for a deletion.
    #[serde(default)]
    pub object: Option<Value>,
    /// The object as it is. None for a creation.
    #[serde(default)]
    pub old_object: Option<Value>,
    /// Whether nothing is to be stored: a webhook with side effects leaves them out.
    #[serde(default, deserialize_with = "nullable")]
    pub dry_run: bool,
    /// The options of the request, as `CreateOptions`.
    #[serde(default)]
    pub options: Option<Value>,
}

/// What is done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum Operation {
    /// It is created.
    Create,
    /// It is changed.
    Update,
    /// It is deleted.
    Delete,
    /// A connection to it is opened, as by `kubectl exec`.
    Connect,
}

// === impl AdmissionRequest ===

impl AdmissionRequest {
    /// The object as it is to become.
    ///
    /// # Errors
    ///
    /// If there is none, or it does not fit the type: the message names the field.
    pub fn object_as<K: serde::de::DeserializeOwned>(&self) -> Result<K> {
        decode(self.object.as_ref(), "object")
    }

    /// The object as it is.
    ///
    /// # Errors
    ///
    /// As of [`object_as`](Self::object_as).
    pub fn old_object_as<K: serde::de::DeserializeOwned>(&self) -> Result<K> {
        decode(self.old_object.as_ref(), "oldObject")
    }
}

fn decode<K: serde::de::DeserializeOwned>(object: Option<&Value>, field: &str) -> Result<K> {
    let Some(object) = object.filter(|object| !object.is_null()) else {
        return Err(Error::other(format!("there is no content to decode: the request has no {field}")));
    };
    serde_path_to_error::deserialize(object)
        .map_err(|error| Error::other(format!("the {field} does not fit its Rust type: {error}")))
}

/// Go writes `null` for what is not there.
fn nullable<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(value: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or_default())
}
