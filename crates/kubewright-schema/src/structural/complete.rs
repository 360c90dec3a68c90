//! Completeness: a field that a value validation talks about must be declared in the structure.

use super::{Schema, Structural};
use crate::error::{ErrorList, FieldError, FieldPath};

pub(super) fn check(schema: &Structural, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    validation(schema, schema, path, path, &mut errors);
    errors
}

/// `validation` stands at `validation_path` and talks about the values of `structure`.
fn validation(
    validation: &Schema,
    structure: &Schema,
    structure_path: &FieldPath,
    validation_path: &FieldPath,
    errors: &mut ErrorList,
) {
    if let Some(not) = &validation.not {
        nested(not, Some(structure), structure_path, &validation_path.child("not"), errors);
    }
    for (keyword, schemas) in
        [("allOf", &validation.all_of), ("anyOf", &validation.any_of), ("oneOf", &validation.one_of)]
    {
        for (index, schema) in schemas.iter().enumerate() {
            let path = validation_path.child(keyword).index(index);
            nested(schema, Some(structure), structure_path, &path, errors);
        }
    }
}

fn nested(
    schema: &Schema,
    structure: Option<&Schema>,
    structure_path: &FieldPath,
    path: &FieldPath,
    errors: &mut ErrorList,
) {
    let Some(structure) = structure else {
        errors.push(FieldError::required(structure_path, format!("because it is defined in {path}")));
        return;
    };
    validation(schema, structure, structure_path, path, errors);
    if let Some(items) = &schema.items {
        nested(
            items,
            structure.items.as_deref(),
            &structure_path.child("items"),
            &path.child("items"),
            errors,
        );
    }
    for (name, property) in &schema.properties {
        nested(
            property,
            structure.properties.get(name).map(|property| &**property),
            &structure_path.child("properties").key(name),
            &path.child("properties").key(name),
            errors,
        );
    }
}
