//! The rules that make a schema structural: types are stated once, outside of value validations, and the
//! meta of objects is not restricted.

use serde_json::Value;

use super::{AdditionalProperties, Schema, SchemaType, Structural};
use crate::error::{ErrorList, FieldError, FieldPath};

/// Where in the structure a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

pub(super) fn check(schema: &Structural, path: &FieldPath) -> ErrorList {
    let mut checker = Checker { path: path.clone(), errors: ErrorList::new() };
    checker.structure(schema, Level::Root);
    checker.errors
}

struct Checker {
    path: FieldPath,
    errors: ErrorList,
}

impl Checker {
    fn structure(&mut self, schema: &Schema, level: Level) {
        if schema.schema_type == Some(SchemaType::Array) && schema.items.is_none() {
            self.required("items", "must be specified");
        }
        if let Some(items) = &schema.items {
            self.below("items", None, |checker| checker.structure(items, Level::Item));
        }
        for (name, property) in &schema.properties {
            self.below("properties", Some(name), |checker| checker.structure(property, Level::Field));
        }
        if let Some(additional) = &schema.additional_properties {
            if level == Level::Root {
                self.forbidden("additionalProperties", "must not be used at the root");
            }
            if let AdditionalProperties::Schema(additional) = additional {
                self.below("additionalProperties", None, |checker| {
                    checker.structure(additional, Level::Field);
                });
            }
        }
        self.extensions(schema);
        self.value_validation(
            schema,
            is_int_or_string(&schema.any_of),
            starts_with_int_or_string(&schema.all_of),
        );
        self.own_type(schema, level);
        self.meta(schema, level);
        if schema.embedded_resource && !schema.preserve_unknown_fields && schema.properties.is_empty() {
            self.required(
                "properties",
                "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
            );
        }
    }

    fn extensions(&mut self, schema: &Schema) {
        const REASON: &str = "must be false if x-kubernetes-int-or-string is true";
        if schema.int_or_string && schema.preserve_unknown_fields {
            self.invalid("x-kubernetes-preserve-unknown-fields", true, REASON);
        }
        if schema.int_or_string && schema.embedded_resource {
            self.invalid("x-kubernetes-embedded-resource", true, REASON);
        }
    }

    fn own_type(&mut self, schema: &Schema, level: Level) {
        match schema.schema_type {
            Some(SchemaType::Object) => {}
            None if schema.embedded_resource => {
                self.required("type", "must be object if x-kubernetes-embedded-resource is true");
            }
            Some(other) if schema.embedded_resource => {
                self.invalid(
                    "type",
                    other.as_str(),
                    "must be object if x-kubernetes-embedded-resource is true",
                );
            }
            None if !schema.int_or_string && !schema.preserve_unknown_fields => self.required(
                "type",
                match level {
                    Level::Root => "must not be empty at the root",
                    Level::Item => "must not be empty for specified array items",
                    Level::Field => "must not be empty for specified object fields",
                },
            ),
            _ => {}
        }
        if schema.embedded_resource && schema.additional_properties.is_some() {
            self.forbidden(
                "additionalProperties",
                "must not be used if x-kubernetes-embedded-resource is set",
            );
        }
        if let Some(other) = schema.schema_type
            && level == Level::Root
            && other != SchemaType::Object
        {
            self.invalid("type", other.as_str(), "must be object at the root");
        }
    }

    fn meta(&mut self, schema: &Schema, level: Level) {
        let is_object_root = level == Level::Root || schema.embedded_resource;
        for name in ["kind", "apiVersion"] {
            if let Some(property) = schema.properties.get(name)
                && is_object_root
                && property.schema_type != Some(SchemaType::String)
            {
                let found = type_name(property);
                self.below("properties", Some(name), |checker| {
                    checker.invalid("type", found, "must be string");
                });
            }
        }
        let Some(metadata) = schema.properties.get("metadata") else { return };
        self.below("properties", Some("metadata"), |checker| {
            if is_object_root && metadata.schema_type != Some(SchemaType::Object) {
                checker.invalid("type", type_name(metadata), "must be object");
            }
            if level == Level::Root && !restricts_only_names(metadata) {
                checker.errors.push(FieldError::forbidden(
                    &checker.path,
                    "must not specify anything other than name and generateName, but metadata is implicitly specified",
                ));
            }
        });
    }

