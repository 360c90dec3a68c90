//! From JSON to a tree. Collects everything that is wrong with the shape instead of stopping at the first.

use serde_json::{Map, Value};

use super::{
    AdditionalProperties, Format, ListType, MapType, Pattern, Rule, Schema, SchemaType, Structural, Subtree,
};
use crate::{
    cel::{Compiled, Declarations},
    error::{ErrorList, FieldError, FieldPath},
};

/// Keywords of JSON schema that structural schemas do not have.
const UNSUPPORTED: [&str; 7] =
    ["$ref", "$schema", "additionalItems", "definitions", "dependencies", "id", "patternProperties"];

pub(super) fn read(schema: &Value, path: &FieldPath) -> Result<Structural, ErrorList> {
    let mut reader = Reader { path: path.clone(), errors: ErrorList::new() };
    let structural = reader.schema(schema, true);
    reader.errors.into_result(structural)
}

struct Reader {
    path: FieldPath,
    errors: ErrorList,
}

impl Reader {
    fn schema(&mut self, value: &Value, is_root: bool) -> Structural {
        let Some(object) = value.as_object() else {
            self.errors.push(wrong_type(&self.path, value, "object"));
            return Structural::default();
        };
        for keyword in UNSUPPORTED {
            if object.get(keyword).is_some_and(|value| !is_zero(value)) {
                let path = self.path.child(keyword);
                self.errors.push(FieldError::forbidden(&path, format!("{keyword} is not supported")));
            }
        }

        let mut schema = Schema {
            description: self.text(object, "description"),
            title: self.text(object, "title"),
            schema_type: self.schema_type(object, is_root),
            nullable: self.flag(object, "nullable"),
            default: object.get("default").filter(|value| !value.is_null()).cloned(),
            example: object.get("example").filter(|value| !value.is_null()).cloned(),
            external_docs: object.get("externalDocs").filter(|value| !value.is_null()).cloned(),
            properties: self
                .entries(object, "properties")
                .map(|properties| {
                    properties
                        .iter()
                        .map(|(name, property)| {
                            let length = self.path.push_child("properties");
                            self.path.push_key(name);
                            let property = self.schema(property, false);
                            self.path.truncate(length);
                            (name.clone(), property)
                        })
                        .collect()
                })
                .unwrap_or_default(),
            additional_properties: match object.get("additionalProperties") {
                None | Some(Value::Null) => None,
                Some(Value::Bool(allowed)) => Some(AdditionalProperties::Allowed(*allowed)),
                Some(schema) => {
                    Some(AdditionalProperties::Schema(self.below("additionalProperties", schema)))
                }
            },
            items: self.items(object),
            preserve_unknown_fields: self.preserve_unknown_fields(object),
            embedded_resource: self.flag(object, "x-kubernetes-embedded-resource"),
            int_or_string: self.flag(object, "x-kubernetes-int-or-string"),
            list_type: self.one_of_names(
                object,
                "x-kubernetes-list-type",
                &[("atomic", ListType::Atomic), ("set", ListType::Set), ("map", ListType::Map)],
            ),
            list_map_keys: self.texts(object, "x-kubernetes-list-map-keys"),
            map_type: self.one_of_names(
                object,
                "x-kubernetes-map-type",
                &[("atomic", MapType::Atomic), ("granular", MapType::Granular)],
            ),
            validations: self.rules(object),
            format: self.text(object, "format"),
            maximum: self.float(object, "maximum"),
            exclusive_maximum: self.flag(object, "exclusiveMaximum"),
            minimum: self.float(object, "minimum"),
            exclusive_minimum: self.flag(object, "exclusiveMinimum"),
            max_length: self.integer(object, "maxLength"),
            min_length: self.integer(object, "minLength"),
            pattern: self.pattern(object),
            max_items: self.integer(object, "maxItems"),
            min_items: self.integer(object, "minItems"),
            unique_items: self.flag(object, "uniqueItems"),
            multiple_of: self.float(object, "multipleOf"),
            enumeration: self.list(object, "enum").cloned().unwrap_or_default(),
            max_properties: self.integer(object, "maxProperties"),
            min_properties: self.integer(object, "minProperties"),
            required: self.texts(object, "required"),
            all_of: self.schemas(object, "allOf"),
            any_of: self.schemas(object, "anyOf"),
            one_of: self.schemas(object, "oneOf"),
            not: object.get("not").filter(|value| !value.is_null()).map(|not| self.below("not", not)),
            checked_format: None,
            subtree: Subtree::default(),
        };
        schema.checked_format = Format::of(&schema.format, schema.types());
        schema.subtree = subtree(&schema);
        let is_object = is_root || schema.embedded_resource;
        compile_rules(&mut schema, is_object);
        Structural::new(schema)
    }

    fn below(&mut self, keyword: &str, value: &Value) -> Structural {
        let length = self.path.push_child(keyword);
        let schema = self.schema(value, false);
        self.path.truncate(length);
        schema
    }

