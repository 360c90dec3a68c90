//! Whether a value fits its type.

use std::collections::BTreeSet;

use kubewright_schema::error::go;
use serde_json::Value;

use super::super::path::PathElement;
use super::super::schema::{ListType, MapType, Resolved, Scalar, Schema, TypeRef};
use super::super::value;
use super::{Duplicates, Nulls, Result, TypeErrors, item};

/// Checks a value.
pub(super) fn validate(
    schema: &Schema,
    ty: &TypeRef,
    value: &Value,
    duplicates: Duplicates,
    nulls: Nulls,
) -> Result<()> {
    let mut errors = TypeErrors::default();
    Validator { schema, duplicates, nulls }.visit(ty, value, &mut errors);
    errors.into_result(())
}

struct Validator<'s> {
    schema: &'s Schema,
    duplicates: Duplicates,
    nulls: Nulls,
}

impl Validator<'_> {
    fn visit(&self, ty: &TypeRef, value: &Value, errors: &mut TypeErrors) {
        let kinds = self.schema.resolve(ty).narrow(Some(value));
        if value.is_null() && self.nulls == Nulls::Refuse {
            errors.push(null_of_expression(kinds));
        } else if let Some(map) = kinds.map {
            self.visit_map(map, value, errors);
        } else if let Some(scalar) = kinds.scalar {
            if let Err(message) = check_scalar(scalar, Some(value)) {
                errors.push(message);
            }
        } else if let Some(list) = kinds.list {
            self.visit_list(list, value, errors);
        } else {
            errors.push(INVALID_ATOM);
        }
    }

    fn visit_map(&self, map: MapType<'_>, value: &Value, errors: &mut TypeErrors) {
        let entries = match value {
            Value::Object(entries) => entries,
            Value::Null => return,
            other => return errors.push(unexpected("map", other)),
        };
        for (name, value) in entries {
            let mut inner = TypeErrors::default();
            let declared = map.type_of(name);
            match declared {
                Some(ty) => self.visit(ty, value, &mut inner),
                None => inner.push("field not declared in schema"),
            }
            if inner.0.is_empty() {
                continue;
            }
            errors.extend_within(&PathElement::field(name.as_str()), inner);
            if declared.is_none() {
                return;
            }
        }
    }

    fn visit_list(&self, list: ListType<'_>, value: &Value, errors: &mut TypeErrors) {
        let items = match value {
            Value::Array(items) => items,
            Value::Null => return,
            other => return errors.push(unexpected("list", other)),
        };
        let mut seen = BTreeSet::new();
        for (i, item) in items.iter().enumerate() {
            let mut inner = TypeErrors::default();
            if list.is_atomic() {
                self.visit(list.element(), item, &mut inner);
                errors.extend_within(&format_args!("[{i}]"), inner);
                continue;
            }
            let element = match item::path_element(self.schema, list, item) {
                Ok(element) => element,
                // Without its path element the item cannot be spoken of, nor those after it.
                Err(message) => return errors.push(format!("element {i}: {message}")),
            };
            self.visit(list.element(), item, &mut inner);
            if seen.contains(&element) && self.duplicates == Duplicates::Refuse {
                errors.push(format!("duplicate entries for key {element}"));
            }
            errors.extend_within(&element, inner);
            seen.insert(element);
        }
    }
}

/// Why the null of an expression, which is a number by a name to Go, does not fit.
fn null_of_expression(kinds: Resolved<'_>) -> String {
    let expected = match (kinds.map, kinds.scalar, kinds.list) {
        (Some(_), ..) => "map",
        (None, Some(Scalar::Numeric), _) => {
            return "expected numeric (int or float), got structpb.NullValue".to_owned();
        }
        (None, Some(Scalar::String), _) => {
            return "expected string, got &value.valueUnstructured{Value:0}".to_owned();
        }
        (None, Some(Scalar::Boolean), _) => "boolean",
        (None, Some(Scalar::Untyped), _) => "any scalar",
        (None, None, Some(_)) => "list",
        (None, None, None) => return INVALID_ATOM.to_owned(),
    };
    format!("expected {expected}, got &{{NULL_VALUE}}")
}

/// A type that allows nothing.
pub(super) const INVALID_ATOM: &str = "schema error: invalid atom: inlined";

/// Checks a scalar; null and absent values fit.
pub(super) fn check_scalar(scalar: Scalar, value: Option<&Value>) -> std::result::Result<(), String> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(()) };
    match scalar {
        Scalar::Numeric if !value.is_number() => {
            Err(format!("expected numeric (int or float), got {}", go::type_name(value)))
        }
        Scalar::String if !value.is_string() => {
            let mut got = String::new();
            value::go_syntax(&mut got, value);
            Err(format!("expected string, got &value.valueUnstructured{{Value:{got}}}"))
        }
        Scalar::Boolean if !value.is_boolean() => Err(unexpected("boolean", value)),
        Scalar::Untyped if value.is_array() || value.is_object() => Err(unexpected("any scalar", value)),
        Scalar::Numeric | Scalar::String | Scalar::Boolean | Scalar::Untyped => Ok(()),
    }
}

/// Kubernetes prints the value as Go prints a struct around it.
pub(super) fn unexpected(expected: &str, value: &Value) -> String {
    let mut got = String::new();
    value::go_plain(&mut got, value);
    format!("expected {expected}, got &{{{got}}}")
}