    fn value_validation(&mut self, schema: &Schema, skip_any_of: bool, skip_first_any_of: bool) {
        if !skip_any_of {
            self.nested_list("anyOf", &schema.any_of, false);
        }
        self.nested_list("allOf", &schema.all_of, skip_first_any_of);
        self.nested_list("oneOf", &schema.one_of, false);
        if let Some(not) = &schema.not {
            self.below("not", None, |checker| checker.nested(not, false));
        }
    }

    fn nested_list(&mut self, keyword: &str, schemas: &[Structural], skip_first_any_of: bool) {
        for (index, schema) in schemas.iter().enumerate() {
            let length = self.path.push_child(keyword);
            self.path.push_index(index);
            self.nested(schema, skip_first_any_of && index == 0);
            self.path.truncate(length);
        }
    }

    /// A node under `allOf`, `anyOf`, `oneOf` or `not` may hold value validations only.
    fn nested(&mut self, schema: &Schema, skip_any_of: bool) {
        self.value_validation(schema, skip_any_of, false);
        if let Some(items) = &schema.items {
            self.below("items", None, |checker| checker.nested(items, false));
        }
        for (name, property) in &schema.properties {
            self.below("properties", Some(name), |checker| checker.nested(property, false));
        }

        let forbidden = [
            (schema.schema_type.is_some(), "type", "must be empty to be structural"),
            (
                !matches!(schema.additional_properties, None | Some(AdditionalProperties::Allowed(false))),
                "additionalProperties",
                "must be undefined to be structural",
            ),
            (schema.default.is_some(), "default", "must be undefined to be structural"),
            (!schema.title.is_empty(), "title", "must be empty to be structural"),
            (!schema.description.is_empty(), "description", "must be empty to be structural"),
            (schema.nullable, "nullable", "must be false to be structural"),
            (
                schema.preserve_unknown_fields,
                "x-kubernetes-preserve-unknown-fields",
                "must be false to be structural",
            ),
            (schema.embedded_resource, "x-kubernetes-embedded-resource", "must be false to be structural"),
            (schema.int_or_string, "x-kubernetes-int-or-string", "must be false to be structural"),
            (
                !schema.list_map_keys.is_empty(),
                "x-kubernetes-list-map-keys",
                "must be empty to be structural",
            ),
            (schema.list_type.is_some(), "x-kubernetes-list-type", "must be undefined to be structural"),
            (schema.map_type.is_some(), "x-kubernetes-map-type", "must be undefined to be structural"),
            (!schema.validations.is_empty(), "x-kubernetes-validations", "must be empty to be structural"),
        ];
        for (broken, keyword, reason) in forbidden {
            if broken {
                self.forbidden(keyword, reason);
            }
        }
        if schema.properties.contains_key("metadata") {
            self.below("properties", Some("metadata"), |checker| {
                let error = FieldError::forbidden(&checker.path, "must not be specified in a nested context");
                checker.errors.push(error);
            });
        }
    }

    fn below(&mut self, keyword: &str, key: Option<&str>, visit: impl FnOnce(&mut Self)) {
        let length = self.path.push_child(keyword);
        if let Some(key) = key {
            self.path.push_key(key);
        }
        visit(self);
        self.path.truncate(length);
    }

    fn required(&mut self, keyword: &str, detail: &str) {
        self.errors.push(FieldError::required(&self.path.child(keyword), detail));
    }

