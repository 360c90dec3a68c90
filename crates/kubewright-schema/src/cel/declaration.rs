//! What rules see of a schema: the types of its values, the names of its fields, and how large values can become.

use std::collections::BTreeMap;

use super::checker::Type;
use crate::{
    cel_names,
    structural::{Schema, SchemaType},
};

/// The largest request, in bytes, which bounds what has no bound of its own.
pub(super) const LARGEST_REQUEST: i64 = 3 * 1024 * 1024;

/// The longest date and time and the longest duration, in bytes of JSON.
const LONGEST_TIME: i64 = 32;
const DATE: i64 = 12;

/// The longest name of an object.
const LONGEST_NAME: i64 = 253;

/// What rules see of a schema, as a tree of declared values. The root stands for `self`.
#[derive(Debug)]
pub(crate) struct Declarations {
    nodes: Vec<Declaration>,
    root: DeclarationId,
    /// Whether there are the messages of patches as well.
    pub(super) has_patches: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeclarationId(usize);

/// A declared value.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) of: Type,
    pub(super) parts: Parts,
    /// The most elements: characters, bytes, items or entries. Zero for what has none.
    pub(super) most: u64,
    /// The fewest bytes of the value in JSON.
    least_bytes: i64,
    /// The value this is a part of, and what part.
    inside: Option<(DeclarationId, String)>,
    /// The name of an object type that is no part of a schema.
    name: Option<&'static str>,
}

/// What a declared value is made of.
#[derive(Debug)]
pub(super) enum Parts {
    None,
    Items(DeclarationId),
    Values(DeclarationId),
    Fields(BTreeMap<String, DeclarationId>),
}

// === impl Declarations ===

impl Declarations {
    /// What rules at `schema` see. Nothing if the schema does not say what its values are.
    ///
    /// `is_object` tells whether values are whole Kubernetes objects.
    pub(crate) fn new(schema: &Schema, is_object: bool) -> Option<Self> {
        let mut declarations = Self { nodes: Vec::new(), root: DeclarationId(0), has_patches: false };
        declarations.root = declarations.add(schema, is_object)?;
        Some(declarations)
    }

    /// Nothing at all, to declare types of objects in.
    pub(super) fn none() -> Self {
        let mut declarations = Self { nodes: Vec::new(), root: DeclarationId(0), has_patches: false };
        declarations.push(Type::Dyn, 0, 1);
        declarations
    }

    /// Declares a type of objects with these fields.
    pub(super) fn declare(&mut self, name: &'static str, fields: Vec<(String, Type)>) -> Type {
        let fields = fields.into_iter().map(|(field, of)| (field, self.push(of, 0, 1))).collect();
        let id = self.declare_object(fields, 2);
        if let Some(node) = self.nodes.get_mut(id.0) {
            node.name = Some(name);
        }
        Type::Object(id)
    }

    /// Declares one more field of a type of objects.
    pub(super) fn declare_field(&mut self, object: &Type, name: &str, of: Type) {
        let Type::Object(id) = object else { return };
        let field = self.push(of, 0, 1);
        if let Some(Parts::Fields(fields)) = self.nodes.get_mut(id.0).map(|node| &mut node.parts) {
            fields.insert(name.to_owned(), field);
        }
    }

    pub(super) fn root(&self) -> &Declaration {
        self.get(self.root)
    }

    pub(super) fn get(&self, id: DeclarationId) -> &Declaration {
        // A number is only ever made for a node of the same list.
        &self.nodes[id.0]
    }

    /// How often values that are this small at least fit in a request.
    pub(super) fn most_often(&self) -> u64 {
        (LARGEST_REQUEST / self.root().least_bytes.saturating_add(1).max(1)).unsigned_abs()
    }

