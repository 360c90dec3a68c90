//! Schemas of custom resources, from their structural OpenAPI schema.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::super::typed::ObjectType;
use super::builtin::{self, OBJECT_META};
use super::{Atom, Field, List, Map, Scalar, Schema, SchemaBuilder, SchemaError, TypeRef};
use crate::types::Types;

/// The type of a custom resource, from the `openAPIV3Schema` of one of its versions.
///
/// `metadata` has the type it has everywhere, whatever the schema says of it.
pub fn object_type(schema: &Value) -> Result<ObjectType, SchemaError> {
    let types = Types::get();
    let mut builder = SchemaBuilder::new();
    let metadata = match types.named(OBJECT_META) {
        Some(ty) => TypeRef::named(builtin::define(&mut builder, types, ty)),
        None => Schema::deduced_type(),
    };
    let mut reader = Reader { metadata, path: Vec::new() };
    let is_preserving = is_set(schema, "x-kubernetes-preserve-unknown-fields");
    let map = reader.map(schema, is_preserving, true)?;
    let root = TypeRef::inlined(Atom { map: Some(map), ..Atom::default() });
    Ok(ObjectType::new(Arc::new(builder.build()?), root))
}

struct Reader {
    metadata: TypeRef,
    path: Vec<String>,
}

impl Reader {
    /// `preserve` is whether a schema above keeps unknown fields.
    fn atom(&mut self, schema: &Value, preserve: bool) -> Result<Atom, SchemaError> {
        let preserve = preserve || is_set(schema, "x-kubernetes-preserve-unknown-fields");
        match schema.get("type").and_then(Value::as_str).unwrap_or_default() {
            // Without a type anything goes, int-or-string included.
            "" => Ok(Atom {
                scalar: Some(Scalar::Untyped),
                list: Some(self.list(schema, preserve, false)?),
                map: Some(self.map(schema, preserve, false)?),
            }),
            "object" => Ok(Atom { map: Some(self.map(schema, preserve, false)?), ..Atom::default() }),
            "array" => Ok(Atom { list: Some(self.list(schema, preserve, true)?), ..Atom::default() }),
            ty => Ok(Atom { scalar: Some(self.scalar(ty, schema)?), ..Atom::default() }),
        }
    }

    fn scalar(&self, ty: &str, schema: &Value) -> Result<Scalar, SchemaError> {
        match ty {
            "integer" | "number" => Ok(Scalar::Numeric),
            "boolean" => Ok(Scalar::Boolean),
            "string" => match schema.get("format").and_then(Value::as_str).unwrap_or_default() {
                "" | "byte" => Ok(Scalar::String),
                _ => Ok(Scalar::Untyped),
            },
            unknown => self.error(format!("unrecognized type: '{unknown}'")),
        }
    }

    /// `is_object` is whether the map is a whole object, with a kind and metadata.
    fn map(&mut self, schema: &Value, preserve: bool, is_object: bool) -> Result<Map, SchemaError> {
        let mut fields = BTreeMap::new();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let ty = self.within(name, property, preserve)?;
            let default = property.get("default").cloned();
            fields.insert(name.as_str().into(), Field { ty, default });
        }
        if is_object || is_set(schema, "x-kubernetes-embedded-resource") {
            for name in ["apiVersion", "kind"] {
                fields.insert(name.into(), Field { ty: TypeRef::scalar(Scalar::String), default: None });
            }
            fields.insert("metadata".into(), Field { ty: self.metadata.clone(), default: None });
        }
        let element = match schema.get("additionalProperties") {
            Some(Value::Bool(true)) => Some(Schema::deduced_type()),
            Some(Value::Bool(false)) => None,
            Some(element) => Some(self.within("*", element, preserve)?),
            None if preserve || fields.is_empty() => Some(Schema::deduced_type()),
            None => None,
        };
        let atomic = match schema.get("x-kubernetes-map-type").and_then(Value::as_str) {
            None | Some("granular") => false,
            Some("atomic") => true,
            Some(unknown) => return self.error(format!("unknown map type {unknown}")),
        };
        Ok(Map { fields, element, atomic })
    }

    fn list(&mut self, schema: &Value, preserve: bool, items_required: bool) -> Result<List, SchemaError> {
        let element = match schema.get("items") {
            Some(items) => self.within("*", items, preserve)?,
            None if items_required => return self.error("`items` must be specified on arrays".to_owned()),
            None => SchemaBuilder::untyped_atomic(),
        };
        let (atomic, keys) = match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
            None | Some("atomic") => (true, Vec::new()),
            Some("set") => (false, Vec::new()),
            Some("map") => {
                let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
                let Some(keys) = keys else { return self.error("missing map keys".to_owned()) };
                (false, keys.iter().filter_map(Value::as_str).map(Into::into).collect())
            }
            Some(unknown) => return self.error(format!("unknown list type {unknown}")),
        };
        Ok(List { element, atomic, keys })
    }

    fn within(&mut self, name: &str, schema: &Value, preserve: bool) -> Result<TypeRef, SchemaError> {
        self.path.push(name.to_owned());
        let ty = self.atom(schema, preserve).map(TypeRef::inlined)?;
        self.path.pop();
        Ok(ty)
    }

    fn error<T>(&self, message: String) -> Result<T, SchemaError> {
        Err(SchemaError::OpenApi { path: self.path.join("."), message })
    }
}

fn is_set(schema: &Value, extension: &str) -> bool {
    schema.get(extension).and_then(Value::as_bool).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::json;

    use super::super::super::typed::Duplicates;
    use super::*;

    fn fields(ty: &ObjectType, object: Value) -> String {
        let object = ty.check(Cow::Owned(object), Duplicates::Refuse).unwrap();
        object.field_set().unwrap().to_string()
    }

    #[test]
    fn topology_extensions_divide_lists_and_maps() {
        let ty = object_type(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "plain": {"type": "array", "items": {"type": "string"}},
            "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
            "port": {"x-kubernetes-int-or-string": true},
        }}}}))
        .unwrap();
        let spec = json!({"plain": ["a"], "set": ["a"], "map": [{"name": "a"}], "whole": {"a": "b"}, "port": "http"});
        assert_eq!(
            fields(&ty, json!({"apiVersion": "a/v1", "spec": spec})),
            ".apiVersion\n.spec.plain\n.spec.port\n.spec.whole\n.spec.map[name=\"a\"]\n\
             .spec.map[name=\"a\"].name\n.spec.set[=\"a\"]"
        );
    }

    #[test]
    fn preserved_fields_are_deduced_and_others_refused() {
        let closed = object_type(&json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"a": {"type": "integer"}}}}}))
        .unwrap();
        let error = closed.check(Cow::Owned(json!({"spec": {"b": 1}})), Duplicates::Refuse).unwrap_err();
        assert_eq!(error.to_string(), ".spec.b: field not declared in schema");
        let open =
            object_type(&json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})).unwrap();
        assert_eq!(fields(&open, json!({"spec": {"b": {"c": [1]}}})), ".spec\n.spec.b\n.spec.b.c");
    }

    #[test]
    fn metadata_has_its_usual_type() {
        let ty =
            object_type(&json!({"type": "object", "properties": {"metadata": {"type": "object"}}})).unwrap();
        let object = json!({"metadata": {"labels": {"a": "b"}, "finalizers": ["x/y"]}});
        assert_eq!(fields(&ty, object), ".metadata.finalizers[=\"x/y\"]\n.metadata.labels.a");
    }
}