    fn invalid(&mut self, keyword: &str, value: impl Into<Value>, detail: &str) {
        self.errors.push(FieldError::invalid(&self.path.child(keyword), value, detail));
    }

    fn forbidden(&mut self, keyword: &str, detail: &str) {
        self.errors.push(FieldError::forbidden(&self.path.child(keyword), detail));
    }
}

fn type_name(schema: &Schema) -> &'static str {
    schema.schema_type.map_or("", SchemaType::as_str)
}

/// The meta of the root is given; a schema may only validate the name and the generated name.
fn restricts_only_names(metadata: &Schema) -> bool {
    let mut rest = metadata.clone();
    if rest.properties.keys().all(|name| name == "name" || name == "generateName") {
        rest.properties.clear();
    }
    rest.schema_type = None;
    rest.default = None;
    rest.subtree = Schema::default().subtree;
    rest == Schema::default()
}

/// The one place where types may be repeated: `anyOf: [{type: integer}, {type: string}]`.
fn is_int_or_string(any_of: &[Structural]) -> bool {
    let is_only = |schema: &Structural, schema_type| {
        **schema == Schema { schema_type: Some(schema_type), ..Schema::default() }
    };
    matches!(any_of, [first, second] if is_only(first, SchemaType::Integer) && is_only(second, SchemaType::String))
}

fn starts_with_int_or_string(all_of: &[Structural]) -> bool {
    all_of.first().is_some_and(|first| is_int_or_string(&first.any_of))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn errors(schema: &Value) -> Vec<String> {
        match Structural::parse(schema) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn accepts_the_forms_of_int_or_string() {
        let any_of = json!([{"type": "integer"}, {"type": "string"}]);
        for port in [
            json!({"x-kubernetes-int-or-string": true}),
            json!({"x-kubernetes-int-or-string": true, "anyOf": any_of}),
            json!({"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": any_of}, {"pattern": "^a"}]}),
        ] {
            let schema = json!({"type": "object", "properties": {"port": port}});
            assert_eq!(errors(&schema), Vec::<String>::new(), "{schema}");
        }
    }

    #[test]
    fn names_every_breach() {
        let cases = [
            (json!({}), "type: Required value: must not be empty at the root"),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                "type: Invalid value: \"array\": must be object at the root",
            ),
            (
                json!({"type": "object", "properties": {"x": {}}}),
                "properties[x].type: Required value: must not be empty for specified object fields",
            ),
            (
                json!({"type": "object", "properties": {"x": {"type": "array", "items": {}}}}),
                "properties[x].items.type: Required value: must not be empty for specified array items",
            ),
            (
                json!({"type": "object", "properties": {"x": {"type": "array"}}}),
                "properties[x].items: Required value: must be specified",
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                "additionalProperties: Forbidden: must not be used at the root",
            ),
            (
                json!({"type": "object", "properties": {"x": {"type": "string", "anyOf": [{"type": "string"}]}}}),
                "properties[x].anyOf[0].type: Forbidden: must be empty to be structural",
            ),
            (
                json!({"type": "object", "not": {"properties": {"x": {"minLength": 1}}}}),
                "properties[x]: Required value: because it is defined in not.properties[x]",
            ),
            (
                json!({"type": "object", "properties": {"x": {"type": "string", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}}}),
                "properties[x].type: Invalid value: \"string\": must be object if x-kubernetes-embedded-resource is true",
            ),
            (
                json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}}),
                "properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified",
            ),
            (
                json!({"type": "object", "properties": {"kind": {"type": "integer"}}}),
                "properties[kind].type: Invalid value: \"integer\": must be string",
            ),
        ];
        for (schema, message) in cases {
            assert_eq!(errors(&schema), [message], "{schema}");
        }
    }

    #[test]
    fn metadata_may_restrict_names() {
        let schema = json!({"type": "object", "properties": {"metadata": {
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": 5}},
        }}});
        assert_eq!(errors(&schema), Vec::<String>::new());
    }
}