    fn schemas(&mut self, object: &Map<String, Value>, keyword: &str) -> Vec<Structural> {
        let Some(list) = self.list(object, keyword) else { return Vec::new() };
        list.iter()
            .enumerate()
            .map(|(index, schema)| {
                let length = self.path.push_child(keyword);
                self.path.push_index(index);
                let schema = self.schema(schema, false);
                self.path.truncate(length);
                schema
            })
            .collect()
    }

    fn items(&mut self, object: &Map<String, Value>) -> Option<Structural> {
        match object.get("items")? {
            Value::Null => None,
            Value::Array(_) => {
                let path = self.path.child("items");
                self.errors
                    .push(FieldError::forbidden(&path, "items must be a schema object and not an array"));
                None
            }
            schema => Some(self.below("items", schema)),
        }
    }

    fn schema_type(&mut self, object: &Map<String, Value>, is_root: bool) -> Option<SchemaType> {
        let name = self.text(object, "type");
        if name.is_empty() {
            return None;
        }
        let found = SchemaType::ALL.into_iter().find(|schema_type| schema_type.as_str() == name);
        if found.is_none() {
            if is_root {
                let detail = "must be object at the root";
                self.errors.push(FieldError::invalid(&self.path.child("type"), name.as_str(), detail));
            }
            let supported = SchemaType::ALL.map(SchemaType::as_str);
            self.errors.push(FieldError::not_supported(&self.path.child("type"), name, &supported));
        }
        found
    }

    fn preserve_unknown_fields(&mut self, object: &Map<String, Value>) -> bool {
        const KEYWORD: &str = "x-kubernetes-preserve-unknown-fields";
        if object.get(KEYWORD) == Some(&Value::Bool(false)) {
            let path = self.path.child(KEYWORD);
            self.errors.push(FieldError::invalid(&path, false, "must be true or undefined"));
        }
        self.flag(object, KEYWORD)
    }

    fn pattern(&mut self, object: &Map<String, Value>) -> Option<Pattern> {
        let source = self.text(object, "pattern");
        if source.is_empty() {
            return None;
        }
        match Pattern::new(&source) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let detail = format!("must be a valid regular expression, but isn't: {error}");
                self.errors.push(FieldError::invalid(&self.path.child("pattern"), source, detail));
                None
            }
        }
    }

    fn rules(&mut self, object: &Map<String, Value>) -> Vec<Rule> {
        const KEYWORD: &str = "x-kubernetes-validations";
        let Some(list) = self.list(object, KEYWORD) else { return Vec::new() };
        let length = self.path.push_child(KEYWORD);
        let mut rules = Vec::with_capacity(list.len());
        for (index, value) in list.iter().enumerate() {
            let inner = self.path.push_index(index);
            match value.as_object() {
                Some(rule) => rules.push(Rule {
                    rule: self.text(rule, "rule"),
                    message: self.text(rule, "message"),
                    message_expression: self.text(rule, "messageExpression"),
                    reason: rule.get("reason").and_then(Value::as_str).map(str::to_owned),
                    field_path: self.text(rule, "fieldPath"),
                    optional_old_self: rule.get("optionalOldSelf").and_then(Value::as_bool),
                    compiled: Compiled::default(),
                }),
                None => self.errors.push(wrong_type(&self.path, value, "object")),
            }
            self.path.truncate(inner);
        }
        self.path.truncate(length);
        rules
    }

    fn one_of_names<T: Copy>(
        &mut self,
        object: &Map<String, Value>,
        keyword: &str,
        names: &[(&str, T)],
    ) -> Option<T> {
        // An empty name is a name here, and a wrong one.
        let name = match object.get(keyword)? {
            Value::Null => return None,
            Value::String(name) => name,
            other => {
                self.errors.push(wrong_type(&self.path.child(keyword), other, "string"));
                return None;
            }
        };
        let found = names.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        if found.is_none() {
            let supported: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            self.errors.push(FieldError::not_supported(&self.path.child(keyword), name.as_str(), &supported));
        }
        found
    }

    fn text(&mut self, object: &Map<String, Value>, keyword: &str) -> String {
        match object.get(keyword) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => {
                self.errors.push(wrong_type(&self.path.child(keyword), other, "string"));
                String::new()
            }
        }
    }

    fn flag(&mut self, object: &Map<String, Value>, keyword: &str) -> bool {
        match object.get(keyword) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                self.errors.push(wrong_type(&self.path.child(keyword), other, "boolean"));
                false
            }
        }
    }

    fn integer(&mut self, object: &Map<String, Value>, keyword: &str) -> Option<i64> {
        let value = object.get(keyword).filter(|value| !value.is_null())?;
        let integer = value.as_i64();
        if integer.is_none() {
            self.errors.push(wrong_type(&self.path.child(keyword), value, "integer"));
        }
        integer
    }

    fn float(&mut self, object: &Map<String, Value>, keyword: &str) -> Option<f64> {
        let value = object.get(keyword).filter(|value| !value.is_null())?;
        let float = value.as_f64();
        if float.is_none() {
            self.errors.push(wrong_type(&self.path.child(keyword), value, "number"));
        }
        float
    }

    fn texts(&mut self, object: &Map<String, Value>, keyword: &str) -> Vec<String> {
        let Some(list) = self.list(object, keyword) else { return Vec::new() };
        let mut texts = Vec::with_capacity(list.len());
        for (index, value) in list.iter().enumerate() {
            match value {
                Value::String(text) => texts.push(text.clone()),
                other => {
                    let path = self.path.child(keyword).index(index);
                    self.errors.push(wrong_type(&path, other, "string"));
                }
            }
        }
        texts
    }

    fn list<'a>(&mut self, object: &'a Map<String, Value>, keyword: &str) -> Option<&'a Vec<Value>> {
        let value = object.get(keyword).filter(|value| !value.is_null())?;
        let list = value.as_array();
        if list.is_none() {
            self.errors.push(wrong_type(&self.path.child(keyword), value, "array"));
        }
        list
    }

    fn entries<'a>(
        &mut self,
        object: &'a Map<String, Value>,
        keyword: &str,
    ) -> Option<&'a Map<String, Value>> {
        let value = object.get(keyword).filter(|value| !value.is_null())?;
        let entries = value.as_object();
        if entries.is_none() {
            self.errors.push(wrong_type(&self.path.child(keyword), value, "object"));
        }
        entries
    }
}

