//! Schemas of the built-in kinds, from the table of API types.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::super::typed::ObjectType;
use super::{Atom, Field, List, Map, Scalar, Schema, SchemaBuilder, TypeRef};
use crate::types::{self, ListType, Shape, Special, Type, TypeId, Types, ValueType};

/// Full name of the type of `metadata`.
pub(super) const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

// One schema for all kinds: they share most of their types.
static BUILTIN: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    let types = Types::get();
    let mut builder = SchemaBuilder::new();
    for ty in types.iter() {
        define(&mut builder, types, ty);
    }
    let schema = builder.build();
    Arc::new(schema.unwrap_or_else(|error| unreachable!("the table refers to nothing outside it: {error}")))
});

/// The type of a built-in kind.
pub fn object_type(group: &str, version: &str, kind: &str) -> Option<ObjectType> {
    let ty = Types::get().kind(group, version, kind)?;
    ObjectType::named(&BUILTIN, &ty.name)
}

/// Defines a type and all types it uses.
pub(super) fn define(builder: &mut SchemaBuilder, types: &Types, ty: &Type) -> super::TypeId {
    let mut pending = vec![ty];
    while let Some(ty) = pending.pop() {
        if builder.is_defined(&ty.name) {
            continue;
        }
        let mut used = Vec::new();
        let atom = match ty.special {
            Some(special) => special_atom(special),
            None => struct_atom(builder, types, ty, &mut used),
        };
        builder.define(&ty.name, atom);
        pending.extend(used.into_iter().filter_map(|id| types.by_id(id)));
    }
    builder.id(&ty.name)
}

fn special_atom(special: Special) -> Atom {
    let any_map = |element| Some(Map { element: Some(element), ..Map::default() });
    let list = |element| Some(List { element, atomic: true, keys: Vec::new() });
    match special {
        Special::Time | Special::MicroTime | Special::Quantity | Special::IntOrString => {
            Atom { scalar: Some(Scalar::Untyped), ..Atom::default() }
        }
        Special::RawExtension => SchemaBuilder::untyped_atom(true),
        Special::FieldsV1 => Atom { map: any_map(Schema::deduced_type()), ..Atom::default() },
        Special::List => Atom { list: list(TypeRef::scalar(Scalar::String)), ..Atom::default() },
        Special::Json | Special::SchemaOrArray | Special::SchemaOrBool | Special::SchemaOrStringArray => {
            SchemaBuilder::untyped_atom(false)
        }
    }
}

fn struct_atom(builder: &mut SchemaBuilder, types: &Types, ty: &Type, used: &mut Vec<TypeId>) -> Atom {
    let fields: BTreeMap<Arc<str>, Field> = ty
        .fields()
        .map(|(name, field)| {
            let ty = field_type(builder, types, field, used);
            (name.into(), Field { ty, default: field.default.clone() })
        })
        .collect();
    // A struct without fields says nothing of its content.
    let element = fields.is_empty().then(Schema::deduced_type);
    Atom { map: Some(Map { fields, element, atomic: ty.atomic.unwrap_or(false) }), ..Atom::default() }
}

fn field_type(
    builder: &mut SchemaBuilder,
    types: &Types,
    field: &types::Field,
    used: &mut Vec<TypeId>,
) -> TypeRef {
    let value = value_type(builder, types, field.value, used);
    match field.shape {
        Shape::One => value.with_relationship(field.atomic),
        Shape::Map => TypeRef::inlined(Atom {
            map: Some(Map { element: Some(value), atomic: field.atomic.unwrap_or(false), ..Map::default() }),
            ..Atom::default()
        }),
        Shape::List => {
            let (atomic, keys) = match (&field.list_type, field.patch.merge, &field.merge_key) {
                (Some(ListType::Map(keys)), ..) => (false, keys.clone()),
                (Some(ListType::Set), ..) => (false, Vec::new()),
                (Some(ListType::Atomic), ..) | (None, false, _) => (true, Vec::new()),
                (None, true, key) => (false, key.iter().cloned().collect()),
            };
            let keys = keys.into_iter().map(Into::into).collect();
            let list = Some(List { element: value, atomic, keys });
            TypeRef::inlined(Atom { list, ..Atom::default() })
        }
    }
}

fn value_type(
    builder: &mut SchemaBuilder,
    types: &Types,
    value: ValueType,
    used: &mut Vec<TypeId>,
) -> TypeRef {
    match value {
        ValueType::String | ValueType::Bytes => TypeRef::scalar(Scalar::String),
        ValueType::Bool => TypeRef::scalar(Scalar::Boolean),
        ValueType::Int32 | ValueType::Int64 | ValueType::Double => TypeRef::scalar(Scalar::Numeric),
        ValueType::Any => SchemaBuilder::untyped_atomic(),
        ValueType::Message(id) => match types.by_id(id) {
            Some(ty) => {
                used.push(id);
                TypeRef::named(builder.id(&ty.name))
            }
            None => Schema::deduced_type(),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::json;

    use super::super::super::typed::Duplicates;
    use super::*;

    #[test]
    fn container_ports_are_told_apart_by_port_and_defaulted_protocol() {
        let ty = object_type("", "v1", "Pod").unwrap();
        let pod = json!({"spec": {"containers": [{"name": "web", "ports": [{"containerPort": 80}]}]}});
        let pod = ty.check(Cow::Owned(pod), Duplicates::Refuse).unwrap();
        let fields: Vec<String> = pod.field_set().unwrap().paths().iter().map(ToString::to_string).collect();
        assert_eq!(
            fields,
            [
                r#".spec.containers[name="web"]"#,
                r#".spec.containers[name="web"].name"#,
                r#".spec.containers[name="web"].ports[containerPort=80,protocol="TCP"]"#,
                r#".spec.containers[name="web"].ports[containerPort=80,protocol="TCP"].containerPort"#,
            ]
        );
    }

    #[test]
    fn selectors_are_one_field_and_unknown_fields_errors() {
        let ty = object_type("apps", "v1", "Deployment").unwrap();
        let deployment = json!({"spec": {"selector": {"matchLabels": {"a": "b"}}}});
        let deployment = ty.check(Cow::Owned(deployment), Duplicates::Refuse).unwrap();
        assert_eq!(deployment.field_set().unwrap().to_string(), ".spec.selector");
        let error = ty.check(Cow::Owned(json!({"nope": 1})), Duplicates::Refuse).unwrap_err();
        assert_eq!(error.to_string(), ".nope: field not declared in schema");
    }
}
