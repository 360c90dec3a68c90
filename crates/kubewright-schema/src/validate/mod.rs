//! Validation of values against a schema, with the messages of a real API server.
//!
//! [`Schema::validate`] is the whole check of a custom resource's content. Its parts stand alone for callers
//! that need another order: `values.rs` (types, bounds, required fields), `embedded.rs` (the meta of embedded
//! resources) and `lists.rs` (unique items). On updates `correlate.rs` finds the old value of a new one,
//! because an unchanged part of an object stays accepted under a schema that became stricter.

mod correlate;
mod embedded;
mod lists;
mod numbers;
mod text_format;
mod values;

use serde_json::Value;
use values::Reading;

pub(crate) use correlate::{Correlated, old_item};

use crate::{
    error::{ErrorList, FieldPath},
    structural::Schema,
};

impl Schema {
    /// Checks a value: types and bounds, embedded resources, unique items, CEL rules. Error paths start below `path`;
    /// with the root path, the value is taken for a whole Kubernetes object.
    ///
    /// With `old`, the value is an update of it: errors in unchanged parts are left out. Metadata at the root
    /// is not looked at.
    ///
    /// ```
    /// use kubewright_schema::{FieldPath, Structural};
    /// use serde_json::json;
    ///
    /// let schema = Structural::parse(&json!({
    ///     "type": "object",
    ///     "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}}},
    /// }))
    /// .unwrap();
    /// let errors = schema.validate(&json!({"spec": {"size": 0}}), None, &FieldPath::root());
    /// assert_eq!(
    ///     errors.to_string(),
    ///     "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1",
    /// );
    /// ```
    pub fn validate(&self, value: &Value, old: Option<&Value>, path: &FieldPath) -> ErrorList {
        let mut errors = self.validate_values(value, old, path);
        errors.extend(self.validate_embedded(value, path));
        errors.extend(self.validate_lists(value, old, path));
        self.validate_rules_after(errors, value, old, path, path.is_root()).errors
    }

    /// The part of [`Schema::validate`] that looks at each value by itself.
    pub fn validate_values(&self, value: &Value, old: Option<&Value>, path: &FieldPath) -> ErrorList {
        values::validate(self, value, old, path, Reading::Objects)
    }

    /// [`Schema::validate_values`] for a default of this schema.
    pub(crate) fn validate_default(&self, value: &Value, path: &FieldPath) -> ErrorList {
        values::validate(self, value, None, path, Reading::Defaults)
    }

    /// The part of [`Schema::validate`] that looks at the meta of embedded resources.
    pub fn validate_embedded(&self, value: &Value, path: &FieldPath) -> ErrorList {
        embedded::validate(self, value, path, false)
    }

    /// [`Schema::validate_embedded`] for a value that is a resource itself.
    pub(crate) fn validate_resource(&self, value: &Value, path: &FieldPath) -> ErrorList {
        embedded::validate(self, value, path, true)
    }