/// Rules are compiled once the schema they talk about is complete.
fn compile_rules(schema: &mut Schema, is_object: bool) {
    if schema.validations.is_empty() {
        return;
    }
    let mut rules = std::mem::take(&mut schema.validations);
    let declarations = Declarations::new(schema, is_object);
    for rule in &mut rules {
        rule.compiled = Compiled::new(rule, declarations.as_ref());
    }
    schema.validations = rules;
}

fn wrong_type(path: &FieldPath, value: &Value, expected: &str) -> FieldError {
    FieldError::type_invalid(path, value.clone(), format!("must be of type {expected}"))
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Object(object) => object.is_empty(),
        _ => false,
    }
}

fn subtree(schema: &Schema) -> Subtree {
    let mut subtree = Subtree {
        lists: matches!(schema.list_type, Some(ListType::Set | ListType::Map)),
        embedded: schema.embedded_resource,
        rules: !schema.validations.is_empty(),
        defaults: schema.default.is_some(),
    };
    // Value validations hold none of these, so only the structure counts.
    for child in schema.properties.values().chain(schema.additional_schema()).chain(&schema.items) {
        subtree.lists |= child.subtree.lists;
        subtree.embedded |= child.subtree.embedded;
        subtree.rules |= child.subtree.rules;
        subtree.defaults |= child.subtree.defaults;
    }
    subtree
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_what_is_written() {
        let schema = Structural::parse(&json!({
            "type": "object",
            "description": "a thing",
            "required": ["list"],
            "properties": {
                "list": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "properties": {"name": {"type": "string", "default": "x"}}},
                },
                "any": {"x-kubernetes-preserve-unknown-fields": true},
                "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
                "labels": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 3}},
            },
        }))
        .unwrap();
        assert_eq!(schema.description, "a thing");
        assert_eq!(schema.required, ["list"]);
        let list = &schema.properties["list"];
        assert_eq!(list.list_type, Some(ListType::Map));
        assert_eq!(list.list_map_keys, ["name"]);
        assert!(list.subtree.defaults && list.subtree.lists && !list.subtree.rules);
        assert_eq!(schema.properties["labels"].additional_schema().unwrap().max_length, Some(3));
        assert_eq!(schema.field("labels").unwrap().field("any").unwrap().max_length, Some(3));
        assert_eq!(schema.properties["port"].types(), [SchemaType::Integer, SchemaType::String]);
    }

    #[test]
    fn collects_all_errors_of_the_shape() {
        let errors = Structural::parse_at(
            &json!({
                "type": "object",
                "$ref": "#/x",
                "properties": {
                    "a": {"type": "thing"},
                    "b": {"type": "string", "pattern": "("},
                    "c": {"type": "array", "items": [{}], "x-kubernetes-list-type": "bag"},
                    "d": {"type": "object", "x-kubernetes-preserve-unknown-fields": false, "maxItems": "3"},
                },
            }),
            &FieldPath::new("schema"),
        )
        .unwrap_err();
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(texts[0], "schema.$ref: Forbidden: $ref is not supported");
        assert_eq!(
            texts[1],
            r#"schema.properties[a].type: Unsupported value: "thing": supported values: "array", "boolean", "integer", "number", "object", "string""#
        );
        assert!(texts[2].starts_with(
            r#"schema.properties[b].pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: "#
        ));
        assert_eq!(
            texts[3..],
            [
                "schema.properties[c].items: Forbidden: items must be a schema object and not an array",
                r#"schema.properties[c].x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map""#,
                "schema.properties[d].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined",
                r#"schema.properties[d].maxItems: Invalid value: "3": must be of type integer"#,
            ]
        );
    }
}
