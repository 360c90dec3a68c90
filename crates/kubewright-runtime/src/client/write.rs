use bytes::Bytes;
use http::Method;
use kube::core::ObjectMeta;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    Client, ClientError, DeleteOptions, Kind, ListOptions, Operation, Patch, Result, Target,
    live::{collection_path, object_path},
    transport::{APPLY_PATCH, Call, JSON, decode},
};
use crate::Request;

// === impl Client ===

impl Client {
    /// Creates the object and returns it as stored, with its uid, version and defaults.
    ///
    /// With `metadata.generateName` instead of a name, the server completes the name.
    ///
    /// # Errors
    ///
    /// [`is_already_exists`](ClientError::is_already_exists) if there is one of that name.
    pub async fn create<K: Kind>(&self, object: &K) -> Result<K> {
        let target = Target::of::<K>();
        let operation = target.on("create", &Request::of(object));
        let body = self.write_new(&target, object.meta(), to_value(&target, &operation, object)?).await?;
        decode(&operation, &body)
    }

    /// Replaces the object with this one, whose `metadata.resourceVersion` must be that of the server.
    ///
    /// The whole object is replaced, so fields that the Rust type does not know are lost. Prefer
    /// [`apply`](Self::apply) or [`patch`](Self::patch) for objects that others write too.
    ///
    /// # Errors
    ///
    /// [`is_conflict`](ClientError::is_conflict) if the object changed since it was read.
    pub async fn update<K: Kind>(&self, object: &K) -> Result<K> {
        let target = Target::of::<K>();
        let key = Request::of(object);
        let operation = target.on("update", &key);
        let object = to_value(&target, &operation, object)?;
        let body = self.write_whole(&target, None, &key, &object).await?;
        decode(&operation, &body)
    }

    /// Changes the object and returns it as stored.
    ///
    /// # Errors
    ///
    /// [`is_not_found`](ClientError::is_not_found) if there is none;
    /// [`is_invalid`](ClientError::is_invalid) if the changed object is not valid, or a `test` of a JSON
    /// patch does not hold.
    pub async fn patch<K: Kind>(&self, key: impl Into<Request>, patch: Patch) -> Result<K> {
        let target = Target::of::<K>();
        let key = key.into();
        let body = self.write_patch(&target, None, &key, &patch).await?;
        decode(&target.on("patch", &key), &body)
    }

    /// Server-side apply: makes the object have the fields given here, creates it if it does not exist, and
    /// leaves all other fields to their owners. A field that was applied before and is not given now is
    /// removed.
    ///
    /// It takes over fields that another manager set, unless the client is
    /// [set](Self::with_force) not to. A write that changes nothing is none: the object keeps its version
    /// and no watch sees an event.
    ///
    /// Pass an object that holds what the operator wants and nothing else; one that was read from the
    /// server is refused, because it would claim every field in it. For a kind with required fields that
    /// the operator does not want to set, see [`apply_value`](Self::apply_value).
    ///
    /// # Errors
    ///
    /// [`is_conflict`](ClientError::is_conflict) if the client does not force and another manager owns a
    /// field.
    pub async fn apply<K: Kind>(&self, object: &K) -> Result<K> {
        let target = Target::of::<K>();
        let operation = target.on("patch", &Request::of(object));
        let object = to_value(&target, &operation, object)?;
        let body = self.write_apply(&target, None, object).await?;
        decode(&operation, &body)
    }

    /// As [`apply`](Self::apply), with the object as any value that serializes to one.
    ///
    /// ```no_run
    /// # use k8s_openapi::api::apps::v1::Deployment;
    /// # use kubewright_runtime::{Result, client::Client};
    /// # async fn example(client: Client) -> Result<()> {
    /// use serde_json::json;
    ///
    /// let deployment = json!({
    ///     "metadata": {"namespace": "shop", "name": "cart"},
    ///     "spec": {"replicas": 3},
    /// });
    /// client.apply_value::<Deployment>(&deployment).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply), and if `apiVersion` or `kind` are given and are not those of `K`.
    pub async fn apply_value<K: Kind>(&self, object: &impl Serialize) -> Result<K> {
        let target = Target::of::<K>();
        let object = to_value(&target, &target.on_all("patch", None), object)?;
        let operation = target.on("patch", &key_of(&object));
        let body = self.write_apply(&target, None, object).await?;
        decode(&operation, &body)
    }

    /// Deletes the object. `false` means that there was none.
    ///
    /// The object may stay for a while after this returns: until its finalizers are removed, its
    /// dependents gone, its grace period over.
    ///
    /// # Errors
    ///
    /// [`is_conflict`](ClientError::is_conflict) if a precondition does not hold.
    pub async fn delete<K: Kind>(&self, key: impl Into<Request>, options: DeleteOptions) -> Result<bool> {
        self.remove(&Target::of::<K>(), &key.into(), &options).await
    }

    /// Deletes all objects that `selection` selects, within one namespace if the kind is namespaced.
    ///
    /// # Errors
    ///
    /// If the kind is namespaced and no namespace is given, or the server refuses.
    pub async fn delete_all_of<K: Kind>(&self, selection: ListOptions, options: DeleteOptions) -> Result<()> {
        self.remove_all(&Target::of::<K>(), &selection, &options).await
    }

    pub(super) async fn write_new(&self, target: &Target, meta: &ObjectMeta, object: Value) -> Result<Bytes> {
        let key = Request { namespace: meta.namespace.clone(), name: meta.name.clone().unwrap_or_default() };
        let operation = target.on("create", &key);
        if key.name.is_empty() && meta.generate_name.as_deref().unwrap_or_default().is_empty() {
            return Err(bad(operation, "the object has neither a name nor a generateName"));
        }
        let path = collection_path(target, &operation, key.namespace.as_deref())?;
        let body = bytes(&operation, &object)?;
        let call = self.settings().on_write(Call::new(operation, Method::POST, path).body(JSON, body));
        self.write(target, Some(&key), call).await
    }

