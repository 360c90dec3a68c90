use std::panic::{AssertUnwindSafe, catch_unwind};

use kube::core::ApiResource;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Request;

/// An object that does not fit its Rust type, and therefore is not in the cache.
///
/// If an earlier version of it fitted, reads still give that one. It comes into the cache as soon as a version
/// of it fits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Undecodable {
    /// The kind.
    pub resource: ApiResource,
    /// The object's key.
    pub request: Request,
    /// The object's uid.
    pub uid: Option<String>,
    /// The version that does not fit.
    pub resource_version: Option<String>,
    /// Where and why it does not fit, as `spec.size: invalid type: string "three", expected i32`.
    pub error: String,
}

/// What the cache needs to know of an object before it is decoded. These fields are strings on every server.
pub(super) struct Identity<'a> {
    pub(super) uid: Option<&'a str>,
    pub(super) resource_version: Option<&'a str>,
}

/// The key of an undecoded object; `None` if it has no name.
pub(super) fn request_of(object: &Value) -> Option<Request> {
    let metadata = object.get("metadata")?;
    let name = metadata.get("name")?.as_str()?;
    let namespace = metadata.get("namespace").and_then(Value::as_str).unwrap_or_default();
    Some(Request::namespaced(namespace, name))
}

/// The length of the object as JSON, without spaces; escapes in strings are not counted.
pub(super) fn size_of(object: &Value) -> usize {
    match object {
        Value::Null => 4,
        Value::Bool(value) => 5 - usize::from(*value),
        Value::Number(number) => number
            .as_i64()
            .map_or(8, |number| 1 + number.unsigned_abs().checked_ilog10().unwrap_or(0) as usize),
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 1 + items.len().max(1) + items.iter().map(size_of).sum::<usize>(),
        Value::Object(fields) => {
            let fields_size = fields.iter().map(|(name, value)| name.len() + 3 + size_of(value));
            1 + fields.len().max(1) + fields_size.sum::<usize>()
        }
    }
}

/// The identity of an undecoded object.
pub(super) fn identity_of(object: &Value) -> Identity<'_> {
    let field = |name| object.get("metadata")?.get(name)?.as_str().filter(|text| !text.is_empty());
    Identity { uid: field("uid"), resource_version: field("resourceVersion") }
}

/// Decodes an object and passes it through `transform`.
pub(super) fn decode<K: DeserializeOwned>(
    mut object: Value,
    resource: &ApiResource,
    transform: Option<&(dyn Fn(&mut K) + Send + Sync)>,
) -> Result<K, String> {
    // The items of a list of a built-in kind do not say what they are.
    if let Value::Object(fields) = &mut object {
        fields.entry("apiVersion").or_insert_with(|| Value::String(resource.api_version.clone()));
        fields.entry("kind").or_insert_with(|| Value::String(resource.kind.clone()));
    }
    let mut decoded = K::deserialize(&object).map_err(|error| explain::<K>(&object, &error))?;
    if let Some(transform) = transform {
        catch_unwind(AssertUnwindSafe(|| transform(&mut decoded)))
            .map_err(|_| "the informer's transform function panicked on it".to_owned())?;
    }
    Ok(decoded)
}

/// Decodes once more, to learn where it fails. Keeping track of the path all the time would slow the good case.
fn explain<K: DeserializeOwned>(object: &Value, error: &serde_json::Error) -> String {
    match serde_path_to_error::deserialize::<_, K>(object) {
        Err(error) => error.to_string(),
        Ok(_) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::Deployment;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_error_names_the_field() {
        let object = json!({"metadata": {"name": "cart"}, "spec": {"replicas": "three"}});
        let error = decode::<Deployment>(object, &ApiResource::erase::<Deployment>(&()), None)
            .expect_err("a bad one");
        assert!(error.starts_with("spec.replicas: invalid type: string \"three\", expected i32"), "{error}");
    }

    #[test]
    fn the_size_is_that_of_the_json() {
        let object = json!({"a": [1, 23, true, false, null], "b": {}, "c": [], "d": {"e": "f", "g": 0}});
        assert_eq!(size_of(&object), object.to_string().len());
    }

    #[test]
    fn a_panicking_transform_is_an_error() {
        let object = json!({"metadata": {"name": "cart"}});
        let transform = |_: &mut Deployment| panic!("no");
        let error = decode(object, &ApiResource::erase::<Deployment>(&()), Some(&transform));
        assert!(error.is_err_and(|error| error.contains("panicked")));
    }
}