    /// A field of an object, by the name in rules. Words of the language may stand for themselves.
    pub(super) fn field(&self, id: DeclarationId, name: &str) -> Option<Field<'_>> {
        let Parts::Fields(fields) = &self.get(id).parts else { return None };
        let (name, id) = fields.get_key_value(name).or_else(|| {
            cel_names::RESERVED
                .contains(&name)
                .then(|| fields.get_key_value(&format!("__{name}__")))
                .flatten()
        })?;
        Some(Field { name, of: &self.get(*id).of })
    }

    /// The name of an object type. A real server puts the nanoseconds of its clock behind the first word.
    pub(super) fn name(&self, id: DeclarationId) -> String {
        let node = self.get(id);
        match (node.name, &node.inside) {
            (Some(name), _) => name.to_owned(),
            (None, None) => "selfType0".to_owned(),
            (None, Some((outer, part))) => format!("{}.{part}", self.name(*outer)),
        }
    }

    fn add(&mut self, schema: &Schema, is_object: bool) -> Option<DeclarationId> {
        if schema.int_or_string {
            let most = schema.max_length.map_or(LARGEST_REQUEST - 2, in_bytes);
            return Some(self.push(Type::Dyn, most, 1));
        }
        match schema.schema_type? {
            SchemaType::Array => {
                let item_schema = schema.items.as_deref()?;
                let items = self.add(item_schema, item_schema.embedded_resource)?;
                let least = self.get(items).least_bytes;
                let most =
                    schema.max_items.map_or((LARGEST_REQUEST - 2) / least.saturating_add(1), at_least_zero);
                let of = Type::list(self.get(items).of.clone());
                let id = self.push(of, most, 2);
                Some(self.contain(id, Parts::Items(items), "@idx", items))
            }
            SchemaType::Object => match schema.additional_schema() {
                Some(value_schema) => {
                    let values = self.add(value_schema, value_schema.embedded_resource)?;
                    let least = self.get(values).least_bytes;
                    let most = schema
                        .max_properties
                        .map_or((LARGEST_REQUEST - 2) / least.saturating_add(6), at_least_zero);
                    let of = Type::map(Type::String, self.get(values).of.clone());
                    let id = self.push(of, most, 2);
                    Some(self.contain(id, Parts::Values(values), "@elem", values))
                }
                None => Some(self.object(schema, is_object)),
            },
            SchemaType::String => Some(self.text(schema)),
            SchemaType::Boolean => Some(self.push(Type::Bool, 0, 4)),
            SchemaType::Number => Some(self.push(Type::Double, 0, 1)),
            SchemaType::Integer => Some(self.push(Type::Int, 0, 1)),
        }
    }

    fn object(&mut self, schema: &Schema, is_object: bool) -> DeclarationId {
        let mut fields = BTreeMap::new();
        let mut least: i64 = 2;
        let own = is_object && !declares_object(schema);
        for (name, property) in &schema.properties {
            if own && ["apiVersion", "kind", "metadata"].contains(&name.as_str()) {
                continue;
            }
            let Some(field) = self.add(property, property.embedded_resource) else { continue };
            if schema.required.contains(name) && property.default.is_none() {
                least = least.saturating_add(self.field_bytes(name, field));
            }
            if let Some(escaped) = cel_names::escape(name) {
                fields.insert(escaped, field);
            }
        }
        if own {
            for (name, field) in self.object_fields(schema) {
                if schema.required.iter().any(|required| required == name) {
                    least = least.saturating_add(self.field_bytes(name, field));
                }
                fields.insert(name.to_owned(), field);
            }
        }
        self.declare_object(fields, least)
    }

    /// What every Kubernetes object shows to rules.
    fn object_fields(&mut self, schema: &Schema) -> [(&'static str, DeclarationId); 3] {
        let whole = LARGEST_REQUEST - 2;
        let [api_version, kind] = [self.push(Type::String, whole, 2), self.push(Type::String, whole, 2)];
        let limit = |name: &str, longest: i64| {
            let declared = schema.properties.get("metadata").and_then(|meta| meta.properties.get(name));
            let length = declared.and_then(|field| field.max_length).map_or(longest, |own| own.min(longest));
            in_bytes(length)
        };
        // The server adds a character to a generated name at least.
        let name = self.push(Type::String, limit("name", LONGEST_NAME), 2);
        let generate_name = self.push(Type::String, limit("generateName", LONGEST_NAME - 1), 2);
        let names = BTreeMap::from([("name".to_owned(), name), ("generateName".to_owned(), generate_name)]);
        let metadata = self.declare_object(names, 2);
        [("apiVersion", api_version), ("kind", kind), ("metadata", metadata)]
    }

    fn declare_object(&mut self, fields: BTreeMap<String, DeclarationId>, least: i64) -> DeclarationId {
        let id = DeclarationId(self.nodes.len());
        for (name, field) in &fields {
            if let Some(field) = self.nodes.get_mut(field.0) {
                field.inside = Some((id, name.clone()));
            }
        }
        self.push(Type::Object(id), 0, least);
        if let Some(node) = self.nodes.get_mut(id.0) {
            node.parts = Parts::Fields(fields);
        }
        id
    }

    fn text(&mut self, schema: &Schema) -> DeclarationId {
        let whole = LARGEST_REQUEST - 2;
        match schema.format.as_str() {
            "byte" => self.push(Type::Bytes, schema.max_length.map_or(whole, at_least_zero), 2),
            "duration" => self.push(Type::Duration, LONGEST_TIME, 3),
            "date" => self.push(Type::Timestamp, DATE, DATE),
            "date-time" => self.push(Type::Timestamp, LONGEST_TIME, 21),
            _ => {
                let longest =
                    || schema.enumeration.iter().filter_map(|value| value.as_str()).map(str::len).max();
                let most = match schema.max_length {
                    Some(length) => in_bytes(length),
                    None if schema.enumeration.is_empty() => whole,
                    None => longest().map_or(0, |length| i64::try_from(length).unwrap_or(i64::MAX)),
                };
                self.push(Type::String, most, 2)
            }
        }
    }

    fn push(&mut self, of: Type, most: i64, least_bytes: i64) -> DeclarationId {
        let most = most.max(0).unsigned_abs();
        self.nodes.push(Declaration { of, parts: Parts::None, most, least_bytes, inside: None, name: None });
        DeclarationId(self.nodes.len() - 1)
    }

    fn contain(
        &mut self,
        id: DeclarationId,
        parts: Parts,
        part: &str,
        inner: DeclarationId,
    ) -> DeclarationId {
        if let Some(node) = self.nodes.get_mut(id.0) {
            node.parts = parts;
        }
        if let Some(node) = self.nodes.get_mut(inner.0) {
            node.inside = Some((id, part.to_owned()));
        }
        id
    }

    fn field_bytes(&self, name: &str, field: DeclarationId) -> i64 {
        let name = i64::try_from(name.len()).unwrap_or(i64::MAX);
        self.get(field).least_bytes.saturating_add(name).saturating_add(4)
    }
}

/// A field as rules see it.
pub(super) struct Field<'a> {
    /// The name that the value has at run time.
    pub(super) name: &'a str,
    pub(super) of: &'a Type,
}

/// Whether a schema declares itself what every object has.
fn declares_object(schema: &Schema) -> bool {
    let is = |schema: &Schema, name: &str, of: SchemaType| {
        schema.properties.get(name).is_some_and(|field| field.schema_type == Some(of))
    };
    is(schema, "kind", SchemaType::String)
        && is(schema, "apiVersion", SchemaType::String)
        && is(schema, "metadata", SchemaType::Object)
        && schema.properties.get("metadata").is_some_and(|meta| {
            is(meta, "name", SchemaType::String) && is(meta, "generateName", SchemaType::String)
        })
}

/// A limit is in characters, of which the longest take four bytes.
fn in_bytes(characters: i64) -> i64 {
    at_least_zero(characters).saturating_mul(4)
}

fn at_least_zero(number: i64) -> i64 {
    number.max(0)
}
