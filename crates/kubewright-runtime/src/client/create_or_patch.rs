use serde_json::{Map, Value};

use super::{Client, ClientError, Kind, Patch, Target, write::to_value};
use crate::{Request, Result};

/// What [`Client::create_or_patch`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationResult {
    /// There was no such object; now there is.
    Created,
    /// The object differed and was patched.
    Updated,
    /// The object was as it should be; nothing was written.
    Unchanged,
}

// === impl Client ===

impl Client {
    /// Creates the object, or changes the one that is there, and writes only if something differs.
    ///
    /// The object on the server, or `object` if there is none, is passed to `mutate`, which sets what the
    /// operator wants. The difference is sent as a merge patch that carries the version read, so a change
    /// made by somebody in the meantime is a conflict rather than lost. A change to the status is not
    /// written here: see [`Client::status`].
    ///
    /// [`apply`](Self::apply) does this in one request and without a read; use this where a value depends
    /// on the present one.
    ///
    /// ```no_run
    /// # use k8s_openapi::api::core::v1::ConfigMap;
    /// # use kubewright_runtime::{Result, client::Client};
    /// # async fn example(client: Client, config: ConfigMap) -> Result<()> {
    /// let (config, result) = client
    ///     .create_or_patch(config, |config| {
    ///         config.data.get_or_insert_default().insert("currency".into(), "EUR".into());
    ///         Ok(())
    ///     })
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// What `mutate` returns, any failure of the server, and a `mutate` that changes the object's key.
    pub async fn create_or_patch<K: Kind>(
        &self,
        object: K,
        mutate: impl FnOnce(&mut K) -> Result<()>,
    ) -> Result<(K, OperationResult)> {
        let target = Target::of::<K>();
        let key = Request::of(&object);
        let Some(mut present) = self.live().get::<K>(&key).await? else {
            let mut object = object;
            mutate(&mut object)?;
            check_key(&target, &key, &Request::of(&object))?;
            return Ok((self.create(&object).await?, OperationResult::Created));
        };
        let operation = target.on("patch", &key);
        let before = to_value(&target, &operation, &present)?;
        let resource_version = present.meta().resource_version.clone();
        mutate(&mut present)?;
        check_key(&target, &key, &Request::of(&present))?;
        let after = to_value(&target, &operation, &present)?;
        let Some(patch) = guarded_patch(before, after, resource_version) else {
            return Ok((present, OperationResult::Unchanged));
        };
        Ok((self.patch(&key, Patch::Merge(patch)).await?, OperationResult::Updated))
    }
}

fn check_key(target: &Target, before: &Request, after: &Request) -> std::result::Result<(), ClientError> {
    if before == after {
        return Ok(());
    }
    let reason = format!("the closure changed the object's key to \"{after}\"");
    Err(ClientError::BadObject { operation: Box::new(target.on("patch", before)), reason })
}

/// The merge patch between two objects without their status, with the version it was made for.
fn guarded_patch(mut before: Value, mut after: Value, resource_version: Option<String>) -> Option<Value> {
    for object in [&mut before, &mut after] {
        if let Value::Object(object) = object {
            object.remove("status");
        }
    }
    let mut patch = merge_patch(&before, &after)?;
    if let (Value::Object(patch), Some(resource_version)) = (&mut patch, resource_version) {
        let metadata = patch.entry("metadata").or_insert_with(|| Map::new().into());
        if let Value::Object(metadata) = metadata {
            metadata.insert("resourceVersion".to_owned(), resource_version.into());
        }
    }
    Some(patch)
}

/// The JSON merge patch (RFC 7386) that makes `after` of `before`; `None` if they are equal.
pub(super) fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return (before != after).then(|| after.clone());
    };
    let mut patch = Map::new();
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, after) in after {
        let change = match before.get(name) {
            Some(before) => merge_patch(before, after),
            None => Some(after.clone()),
        };
        if let Some(change) = change {
            patch.insert(name.clone(), change);
        }
    }
    (!patch.is_empty()).then(|| patch.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_patch_carries_the_version_and_never_the_status() {
        let before =
            json!({"metadata": {"name": "a"}, "spec": {"replicas": 1, "paused": true}, "status": {"n": 1}});
        let after = json!({"metadata": {"name": "a"}, "spec": {"replicas": 2}, "status": {"n": 2}});
        assert_eq!(
            guarded_patch(before.clone(), after, Some("7".into())),
            Some(json!({"metadata": {"resourceVersion": "7"}, "spec": {"replicas": 2, "paused": null}}))
        );
        let status_only =
            json!({"metadata": {"name": "a"}, "spec": {"replicas": 1, "paused": true}, "status": {}});
        assert_eq!(guarded_patch(before, status_only, Some("7".into())), None);
    }

    /// Objects without nulls: what a serialized Kubernetes object is.
    fn object() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![any::<bool>().prop_map(Value::from), (0..3i64).prop_map(Value::from)];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[a-c]", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_patch_makes_one_object_of_the_other(before in object(), after in object()) {
            match merge_patch(&before, &after) {
                None => prop_assert_eq!(before, after),
                Some(patch) => {
                    let mut patched = before;
                    json_patch::merge(&mut patched, &patch);
                    prop_assert_eq!(patched, after);
                }
            }
        }
    }
}
