//! Defaults must be valid values of their schema, and hold no unknown fields.

use serde_json::{Map, Value};

use crate::{
    error::{ErrorList, FieldError, FieldPath},
    structural::Schema,
};

const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Checks all defaults of the schema of a whole object.
pub(super) fn validate(schema: &Schema, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    let surroundings = Surroundings { object: schema, steps: Vec::new(), inside_meta: false };
    node(schema, true, &surroundings, path, &mut errors);
    errors
}

/// The object that a value belongs to, and the way from there to the value.
#[derive(Clone)]
struct Surroundings<'a> {
    object: &'a Schema,
    steps: Vec<Step<'a>>,
    inside_meta: bool,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Field(&'a str),
    Item,
}

fn node<'a>(
    schema: &'a Schema,
    is_root: bool,
    surroundings: &Surroundings<'a>,
    path: &FieldPath,
    errors: &mut ErrorList,
) {
    if !schema.subtree.defaults {
        return;
    }
    let is_object = is_root || schema.embedded_resource;
    let own = Surroundings { object: schema, steps: Vec::new(), inside_meta: false };
    let surroundings = if schema.embedded_resource { &own } else { surroundings };
    if let Some(default) = &schema.default {
        errors.extend(check(schema, is_object, default, surroundings, &path.child("default")));
    }
    if let Some(items) = &schema.items {
        node(items, false, &surroundings.step(Step::Item), &path.child("items"), errors);
    }
    for (name, property) in &schema.properties {
        let mut below = surroundings.step(Step::Field(name));
        below.inside_meta |= is_object && OBJECT_FIELDS.contains(&name.as_str());
        node(property, false, &below, &path.child("properties").key(name), errors);
    }
}

fn check(
    schema: &Schema,
    is_root: bool,
    default: &Value,
    surroundings: &Surroundings<'_>,
    path: &FieldPath,
) -> ErrorList {
    let mut errors = ErrorList::new();
    if surroundings.inside_meta {
        let object = surroundings.wrap(default.clone());
        let problems = surroundings.object.validate_embedded(&object, &FieldPath::root());
        if !problems.is_empty() {
            let detail = format!("must result in valid metadata: {problems}");
            return FieldError::invalid(path, default.clone(), detail).into();
        }
    } else {
        let mut pruned = default.clone();
        schema.prune_value(&mut pruned, is_root);
        if pruned != *default {
            errors.push(FieldError::invalid(path, default.clone(), "must not have unknown fields"));
        }
        let problems = if is_root {
            schema.validate_resource(default, path)
        } else {
            schema.validate_embedded(default, path)
        };
        if !problems.is_empty() {
            errors.extend(problems);
            return errors;
        }
    }
    let problems = schema.validate_default(default, path);
    if !problems.is_empty() {
        errors.extend(problems);
        return errors;
    }
    // A default counts as an update of itself and, if that is fine, as new.
    let mut broken = schema.validate_rules_strictly(default, Some(default), path, is_root);
    if broken.is_empty() {
        broken = schema.validate_rules_strictly(default, None, path, is_root);
    }
    errors.extend(broken);
    errors
}

impl<'a> Surroundings<'a> {
    fn step(&self, step: Step<'a>) -> Self {
        let mut below = self.clone();
        below.steps.push(step);
        below
    }

    /// The smallest object that holds the value at its place.
    fn wrap(&self, value: Value) -> Value {
        let mut object = self.steps.iter().rev().fold(value, |value, step| match step {
            Step::Item => Value::Array(vec![value]),
            Step::Field(name) => Value::Object(Map::from_iter([((*name).to_owned(), value)])),
        });
        if let Some(fields) = object.as_object_mut() {
            fields.entry("apiVersion").or_insert_with(|| "validation/v1".into());
            fields.entry("kind").or_insert_with(|| "Validation".into());
        }
        object
    }
}
