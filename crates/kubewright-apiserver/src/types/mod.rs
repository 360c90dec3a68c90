//! The Go types of the Kubernetes API: fields, what they hold, and how patches treat them.
//!
//! One table, generated from a Kubernetes release, serves strict decoding ([`strict`]), the JSON that
//! Go would write ([`canonical`]), strategic merge patches and server-side apply. Start at
//! [`Types::kind`].

mod base64;
pub mod canonical;
mod load;
pub(crate) mod order;
pub mod strict;
pub(crate) mod syntax;
mod time;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

pub use kubewright_quota::quantity;
use serde::Deserialize;
use serde_json::Value;

/// The generated table as it stands in the binary. Protobuf reads it too, for the numbers of the fields.
pub(crate) static TABLE: &str = include_str!("../../data/types.json");

/// All types of the API.
#[derive(Debug)]
pub struct Types {
    types: Vec<Type>,
    names: BTreeMap<String, TypeId>,
    kinds: BTreeMap<(String, String, String), TypeId>,
}

/// Which type of [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TypeId(usize);

/// A struct of the API, or a type with a JSON form of its own.
#[derive(Debug)]
pub struct Type {
    /// The full name, such as `io.k8s.api.apps.v1.DeploymentSpec`.
    pub name: String,
    /// The JSON form, where it is not that of a struct.
    pub special: Option<Special>,
    /// Whether server-side apply treats the struct as one field; `None` is the default (it does not).
    pub atomic: Option<bool>,
    /// Fields by their JSON name, those of inlined structs included.
    fields: BTreeMap<String, Arc<Field>>,
}

/// Types whose JSON is not that of their Go struct. The table has the names of the Go types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub enum Special {
    /// An RFC 3339 time in seconds.
    Time,
    /// An RFC 3339 time in microseconds.
    MicroTime,
    /// A quantity such as `100m`, as a string or number.
    Quantity,
    /// An integer or a string.
    IntOrString,
    /// Any object, kept as it is.
    RawExtension,
    /// The fields of a manager.
    FieldsV1,
    /// Any JSON.
    #[serde(rename = "JSON")]
    Json,
    /// A schema or a list of schemas.
    #[serde(rename = "JSONSchemaPropsOrArray")]
    SchemaOrArray,
    /// A schema or a boolean.
    #[serde(rename = "JSONSchemaPropsOrBool")]
    SchemaOrBool,
    /// A schema or a list of strings.
    #[serde(rename = "JSONSchemaPropsOrStringArray")]
    SchemaOrStringArray,
    /// A list of strings with a name of its own.
    List,
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name in JSON.
    pub json: String,
    /// Where it stands in the struct, those of inlined structs where the struct stands.
    pub position: usize,
    /// Names of the inlined structs that hold the field, from the outside in.
    pub embedded_in: Vec<String>,
    /// Whether it holds one value, a list or a map.
    pub shape: Shape,
    /// What the value, each item or each map value is.
    pub value: ValueType,
    /// Whether the Go field is a pointer, so that unset and zero differ.
    pub pointer: bool,
    /// Whether Go leaves the field out when it is empty.
    pub omit_empty: bool,
    /// Whether the OpenAPI schema requires the field.
    pub required: bool,
    /// What the list is to server-side apply.
    pub list_type: Option<ListType>,
    /// Whether server-side apply treats the map or struct here as one field.
    pub atomic: Option<bool>,
    /// How a strategic merge patch treats the field.
    pub patch: PatchStrategy,
    /// The key by which a strategic merge patch tells items apart.
    pub merge_key: Option<String>,
    /// The default that the OpenAPI schema declares.
    pub default: Option<Value>,
    /// Go's name of the type of the value, of each item or of each map value, if that is a scalar with a name of its own,
    /// such as `v1.Protocol`.
    pub go_item: Option<String>,
    /// Go's name of the type of the list or map, if it has one, such as `v1.ResourceList`.
    pub go_type: Option<String>,
}

