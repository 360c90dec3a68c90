//! The document form of a schema: `types: [{name, scalar | list | map}]`, as the Go library and
//! generated apply configurations write it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Atom, Field, List, Map, Scalar, Schema, SchemaBuilder, SchemaError, TypeRef};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SchemaDocument {
    #[serde(default)]
    types: Vec<TypeDocument>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypeDocument {
    name: String,
    #[serde(flatten)]
    atom: AtomDocument,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AtomDocument {
    scalar: Option<String>,
    list: Option<Box<ListDocument>>,
    map: Option<Box<MapDocument>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListDocument {
    element_type: TypeRefDocument,
    element_relationship: Option<String>,
    #[serde(default)]
    keys: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MapDocument {
    #[serde(default)]
    fields: Vec<FieldDocument>,
    element_type: Option<TypeRefDocument>,
    element_relationship: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FieldDocument {
    name: String,
    #[serde(rename = "type")]
    ty: TypeRefDocument,
    default: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypeRefDocument {
    named_type: Option<String>,
    element_relationship: Option<String>,
    #[serde(flatten)]
    inlined: AtomDocument,
}

impl Schema {
    /// Reads the document form.
    pub fn from_document(document: &Value) -> Result<Self, SchemaError> {
        let document = SchemaDocument::deserialize(document).map_err(SchemaError::Document)?;
        let mut builder = SchemaBuilder::new();
        for ty in document.types {
            let atom = atom(&mut builder, ty.atom)?;
            builder.define(&ty.name, atom);
        }
        builder.build()
    }
}

fn atom(builder: &mut SchemaBuilder, document: AtomDocument) -> Result<Atom, SchemaError> {
    let scalar = document.scalar.map(|name| scalar(&name)).transpose()?;
    let list = document.list.map(|list| self::list(builder, *list)).transpose()?;
    let map = document.map.map(|map| self::map(builder, *map)).transpose()?;
    Ok(Atom { scalar, list, map })
}

fn scalar(name: &str) -> Result<Scalar, SchemaError> {
    match name {
        "numeric" => Ok(Scalar::Numeric),
        "string" => Ok(Scalar::String),
        "boolean" => Ok(Scalar::Boolean),
        "untyped" => Ok(Scalar::Untyped),
        unknown => Err(SchemaError::Scalar(unknown.to_owned())),
    }
}

fn list(builder: &mut SchemaBuilder, document: ListDocument) -> Result<List, SchemaError> {
    Ok(List {
        element: type_ref(builder, document.element_type)?,
        atomic: is_atomic(document.element_relationship.as_deref())?.unwrap_or(true),
        keys: document.keys.into_iter().map(Into::into).collect(),
    })
}

fn map(builder: &mut SchemaBuilder, document: MapDocument) -> Result<Map, SchemaError> {
    let mut fields = BTreeMap::new();
    for field in document.fields {
        let ty = type_ref(builder, field.ty)?;
        fields.insert(field.name.into(), Field { ty, default: field.default });
    }
    Ok(Map {
        fields,
        element: document.element_type.map(|ty| type_ref(builder, ty)).transpose()?,
        atomic: is_atomic(document.element_relationship.as_deref())?.unwrap_or(false),
    })
}

fn type_ref(builder: &mut SchemaBuilder, document: TypeRefDocument) -> Result<TypeRef, SchemaError> {
    let ty = match document.named_type {
        Some(name) => TypeRef::named(builder.id(&name)),
        None => TypeRef::inlined(atom(builder, document.inlined)?),
    };
    Ok(ty.with_relationship(is_atomic(document.element_relationship.as_deref())?))
}

fn is_atomic(relationship: Option<&str>) -> Result<Option<bool>, SchemaError> {
    match relationship {
        None => Ok(None),
        Some("atomic") => Ok(Some(true)),
        Some("associative" | "separable") => Ok(Some(false)),
        Some(unknown) => Err(SchemaError::Relationship(unknown.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_type_that_is_used_must_be_defined() {
        let document = json!({"types": [{"name": "a", "map": {"elementType": {"namedType": "b"}}}]});
        let error = Schema::from_document(&document).unwrap_err();
        assert_eq!(error.to_string(), r#"type "b" is used but not defined"#);
    }

    #[test]
    fn a_place_may_override_the_relationship_of_its_type() {
        let document = json!({"types": [
            {"name": "labels", "map": {"elementType": {"scalar": "string"}}},
            {"name": "a", "map": {"fields": [
                {"name": "granular", "type": {"namedType": "labels"}},
                {"name": "whole", "type": {"namedType": "labels", "elementRelationship": "atomic"}},
            ]}},
        ]});
        let schema = Schema::from_document(&document).unwrap();
        let root = schema.type_named("a").unwrap();
        let map = schema.resolve(&root).map.unwrap();
        let is_atomic = |name| schema.resolve(map.type_of(name).unwrap()).map.unwrap().is_atomic();
        assert!(!is_atomic("granular"));
        assert!(is_atomic("whole"));
    }
}