    pub(super) async fn write_whole(
        &self,
        target: &Target,
        subresource: Option<&str>,
        key: &Request,
        object: &Value,
    ) -> Result<Bytes> {
        let (operation, path) = locate(target, "update", key, subresource)?;
        let body = bytes(&operation, object)?;
        let call = self.settings().on_write(Call::new(operation, Method::PUT, path).body(JSON, body));
        self.write(target, Some(key), call).await
    }

    pub(super) async fn write_patch(
        &self,
        target: &Target,
        subresource: Option<&str>,
        key: &Request,
        patch: &Patch,
    ) -> Result<Bytes> {
        let (operation, path) = locate(target, "patch", key, subresource)?;
        let body = patch
            .body()
            .map_err(|source| ClientError::Encode { operation: Box::new(operation.clone()), source })?;
        let call = Call::new(operation, Method::PATCH, path).body(patch.content_type(), body);
        self.write(target, Some(key), self.settings().on_write(call)).await
    }

    pub(super) async fn write_apply(
        &self,
        target: &Target,
        subresource: Option<&str>,
        object: Value,
    ) -> Result<Bytes> {
        let key = key_of(&object);
        let (operation, path) = locate(target, "patch", &key, subresource)?;
        let body = bytes(&operation, &object)?;
        let call = Call::new(operation, Method::PATCH, path).body(APPLY_PATCH, body);
        let force = if self.settings().force { "true" } else { "false" };
        self.write(target, Some(&key), self.settings().on_write(call).query("force", force)).await
    }

    pub(super) async fn remove(
        &self,
        target: &Target,
        key: &Request,
        options: &DeleteOptions,
    ) -> Result<bool> {
        let (operation, path) = locate(target, "delete", key, None)?;
        let body = bytes(&operation, &options.body(self.settings().dry_run))?;
        let call = Call::new(operation, Method::DELETE, path).body(JSON, body);
        let answer = match options.is_dry_run() {
            true => self.send(call).await,
            false => self.write(target, Some(key), call).await,
        };
        match answer {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn remove_all(
        &self,
        target: &Target,
        selection: &ListOptions,
        options: &DeleteOptions,
    ) -> Result<()> {
        let operation = target.on_all("deletecollection", selection.namespace.as_deref());
        if selection.index.is_some() {
            return Err(bad(operation, "an index of the cache cannot select what the server deletes"));
        }
        let path = collection_path(target, &operation, selection.namespace.as_deref())?;
        let body = bytes(&operation, &options.body(self.settings().dry_run))?;
        let mut call = Call::new(operation, Method::DELETE, path).body(JSON, body);
        call.query = selection.query();
        match options.is_dry_run() {
            true => self.send(call).await.map(drop),
            false => self.write(target, None, call).await.map(drop),
        }
    }
}

/// The operation and the path of one object or of its subresource.
pub(super) fn locate(
    target: &Target,
    verb: &'static str,
    key: &Request,
    subresource: Option<&str>,
) -> Result<(Operation, String)> {
    let mut operation = target.on(verb, key);
    let mut path = object_path(target, &operation, key)?;
    if let Some(subresource) = subresource {
        operation.subresource = Some(subresource.to_owned());
        path.push('/');
        path.push_str(subresource);
    }
    Ok((operation, path))
}

/// The object as JSON, with the `apiVersion` and `kind` of the target.
pub(super) fn to_value(target: &Target, operation: &Operation, object: &impl Serialize) -> Result<Value> {
    let object = serde_json::to_value(object)
        .map_err(|source| ClientError::Encode { operation: Box::new(operation.clone()), source })?;
    with_type(target, operation, object)
}

fn with_type(target: &Target, operation: &Operation, object: Value) -> Result<Value> {
    let Value::Object(mut object) = object else {
        return Err(bad(operation.clone(), "the value is no object"));
    };
    for (field, expected) in [("apiVersion", target.api_version()), ("kind", target.kind.to_string())] {
        match object.get(field).and_then(Value::as_str).unwrap_or_default() {
            "" => {
                object.insert(field.to_owned(), expected.into());
            }
            given if given == expected => {}
            given => {
                let reason = format!("the {field} of the object is {given:?}, that of its type {expected:?}");
                return Err(bad(operation.clone(), &reason));
            }
        }
    }
    Ok(object.into())
}

/// The key that the object itself gives.
pub(super) fn key_of(object: &Value) -> Request {
    let field = |name: &str| object.pointer(&format!("/metadata/{name}")).and_then(Value::as_str);
    Request::namespaced(field("namespace").unwrap_or_default(), field("name").unwrap_or_default())
}

fn bytes(operation: &Operation, object: &Value) -> Result<Vec<u8>> {
    super::transport::encode(operation, object)
}

fn bad(operation: Operation, reason: &str) -> ClientError {
    ClientError::BadObject { operation: Box::new(operation), reason: reason.to_owned() }
}

/// An object with nothing but its type, its key and these fields, as an apply to a subresource takes it.
pub(super) fn only(object: &Value, fields: &[&str]) -> Value {
    let mut kept = Map::new();
    for field in ["apiVersion", "kind"].iter().chain(fields) {
        if let Some(value) = object.get(*field) {
            kept.insert((*field).to_owned(), value.clone());
        }
    }
    let mut metadata = Map::new();
    for field in ["name", "namespace"] {
        if let Some(value) = object.pointer(&format!("/metadata/{field}")) {
            metadata.insert(field.to_owned(), value.clone());
        }
    }
    kept.insert("metadata".to_owned(), metadata.into());
    kept.into()
}