/// How many values a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One.
    One,
    /// A list.
    List,
    /// A map from strings.
    Map,
}

/// The type of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueType {
    /// A string.
    String,
    /// Bytes, as base64 in JSON.
    Bytes,
    /// A boolean.
    Bool,
    /// A 32-bit integer.
    Int32,
    /// A 64-bit integer.
    Int64,
    /// A 64-bit float.
    Double,
    /// Anything.
    Any,
    /// A struct or special type.
    Message(TypeId),
}

/// What a list is to server-side apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListType {
    /// One field.
    Atomic,
    /// Scalars that are owned one by one.
    Set,
    /// Objects that are owned one by one, told apart by these keys.
    Map(Vec<String>),
}

/// How a strategic merge patch treats a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatchStrategy {
    /// Lists are merged; otherwise the patch replaces them.
    pub merge: bool,
    /// The patch replaces a struct instead of merging it.
    pub replace: bool,
    /// The patch may list the keys that are to stay.
    pub retain_keys: bool,
}

// Read on first use: decoding, applying or patching a built-in object.
static TYPES: LazyLock<Types> = LazyLock::new(load::load);

// === impl Types ===

impl Types {
    /// The table of this Kubernetes release.
    pub fn get() -> &'static Self {
        &TYPES
    }

    /// The type of a built-in kind.
    pub fn kind(&self, group: &str, version: &str, kind: &str) -> Option<&Type> {
        let key = (group.to_owned(), version.to_owned(), kind.to_owned());
        self.types.get(self.kinds.get(&key)?.0)
    }

    /// The type with a full name.
    pub fn named(&self, name: &str) -> Option<&Type> {
        self.types.get(self.names.get(name)?.0)
    }

    /// The type with an id.
    pub fn by_id(&self, id: TypeId) -> Option<&Type> {
        self.types.get(id.0)
    }

    /// All types, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Type> {
        self.names.values().filter_map(|id| self.types.get(id.0))
    }
}

// === impl Type ===

impl Type {
    /// The fields by JSON name, those of inlined structs included.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Field)> {
        self.fields.iter().map(|(name, field)| (name.as_str(), &**field))
    }

    /// The field with a JSON name.
    pub fn field(&self, json: &str) -> Option<&Field> {
        self.fields.get(json).map(|field| &**field)
    }

    /// The name without package, such as `DeploymentSpec`.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }

    /// The name as Go prints it, such as `v1.DeploymentSpec`.
    pub fn go_name(&self) -> &str {
        match self.name.rmatch_indices('.').nth(1) {
            Some((at, dot)) => self.name.get(at + dot.len()..).unwrap_or(&self.name),
            None => &self.name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_leads_to_its_fields() {
        let deployment = Types::get().kind("apps", "v1", "Deployment").unwrap();
        assert_eq!(deployment.go_name(), "v1.Deployment");
        let spec = deployment.field("spec").unwrap();
        let ValueType::Message(spec) = spec.value else { panic!("spec is a struct") };
        let spec = Types::get().by_id(spec).unwrap();
        assert_eq!(spec.short_name(), "DeploymentSpec");
        assert_eq!(spec.field("replicas").unwrap().value, ValueType::Int32);
        assert!(spec.field("strategy").unwrap().patch.retain_keys);
    }

    #[test]
    fn inlined_structs_belong_to_their_parent() {
        let volume = Types::get().named("io.k8s.api.core.v1.Volume").unwrap();
        assert!(volume.field("emptyDir").is_some());
        assert!(volume.field("volumeSource").is_none());
    }

    #[test]
    fn lists_know_their_keys() {
        let container = Types::get().named("io.k8s.api.core.v1.Container").unwrap();
        let ports = container.field("ports").unwrap();
        let keys = vec!["containerPort".to_owned(), "protocol".to_owned()];
        assert_eq!(ports.list_type, Some(ListType::Map(keys)));
        assert_eq!(ports.merge_key.as_deref(), Some("containerPort"));
        assert!(ports.patch.merge);
    }
}
