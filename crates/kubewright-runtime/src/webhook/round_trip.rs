//! Finds what conversions lose: a property test for [`Spoke`]s.
//!
//! An object that is converted there and back has to be what it was. Objects are made at random of the schema of
//! the kind, the same ones in each run:
//!
//! ```
//! use kubewright_runtime::{Result, webhook::{Spoke, round_trip}};
//! # use kube::CustomResource;
//! # use schemars::JsonSchema;
//! # use serde::{Deserialize, Serialize};
//! # #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
//! # #[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced)]
//! # pub struct MemcachedSpec { pub replicas: i32, pub image: Option<String> }
//! # mod v1alpha1 {
//! #     use kube::CustomResource;
//! #     use schemars::JsonSchema;
//! #     use serde::{Deserialize, Serialize};
//! #     #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
//! #     #[kube(group = "cache.example.com", version = "v1alpha1", kind = "Memcached", namespaced)]
//! #     pub struct MemcachedSpec { pub size: i32 }
//! # }
//! # impl Spoke for v1alpha1::Memcached {
//! #     type Hub = Memcached;
//! #     fn into_hub(self) -> Result<Memcached> {
//! #         Ok(Memcached::new("", MemcachedSpec { replicas: self.spec.size, image: None }))
//! #     }
//! #     fn from_hub(hub: Memcached) -> Result<Self> {
//! #         Ok(Self::new("", v1alpha1::MemcachedSpec { size: hub.spec.replicas }))
//! #     }
//! # }
//!
//! // The older version comes back as it was.
//! round_trip::spoke_hub_spoke::<v1alpha1::Memcached>(100)?;
//! // It has no field for the image of v1, and the conversion does not keep it elsewhere.
//! let loss = round_trip::hub_spoke_hub::<v1alpha1::Memcached>(100).unwrap_err();
//! assert!(loss.to_string().contains("spec.image"), "{loss}");
//! # Ok::<(), kubewright_runtime::webhook::round_trip::Loss>(())
//! ```

use std::fmt;

use kube::Resource;
use kubewright_manifests::crd::CrdBuilder;
use kubewright_world::Random;
use serde_json::{Map, Value, json};

use super::{Spoke, conversion::Converter};
use crate::crds::CustomKind;

/// An object that is not what it was after its conversion there and back.
#[derive(Clone, PartialEq)]
pub struct Loss {
    message: String,
}

/// Converts objects of the version `S` to the hub and back.
///
/// # Errors
///
/// The first object that does not come back as it was, or cannot be converted. Labels count as part of it, annotations do
/// not: a conversion may keep in them what has no field.
pub fn spoke_hub_spoke<S>(cases: usize) -> Result<(), Loss>
where
    S: Spoke<Hub: CustomKind> + CustomKind,
{
    check::<S, S>(cases, &S::Hub::version(&()))
}

/// Converts objects of the hub to the version `S` and back.
///
/// # Errors
///
/// As of [`spoke_hub_spoke`]. If `S` has no field for something that the hub has, it is lost unless the conversion keeps it in
/// an annotation.
pub fn hub_spoke_hub<S>(cases: usize) -> Result<(), Loss>
where
    S: Spoke<Hub: CustomKind> + CustomKind,
{
    check::<S, S::Hub>(cases, &S::version(&()))
}

