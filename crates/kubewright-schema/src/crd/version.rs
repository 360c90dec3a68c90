use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    items, schema,
    shared::{Part, Version},
    text,
};
use crate::{
    error::{ErrorList, FieldError, FieldPath, go},
    jsonpath::{Brackets, resolve},
    structural::{SchemaType, Structural},
};

const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: [&str; 8] =
    ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const MOST_SELECTABLE_FIELDS: i64 = 8;

/// Checks what a version does not share with the others. `is_stored` tells whether its schema is stored already.
pub(super) fn validate(
    version: &Version<'_>,
    has_status: bool,
    is_stored: bool,
    path: &FieldPath,
    errors: &mut ErrorList,
) {
    deprecation(version.version, path, errors);
    let own_schema = version.part(Part::Schema).map(|schema| &schema["openAPIV3Schema"]);
    if let Some(own) = own_schema {
        schema::validate(own, has_status, is_stored, &path.child("schema"), errors);
    }
    if let Some(own) = version.part(Part::Subresources) {
        subresources(own, &path.child("subresources"), errors);
    }
    if let Some(own) = version.part(Part::Columns) {
        columns(own, &path.child("additionalPrinterColumns"), errors);
    }
    if let Some(own) = version.part(Part::SelectableFields) {
        let path = path.child("selectableFields");
        match own_schema.filter(|schema| !schema.is_null()) {
            None => {
                let detail = "may only be set when `version.schema.openAPIV3Schema` is not included";
                errors.push(FieldError::invalid(&path, "", detail));
            }
            Some(schema) => selectable_fields(own, schema, &path, errors),
        }
    }
}

fn deprecation(version: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let Some(warning) = version["deprecationWarning"].as_str() else { return };
    let mut misfit = |detail: String| {
        errors.push(FieldError::invalid(&path.child("deprecationWarning"), warning, detail));
    };
    if version["deprecated"] != true {
        misfit("can only be set for deprecated versions".to_owned());
        return;
    }
    if warning.len() > 256 {
        misfit("must be <= 256 characters long".to_owned());
    }
    if warning.is_empty() {
        misfit("must not be an empty string".to_owned());
    }
    if let Some((index, _)) = warning.char_indices().find(|(_, c)| !go::is_printable(*c)) {
        misfit(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {index}"
        ));
    }
}

pub(super) fn subresources(subresources: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let scale = &subresources["scale"];
    if scale.is_null() {
        return;
    }
    for (name, prefix) in [("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")] {
        let value = text(&scale[name]);
        let path = path.child("scale").child(name);
        if value.is_empty() {
            errors.push(FieldError::required(&path, ""));
        } else if let Some(error) = simple_path(value, &path) {
            errors.push(error);
        } else if !value.starts_with(&format!("{prefix}.")) {
            errors.push(FieldError::invalid(&path, value, format!("should be a json path under {prefix}")));
        }
    }
    let selector = text(&scale["labelSelectorPath"]);
    let path = path.child("scale").child("labelSelectorPath");
    if selector.is_empty() {
    } else if let Some(error) = simple_path(selector, &path) {
        errors.push(error);
    } else if !selector.starts_with(".spec.") && !selector.starts_with(".status.") {
        let detail = "should be a json path under either .spec or .status";
        errors.push(FieldError::invalid(&path, selector, detail));
    }
}

pub(super) fn columns(columns: &Value, path: &FieldPath, errors: &mut ErrorList) {
    for (index, column) in items(Some(columns)).iter().enumerate() {
        let path = path.index(index);
        if text(&column["name"]).is_empty() {
            errors.push(FieldError::required(&path.child("name"), ""));
        }
        let column_type = text(&column["type"]);
        let detail = format!("must be one of {}", COLUMN_TYPES.join(","));
        if column_type.is_empty() {
            errors.push(FieldError::required(&path.child("type"), detail));
        } else if !COLUMN_TYPES.contains(&column_type) {
            errors.push(FieldError::invalid(&path.child("type"), column_type, detail));
        }
        let format = text(&column["format"]);
        if !format.is_empty() && !COLUMN_FORMATS.contains(&format) {
            let detail = format!("must be one of {}", COLUMN_FORMATS.join(","));
            errors.push(FieldError::invalid(&path.child("format"), format, detail));
        }
        let json_path = text(&column["jsonPath"]);
        let path = path.child("JSONPath");
        if json_path.is_empty() {
            errors.push(FieldError::required(&path, ""));
        } else {
            errors.extend(simple_path(json_path, &path));
        }
    }
}

pub(super) fn selectable_fields(fields: &Value, schema: &Value, path: &FieldPath, errors: &mut ErrorList) {
    // A schema that cannot be read has errors of its own.
    let Ok(schema) = Structural::read_at(schema, &FieldPath::root()) else { return };
    let mut unique = BTreeSet::new();
    for (index, field) in items(Some(fields)).iter().enumerate() {
        let path = path.index(index).child("jsonPath");
        let json_path = text(&field["jsonPath"]);
        if json_path.is_empty() {
            errors.push(FieldError::required(&path, ""));
            continue;
        }
        let (found, field_schema) = match resolve(json_path, &schema, Brackets::Forbidden) {
            Ok(found) => found,
            Err(reason) => {
                errors.push(FieldError::invalid(&path, json_path, format!("is an invalid path: {reason}")));
                continue;
            }
        };
        if found.as_str().split(['.', '[']).next() == Some("metadata") {
            errors.push(FieldError::invalid(&path, json_path, "must not point to fields in metadata"));
        }
        let selectable = [SchemaType::String, SchemaType::Boolean, SchemaType::Integer];
        if !field_schema.schema_type.is_some_and(|schema_type| selectable.contains(&schema_type)) {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings \
                          with formats are allowed.";
            errors.push(FieldError::invalid(&path, json_path, detail));
        }
        if !unique.insert(found) {
            errors.push(FieldError::duplicate(&path, json_path));
        }
    }
    let count = i64::try_from(unique.len()).unwrap_or(i64::MAX);
    if count > MOST_SELECTABLE_FIELDS {
        errors.push(FieldError::too_many(path, count, MOST_SELECTABLE_FIELDS));
    }
}

fn simple_path(value: &str, path: &FieldPath) -> Option<FieldError> {
    (!value.starts_with('.'))
        .then(|| FieldError::invalid(path, value, "must be a simple json path starting with ."))
}
