//! Topology: which values are one, and which are made of parts with owners of their own.
//!
//! Server-side apply and strategic comparisons ask it at every step down an object. Start at
//! [`Schema::topology`].

use crate::structural::{AdditionalProperties, ListType, MapType, Schema, SchemaType};

/// How a value is put together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Topology<'a> {
    /// A value without parts.
    Scalar,
    /// A list that is one value.
    AtomicList,
    /// A list of unique scalars, each a part.
    Set,
    /// A list of objects, each a part, identified by the fields named `keys`.
    Map {
        /// The identifying fields.
        keys: &'a [String],
        /// The schema of the items.
        items: Option<&'a Schema>,
    },
    /// An object that is one value.
    AtomicObject,
    /// An object whose fields are parts.
    Object(&'a Schema),
    /// A value the schema does not describe: its own form decides. Objects in it are granular, lists atomic.
    Deduced,
}

/// What a field of an object is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Field<'a> {
    /// A field that the schema names.
    Declared(&'a Schema),
    /// A key of a free-form map.
    Free(&'a Schema),
    /// A field the schema says nothing about, but allows.
    Deduced,
    /// A field the schema does not allow.
    Undeclared,
}

/// A step down an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// To a field of an object.
    Field(&'a str),
    /// To an item of a list.
    Item,
}

impl Schema {
    /// How values of this schema are put together.
    ///
    /// ```
    /// use kubewright_schema::{Structural, Topology};
    /// use serde_json::json;
    ///
    /// let schema = Structural::parse(&json!({
    ///     "type": "object",
    ///     "properties": {"tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}},
    /// }))
    /// .unwrap();
    /// assert_eq!(schema.properties["tags"].topology(), Topology::Set);
    /// ```
    pub fn topology(&self) -> Topology<'_> {
        match self.schema_type {
            Some(SchemaType::Array) => match self.list_type {
                None | Some(ListType::Atomic) => Topology::AtomicList,
                Some(ListType::Set) => Topology::Set,
                Some(ListType::Map) => {
                    Topology::Map { keys: &self.list_map_keys, items: self.items.as_deref() }
                }
            },
            Some(SchemaType::Object) => match self.map_type {
                Some(MapType::Atomic) => Topology::AtomicObject,
                None | Some(MapType::Granular) => Topology::Object(self),
            },
            None if !self.int_or_string => Topology::Deduced,
            _ => Topology::Scalar,
        }
    }

    /// What the field `name` of an object of this schema is.
    pub fn topology_of_field(&self, name: &str) -> Field<'_> {
        if let Some(property) = self.properties.get(name) {
            return Field::Declared(property);
        }
        match &self.additional_properties {
            Some(AdditionalProperties::Schema(schema)) => Field::Free(schema),
            Some(AdditionalProperties::Allowed(true)) => Field::Deduced,
            Some(AdditionalProperties::Allowed(false)) => Field::Undeclared,
            None if self.preserve_unknown_fields || self.properties.is_empty() => Field::Deduced,
            None => Field::Undeclared,
        }
    }

    /// The schema after `steps`, if it describes what is there.
    pub fn descend<'s>(&self, steps: impl IntoIterator<Item = Step<'s>>) -> Option<&Self> {
        steps.into_iter().try_fold(self, |schema, step| match step {
            Step::Field(name) => schema.field(name).map(|field| &**field),
            Step::Item => schema.items.as_deref(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Structural;

    #[test]
    fn defaults_are_atomic_lists_and_granular_objects() {
        let schema = Structural::parse(&json!({"type": "object", "properties": {
            "list": {"type": "array", "items": {"type": "string"}},
            "ports": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["port", "protocol"],
                "items": {"type": "object", "properties": {
                    "port": {"type": "integer"}, "protocol": {"type": "string"},
                }},
            },
            "selector": {"type": "object", "x-kubernetes-map-type": "atomic"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "free": {"x-kubernetes-preserve-unknown-fields": true},
            "port": {"x-kubernetes-int-or-string": true},
            "empty": {"type": "object"},
        }}))
        .unwrap();
        let of = |name: &str| schema.properties[name].topology();
        assert_eq!(schema.topology(), Topology::Object(&schema));
        assert_eq!(of("list"), Topology::AtomicList);
        assert!(matches!(of("ports"), Topology::Map { keys: [port, protocol], items: Some(_) }
            if port == "port" && protocol == "protocol"));
        assert_eq!(of("selector"), Topology::AtomicObject);
        assert!(matches!(of("labels"), Topology::Object(_)));
        assert_eq!(of("free"), Topology::Deduced);
        assert_eq!(of("port"), Topology::Scalar);

        assert!(matches!(schema.topology_of_field("list"), Field::Declared(_)));
        assert_eq!(schema.topology_of_field("other"), Field::Undeclared);
        assert!(matches!(schema.properties["labels"].topology_of_field("a"), Field::Free(_)));
        assert_eq!(schema.properties["empty"].topology_of_field("a"), Field::Deduced);

        let protocol = schema.descend([Step::Field("ports"), Step::Item, Step::Field("protocol")]).unwrap();
        assert_eq!(protocol.schema_type, Some(SchemaType::String));
        assert!(schema.descend([Step::Field("list"), Step::Field("x")]).is_none());
    }
}
