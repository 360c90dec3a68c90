use http::Method;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Client, Kind, Patch, Result, Target,
    transport::{Call, JSON, decode, encode},
    write::{key_of, locate, only, to_value},
};
use crate::Request;

/// Reads and writes the `status` of objects. Made by [`Client::status`].
#[derive(Clone, Debug)]
pub struct StatusClient {
    client: Client,
}

/// Reads and writes a subresource. Made by [`Client::subresource`].
///
/// The second type parameter of its methods is the subresource's own type, as `autoscaling/v1` `Scale`.
#[derive(Clone, Debug)]
pub struct SubresourceClient {
    client: Client,
    name: &'static str,
}

const STATUS: Option<&str> = Some("status");

// === impl StatusClient ===

impl StatusClient {
    pub(super) fn new(client: Client) -> Self {
        Self { client }
    }

    /// Replaces the status with that of `object`, whose `metadata.resourceVersion` must be that of the
    /// server. The rest of the object is not written.
    ///
    /// # Errors
    ///
    /// A conflict if the object changed since it was read.
    pub async fn update<K: Kind>(&self, object: &K) -> Result<K> {
        let target = Target::of::<K>();
        let key = Request::of(object);
        let (operation, _) = locate(&target, "update", &key, STATUS)?;
        let object = to_value(&target, &operation, object)?;
        decode(&operation, &self.client.write_whole(&target, STATUS, &key, &object).await?)
    }

    /// Changes the status. The patch is one of the whole object: `{"status": {..}}`.
    ///
    /// # Errors
    ///
    /// As [`Client::patch`].
    pub async fn patch<K: Kind>(&self, key: impl Into<Request>, patch: Patch) -> Result<K> {
        let target = Target::of::<K>();
        let key = key.into();
        let (operation, _) = locate(&target, "patch", &key, STATUS)?;
        decode(&operation, &self.client.write_patch(&target, STATUS, &key, &patch).await?)
    }

    /// Server-side apply of the status of `object`. Only its name and its status are sent, so the object
    /// may be one that was read.
    ///
    /// # Errors
    ///
    /// As [`Client::apply`], and if the object does not exist: an apply to a subresource creates nothing.
    pub async fn apply<K: Kind>(&self, object: &K) -> Result<K> {
        self.apply_value(object).await
    }

    /// As [`apply`](Self::apply), with the object as any value that serializes to one.
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply).
    pub async fn apply_value<K: Kind>(&self, object: &impl Serialize) -> Result<K> {
        let target = Target::of::<K>();
        let object = to_value(&target, &target.on_all("patch", None), object)?;
        let (operation, _) = locate(&target, "patch", &key_of(&object), STATUS)?;
        let body = self.client.write_apply(&target, STATUS, only(&object, &["status"])).await?;
        decode(&operation, &body)
    }
}

// === impl SubresourceClient ===

impl SubresourceClient {
    pub(super) fn new(client: Client, name: &'static str) -> Self {
        Self { client, name }
    }

    /// The subresource, or `None` if the object does not exist or has none.
    ///
    /// # Errors
    ///
    /// Any failure but a missing object.
    pub async fn get<K: Kind, T: DeserializeOwned>(&self, key: impl Into<Request>) -> Result<Option<T>> {
        let (operation, path) = locate(&Target::of::<K>(), "get", &key.into(), Some(self.name))?;
        match self.client.send(Call::new(operation.clone(), Method::GET, path)).await {
            Ok(body) => decode(&operation, &body).map(Some),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Posts to the subresource, as to `eviction` or `token`, and returns the answer.
    ///
    /// # Errors
    ///
    /// Any failure.
    pub async fn create<K: Kind, R: DeserializeOwned>(
        &self,
        key: impl Into<Request>,
        body: &impl Serialize,
    ) -> Result<R> {
        let (target, key) = (Target::of::<K>(), key.into());
        let (operation, path) = locate(&target, "create", &key, Some(self.name))?;
        let body = encode(&operation, body)?;
        let call = Call::new(operation.clone(), Method::POST, path).body(JSON, body);
        let call = self.client.settings().on_write(call);
        decode(&operation, &self.client.write(&target, Some(&key), call).await?)
    }

    /// Replaces the subresource.
    ///
    /// # Errors
    ///
    /// Any failure.
    pub async fn update<K: Kind, T: Serialize + DeserializeOwned>(
        &self,
        key: impl Into<Request>,
        body: &T,
    ) -> Result<T> {
        let (target, key) = (Target::of::<K>(), key.into());
        let (operation, path) = locate(&target, "update", &key, Some(self.name))?;
        let body = encode(&operation, body)?;
        let call = Call::new(operation.clone(), Method::PUT, path).body(JSON, body);
        let call = self.client.settings().on_write(call);
        decode(&operation, &self.client.write(&target, Some(&key), call).await?)
    }

    /// Changes the subresource.
    ///
    /// # Errors
    ///
    /// Any failure.
    pub async fn patch<K: Kind, T: DeserializeOwned>(
        &self,
        key: impl Into<Request>,
        patch: Patch,
    ) -> Result<T> {
        let target = Target::of::<K>();
        let key = key.into();
        let (operation, _) = locate(&target, "patch", &key, Some(self.name))?;
        decode(&operation, &self.client.write_patch(&target, Some(self.name), &key, &patch).await?)
    }
}