/// Converts objects of the type `K` to the version `through` and back.
fn check<S, K>(cases: usize, through: &str) -> Result<(), Loss>
where
    S: Spoke<Hub: CustomKind> + CustomKind,
    K: CustomKind,
{
    let mut converter = Converter::new::<S::Hub>();
    converter.add(S::into_hub, S::from_hub).map_err(|error| Loss { message: error.to_string() })?;
    let document = CrdBuilder::of::<K>().build().document;
    let schema = &document["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let own = K::version(&());
    let random = Random::seeded(1);
    let mut checked = 0;
    for _ in 0..cases {
        let made = object::<K>(schema, &random);
        // What a rule forbids that the schema does not tell in types is no object of this kind.
        let Ok(typed) = serde_json::from_value::<K>(made) else { continue };
        let Ok(object) = serde_json::to_value(typed) else { continue };
        checked += 1;
        let failed = |way: String, why: &dyn fmt::Display| Loss {
            message: format!("{} {way}: {why}\nof the object {object}", K::kind(&())),
        };
        let there = converter
            .convert(&object, through)
            .map_err(|error| failed(format!("{own} -> {through}"), &error))?;
        let way = format!("{own} -> {through} -> {own}");
        let back = converter.convert(&there, &own).map_err(|error| failed(way.clone(), &error))?;
        if let Some(change) = difference(&comparable(&object), &comparable(&back), "") {
            return Err(failed(way, &change));
        }
    }
    if checked * 2 < cases {
        let kind = K::kind(&());
        return Err(Loss {
            message: format!(
                "only {checked} of {cases} objects that fit the schema of {kind} {own} fit its Rust type: there is too \
                 little to test with"
            ),
        });
    }
    Ok(())
}

fn object<K: CustomKind>(schema: &Value, random: &Random) -> Value {
    let mut object = value(schema, random, 0).unwrap_or_else(|| json!({}));
    object["apiVersion"] = K::api_version(&()).into();
    object["kind"] = K::kind(&()).into();
    object["metadata"] = json!({"name": "example", "labels": {"app": "example"}});
    object
}

/// How deep optional fields are filled in.
const DEEP: usize = 12;

/// A value that fits a structural schema as far as its types and limits say; none if that is not known how.
fn value(schema: &Value, random: &Random, depth: usize) -> Option<Value> {
    if let Some(words) = schema["enum"].as_array() {
        return words.get(index(random, words.len())).cloned();
    }
    if schema["x-kubernetes-int-or-string"] == true {
        return Some(if random.below(2) == 0 { json!(8080) } else { json!("http") });
    }
    match schema["type"].as_str() {
        Some("object") => Some(fields(schema, random, depth)),
        Some("array") => {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            let most = schema["maxItems"].as_u64().unwrap_or(least + 2).min(least + 2);
            let length = least + random.below(most - least + 1);
            let items = (0..length).map_while(|_| value(&schema["items"], random, depth + 1));
            Some(Value::Array(items.collect()))
        }
        Some("string") => Some(text(schema, random)),
        Some("integer") => Some(integer(schema, random).into()),
        Some("number") => Some(json!(integer(schema, random) as f64)),
        Some("boolean") => Some((random.below(2) == 0).into()),
        _ => (schema["x-kubernetes-preserve-unknown-fields"] == true).then(|| json!({})),
    }
}

fn fields(schema: &Value, random: &Random, depth: usize) -> Value {
    let mut object = Map::new();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let wanted = required.contains(&name.as_str()) || (depth < DEEP && random.below(4) > 0);
        if wanted && let Some(value) = value(field, random, depth + 1) {
            object.insert(name.clone(), value);
        }
    }
    if schema["additionalProperties"].is_object() {
        for key in 0..random.below(3) {
            if let Some(value) = value(&schema["additionalProperties"], random, depth + 1) {
                object.insert(format!("key-{key}"), value);
            }
        }
    }
    Value::Object(object)
}

/// A text. Patterns are not looked at: a type that is a text takes any.
fn text(schema: &Value, random: &Random) -> Value {
    match schema["format"].as_str() {
        Some("date-time") => return "2030-01-02T03:04:05Z".into(),
        Some("date") => return "2030-01-02".into(),
        Some("byte") => return "a3ViZQ==".into(),
        Some("duration") => return "1m30s".into(),
        _ => {}
    }
    let least = schema["minLength"].as_u64().unwrap_or(1);
    let most = schema["maxLength"].as_u64().unwrap_or(least + 8).min(least + 8);
    let length = least + random.below(most.saturating_sub(least) + 1);
    let letters = (0..length).map(|_| char::from(b'a' + u8::try_from(random.below(26)).unwrap_or(0)));
    letters.collect::<String>().into()
}

fn integer(schema: &Value, random: &Random) -> i64 {
    let limit = |name: &str| schema[name].as_f64().map(|limit| limit as i64);
    let least = limit("minimum").map(|least| least + i64::from(schema["exclusiveMinimum"] == true));
    let most = limit("maximum").map(|most| most - i64::from(schema["exclusiveMaximum"] == true));
    let least = least.unwrap_or_else(|| most.map_or(0, |most| most.min(0)));
    let most = most.unwrap_or(least.saturating_add(1000)).max(least);
    let span = u64::try_from(most.saturating_sub(least)).unwrap_or(0).min(1 << 40);
    least + i64::try_from(random.below(span + 1)).unwrap_or(0)
}

fn index(random: &Random, length: usize) -> usize {
    usize::try_from(random.below(u64::try_from(length).unwrap_or(1).max(1))).unwrap_or(0)
}

/// What of an object has to come back. A field that is null is as good as none.
fn comparable(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("annotations");
    }
    without_nulls(&object)
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), without_nulls(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        value => value.clone(),
    }
}

/// The first place at which two values differ.
fn difference(before: &Value, after: &Value, path: &str) -> Option<String> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
            names.into_iter().find_map(|name| {
                let missing = Value::Null;
                let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                difference(before.get(name).unwrap_or(&missing), after.get(name).unwrap_or(&missing), &below)
            })
        }
        (before, after) if before == after => None,
        (before, Value::Null) => Some(format!("{path} was {before} and is gone")),
        (Value::Null, after) => Some(format!("{path} was not there and is {after}")),
        (before, after) => Some(format!("{path} was {before} and is {after}")),
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The message, for `unwrap` and for a test that returns it.
impl fmt::Debug for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Loss {}