    /// The part of [`Schema::validate`] that looks for duplicates in lists of type set and map. If the old value
    /// had any, the new one may have some too.
    pub fn validate_lists(&self, value: &Value, old: Option<&Value>, path: &FieldPath) -> ErrorList {
        if old.is_some_and(|old| !lists::validate(self, old, path).is_empty()) {
            return ErrorList::new();
        }
        lists::validate(self, value, path)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::Structural;

    fn field(schema: &Value) -> Structural {
        Structural::parse(&json!({
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": {"x": schema}}},
        }))
        .unwrap()
    }

    fn texts(errors: &ErrorList) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    fn errors(schema: &Value, value: &Value) -> Vec<String> {
        texts(&field(schema).validate(&json!({"spec": {"x": value}}), None, &FieldPath::root()))
    }

    #[test]
    fn messages() {
        let object = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        let cases = [
            (
                json!({"type": "integer"}),
                json!("s"),
                "spec.x: Invalid value: \"string\": spec.x in body must be of type integer: \"string\"",
            ),
            (
                json!({"type": "integer"}),
                json!(null),
                "spec.x: Invalid value: \"null\": spec.x in body must be of type integer: \"null\"",
            ),
            (
                json!({"type": "integer", "format": "int32"}),
                json!(true),
                "spec.x: Invalid value: \"\": spec.x in body must be of type int32: \"\"",
            ),
            (
                json!({"x-kubernetes-int-or-string": true}),
                json!(true),
                "spec.x: Invalid value: \"boolean\": spec.x in body must be of type integer,string: \"boolean\"",
            ),
            (
                json!({"type": "integer", "format": "int32"}),
                json!(2_147_483_648_i64),
                "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in spec.x",
            ),
            (
                json!({"type": "integer", "minimum": 1}),
                json!(0),
                "spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1",
            ),
            (
                json!({"type": "integer", "maximum": 1, "exclusiveMaximum": true}),
                json!(1),
                "spec.x: Invalid value: 1: spec.x in body should be less than 1",
            ),
            (
                json!({"type": "number", "maximum": 1.5}),
                json!(1.6),
                "spec.x: Invalid value: 1.6: spec.x in body should be less than or equal to 1.5",
            ),
            (
                json!({"type": "integer", "multipleOf": 3}),
                json!(4),
                "spec.x: Invalid value: 4: spec.x in body should be a multiple of 3",
            ),
            (
                json!({"type": "string", "maxLength": 2}),
                json!("abc"),
                "spec.x: Too long: may not be more than 2 bytes",
            ),
            (
                json!({"type": "string", "minLength": 2}),
                json!("a"),
                "spec.x: Invalid value: \"a\": spec.x in body should be at least 2 chars long",
            ),
            (
                json!({"type": "string", "pattern": "^a+$"}),
                json!("b"),
                "spec.x: Invalid value: \"b\": spec.x in body should match '^a+$'",
            ),
            (
                json!({"type": "string", "format": "ipv4"}),
                json!("b"),
                "spec.x: Invalid value: \"b\": spec.x in body must be of type ipv4: \"b\"",
            ),
            (
                json!({"type": "string", "enum": ["b", "a"]}),
                json!("c"),
                "spec.x: Unsupported value: \"c\": supported values: \"b\", \"a\"",
            ),
            (
                json!({"type": "integer", "enum": [1, 2]}),
                json!(3),
                "spec.x: Unsupported value: 3: supported values: \"1\", \"2\"",
            ),
            (
                json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
                json!([]),
                "spec.x: Invalid value: 0: spec.x in body should have at least 1 items",
            ),
            (
                json!({"type": "array", "items": {"type": "string"}, "maxItems": 1}),
                json!(["a", "b"]),
                "spec.x: Too many: 2: must have at most 1 item",
            ),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                json!(["a", 1]),
                "spec.x[1]: Invalid value: \"integer\": spec.x[1] in body must be of type string: \"integer\"",
            ),
            (object.clone(), json!({}), "spec.x.a: Required value"),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                json!({"k": 1}),
                "spec.x.k: Invalid value: \"integer\": spec.x.k in body must be of type string: \"integer\"",
            ),
            (
                json!({"type": "object", "minProperties": 1}),
                json!({}),
                "spec.x: Invalid value: 0: spec.x in body should have at least 1 properties",
            ),
            (
                json!({"type": "string", "not": {"enum": ["a"]}}),
                json!("a"),
                "<nil>: Invalid value: \"\": \"spec.x\" must not validate the schema (not)",
            ),
            (
                json!({"type": "string", "oneOf": [{"minLength": 1}, {"maxLength": 2}]}),
                json!("a"),
                "<nil>: Invalid value: \"\": \"spec.x\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
            ),
            (
                json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
                json!(["a", "b", "a", "a"]),
                "spec.x[2]: Duplicate value: \"a\"",
            ),
            (
                json!({"type": "array", "items": object, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]}),
                json!([{"a": "k"}, {"a": "k"}]),
                "spec.x[1]: Duplicate value: {\"a\":\"k\"}",
            ),
            (
                json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}),
                json!({"apiVersion": "a/b/c", "kind": "K"}),
                "spec.x.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c",
            ),
        ];
        for (schema, value, message) in cases {
            assert_eq!(errors(&schema, &value), [message], "{schema}");
        }
    }

    #[test]
    fn an_alternative_that_fails_shows_the_errors_of_the_closest() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "anyOf": [
            {"required": ["a"]},
            {"required": ["b"], "properties": {"b": {"minLength": 3}}},
        ]});
        assert_eq!(
            errors(&schema, &json!({"b": "x"})),
            [
                "<nil>: Invalid value: \"\": \"spec.x\" must validate at least one schema (anyOf)",
                "spec.x.b: Invalid value: \"x\": spec.x.b in body should be at least 3 chars long",
            ]
        );
    }

    #[test]
    fn what_is_valid_stays_silent() {
        let cases = [
            (json!({"type": "integer"}), json!(1.0)),
            (json!({"type": "number"}), json!(1)),
            (json!({"type": "string", "nullable": true}), json!(null)),
            (json!({"type": "string", "format": "made-up"}), json!("x")),
            (json!({"x-kubernetes-int-or-string": true}), json!("80%")),
            (json!({"x-kubernetes-preserve-unknown-fields": true}), json!([1, "a", {}])),
            (json!({"type": "string", "oneOf": [{"minLength": 3}, {"maxLength": 2}]}), json!("a")),
        ];
        for (schema, value) in cases {
            assert_eq!(errors(&schema, &value), Vec::<String>::new(), "{schema}");
        }
    }

    #[test]
    fn unchanged_parts_of_an_update_are_tolerated() {
        let schema = Structural::parse(&json!({"type": "object", "properties": {
            "a": {"type": "string", "maxLength": 1},
            "b": {"type": "string", "maxLength": 1},
            "atomic": {"type": "array", "items": {"type": "string", "maxLength": 1}},
            "keyed": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"}, "v": {"type": "string", "maxLength": 1},
                }},
            },
        }}))
        .unwrap();
        let old =
            json!({"a": "long", "b": "long", "atomic": ["long"], "keyed": [{"name": "n", "v": "long"}]});
        let new = json!({
            "a": "long", "b": "longer", "atomic": ["long", "x"],
            "keyed": [{"name": "m", "v": "long"}, {"name": "n", "v": "long"}],
        });
        let fields = |errors: &ErrorList| errors.iter().map(|error| error.field.clone()).collect::<Vec<_>>();
        assert_eq!(
            fields(&schema.validate(&new, Some(&old), &FieldPath::root())),
            ["atomic[0]", "b", "keyed[0].v"]
        );
        assert!(schema.validate(&old, Some(&old), &FieldPath::root()).is_empty());
        assert_eq!(schema.validate(&old, None, &FieldPath::root()).len(), 4);
    }

    #[test]
    fn items_without_all_their_keys_have_no_old_version() {
        let schema = field(&json!({
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {
                "name": {"type": "string"}, "v": {"type": "string", "maxLength": 1},
            }},
        }));
        let object = json!({"spec": {"x": [{"v": "long"}]}});
        assert_eq!(schema.validate(&object, Some(&object), &FieldPath::root()).len(), 1);
    }

    #[test]
    fn duplicates_are_tolerated_if_there_were_some() {
        let schema =
            field(&json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}));
        let old = json!({"spec": {"x": ["a", "a"]}});
        let new = json!({"spec": {"x": ["b", "b"]}});
        assert_eq!(schema.validate_lists(&new, None, &FieldPath::root()).len(), 1);
        assert!(schema.validate_lists(&new, Some(&old), &FieldPath::root()).is_empty());
    }

    #[test]
    fn a_prefix_goes_before_the_field_and_not_into_the_message() {
        let schema =
            Structural::parse(&json!({"type": "object", "properties": {"size": {"type": "integer"}}}))
                .unwrap();
        assert_eq!(
            texts(&schema.validate(&json!({"size": "x"}), None, &FieldPath::new("status"))),
            ["status.size: Invalid value: \"string\": size in body must be of type integer: \"string\""]
        );
    }
}
