use kube::core::{ApiResource, DynamicObject, TypeMeta};
use serde::Serialize;

use super::{
    Client, DeleteOptions, ListOptions, Patch, Result, Target,
    transport::decode,
    write::{key_of, to_value},
};
use crate::Request;

/// Reads and writes objects of a kind known only at run time. Made by [`Client::dynamic`].
#[derive(Clone, Debug)]
pub struct DynamicClient {
    client: Client,
    target: Target,
}

// === impl DynamicClient ===

impl DynamicClient {
    pub(super) fn new(client: Client, resource: &ApiResource) -> Self {
        Self { client, target: Target::dynamic(resource) }
    }

    /// The object, or `None` if there is none of that name.
    ///
    /// # Errors
    ///
    /// Any failure but a missing object.
    pub async fn get(&self, key: impl Into<Request>) -> Result<Option<DynamicObject>> {
        let key = key.into();
        let body = self.client.read(&self.target, &key).await?;
        body.map(|body| decode(&self.target.on("get", &key), &body)).transpose()
    }

    /// The objects that `options` select.
    ///
    /// # Errors
    ///
    /// Any failure.
    pub async fn list(&self, options: ListOptions) -> Result<Vec<DynamicObject>> {
        let mut objects: Vec<DynamicObject> = self.client.read_all(&self.target, &options).await?;
        // The items of a list do not repeat their type.
        for object in &mut objects {
            object.types.get_or_insert_with(|| TypeMeta {
                api_version: self.target.api_version(),
                kind: self.target.kind.to_string(),
            });
        }
        Ok(objects)
    }

    /// Creates the object. See [`Client::create`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn create(&self, object: &DynamicObject) -> Result<DynamicObject> {
        let operation = self.target.on("create", &Request::of(object));
        let value = to_value(&self.target, &operation, object)?;
        decode(&operation, &self.client.write_new(&self.target, &object.metadata, value).await?)
    }

    /// Replaces the object. See [`Client::update`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn update(&self, object: &DynamicObject) -> Result<DynamicObject> {
        let key = Request::of(object);
        let operation = self.target.on("update", &key);
        let value = to_value(&self.target, &operation, object)?;
        decode(&operation, &self.client.write_whole(&self.target, None, &key, &value).await?)
    }

    /// Changes the object. See [`Client::patch`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn patch(&self, key: impl Into<Request>, patch: Patch) -> Result<DynamicObject> {
        let key = key.into();
        let body = self.client.write_patch(&self.target, None, &key, &patch).await?;
        decode(&self.target.on("patch", &key), &body)
    }

    /// Changes the status. See [`StatusClient::patch`](super::StatusClient::patch).
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn patch_status(&self, key: impl Into<Request>, patch: Patch) -> Result<DynamicObject> {
        let key = key.into();
        let body = self.client.write_patch(&self.target, Some("status"), &key, &patch).await?;
        decode(&self.target.on("patch", &key), &body)
    }

    /// Server-side apply. See [`Client::apply_value`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn apply(&self, object: &impl Serialize) -> Result<DynamicObject> {
        let value = to_value(&self.target, &self.target.on_all("patch", None), object)?;
        let operation = self.target.on("patch", &key_of(&value));
        decode(&operation, &self.client.write_apply(&self.target, None, value).await?)
    }

    /// Deletes the object; `false` means that there was none. See [`Client::delete`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn delete(&self, key: impl Into<Request>, options: DeleteOptions) -> Result<bool> {
        self.client.remove(&self.target, &key.into(), &options).await
    }

    /// Deletes all objects that `selection` selects. See [`Client::delete_all_of`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn delete_all_of(&self, selection: ListOptions, options: DeleteOptions) -> Result<()> {
        self.client.remove_all(&self.target, &selection, &options).await
    }
}
