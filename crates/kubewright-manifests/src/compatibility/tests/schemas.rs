//! Changes of schemas.

use serde_json::{Value, json};

use super::{both_ways, changes, crd, field, with};

#[test]
fn changes_of_a_value() {
    let text = || json!({"type": "string"});
    let cases: Vec<(Value, Value, &str, &str)> = vec![
        (
            text(),
            json!({"type": "integer"}),
            "unsafe type-changed .spec.x type",
            "unsafe type-changed .spec.x type",
        ),
        (
            json!({"type": "integer"}),
            json!({"x-kubernetes-int-or-string": true}),
            "unsafe type-changed .spec.x type",
            "unsafe type-changed .spec.x type",
        ),
        (
            text(),
            json!({"type": "string", "format": "uuid"}),
            "unsafe format-changed .spec.x format",
            "safe format-removed .spec.x format",
        ),
        (
            json!({"type": "integer", "format": "int32"}),
            json!({"type": "integer", "format": "int64"}),
            "unsafe format-changed .spec.x format",
            "unsafe format-changed .spec.x format",
        ),
        (
            json!({"type": "integer", "format": "int32"}),
            json!({"type": "integer"}),
            "unsafe number-format-removed .spec.x format",
            "unsafe format-changed .spec.x format",
        ),
        (
            json!({"type": "integer", "minimum": 1}),
            json!({"type": "integer", "minimum": 2}),
            "unsafe bound-tightened .spec.x minimum",
            "safe bound-loosened .spec.x minimum",
        ),
        (
            json!({"type": "integer", "maximum": 2}),
            json!({"type": "integer", "maximum": 2, "exclusiveMaximum": true}),
            "unsafe bound-tightened .spec.x maximum",
            "safe bound-loosened .spec.x maximum",
        ),
        (
            text(),
            json!({"type": "string", "maxLength": 5}),
            "unsafe bound-tightened .spec.x maxLength",
            "safe bound-loosened .spec.x maxLength",
        ),
        (
            json!({"type": "integer", "multipleOf": 6}),
            json!({"type": "integer", "multipleOf": 3}),
            "safe bound-loosened .spec.x multipleOf",
            "unsafe bound-tightened .spec.x multipleOf",
        ),
        (
            json!({"type": "string", "enum": ["a", "b"]}),
            json!({"type": "string", "enum": ["a"]}),
            "unsafe enum-value-removed .spec.x enum",
            "safe enum-value-added .spec.x enum",
        ),
        (
            text(),
            json!({"type": "string", "enum": ["a"]}),
            "unsafe enum-added .spec.x enum",
            "safe enum-removed .spec.x enum",
        ),
        (
            text(),
            json!({"type": "string", "pattern": "^a"}),
            "unsafe pattern-changed .spec.x pattern",
            "safe pattern-removed .spec.x pattern",
        ),
        (
            text(),
            json!({"type": "string", "nullable": true}),
            "safe nullable-added .spec.x nullable",
            "unsafe nullable-removed .spec.x nullable",
        ),
        (
            json!({"type": "string", "default": "a"}),
            json!({"type": "string", "default": "a", "nullable": true}),
            "unsafe null-kept .spec.x nullable",
            "unsafe nullable-removed .spec.x nullable",
        ),
        (
            text(),
            json!({"type": "string", "default": "a"}),
            "safe default-added .spec.x default",
            "unsafe default-removed .spec.x default",
        ),
        (
            json!({"type": "string", "default": "a"}),
            json!({"type": "string", "default": "b"}),
            "unsafe default-changed .spec.x default",
            "unsafe default-changed .spec.x default",
        ),
        (
            text(),
            json!({"type": "string", "x-kubernetes-validations": [{"rule": "self != 'a'"}]}),
            "unsafe validation-added .spec.x x-kubernetes-validations",
            "safe validation-removed .spec.x x-kubernetes-validations",
        ),
        (
            json!({"type": "string", "x-kubernetes-validations": [{"rule": "self != 'a'"}]}),
            json!({"type": "string", "x-kubernetes-validations": [{"rule": "self != 'b'"}]}),
            "unsafe validation-changed .spec.x x-kubernetes-validations",
            "unsafe validation-changed .spec.x x-kubernetes-validations",
        ),
        (
            json!({"type": "string", "x-kubernetes-validations": [{"rule": "self != 'a'"}]}),
            json!({"type": "string", "x-kubernetes-validations": [{"rule": "self != 'a'", "message": "no"}]}),
            "safe validation-message-changed .spec.x x-kubernetes-validations",
            "safe validation-message-changed .spec.x x-kubernetes-validations",
        ),
        (
            text(),
            json!({"type": "string", "not": {"enum": ["a"]}}),
            "unsafe combination-tightened .spec.x not",
            "safe combination-loosened .spec.x not",
        ),
        (
            json!({"type": "string", "anyOf": [{"maxLength": 1}]}),
            json!({"type": "string", "anyOf": [{"maxLength": 1}, {"minLength": 3}]}),
            "safe combination-loosened .spec.x anyOf",
            "unsafe combination-tightened .spec.x anyOf",
        ),
        (
            json!({"type": "string", "oneOf": [{"maxLength": 1}]}),
            json!({"type": "string", "oneOf": [{"maxLength": 1}, {"minLength": 3}]}),
            "unsafe combination-tightened .spec.x oneOf",
            "unsafe combination-tightened .spec.x oneOf",
        ),
        (
            json!({"type": "string", "allOf": [{"maxLength": 1}]}),
            json!({"type": "string", "allOf": [{"maxLength": 2}]}),
            // A member that changed was removed, and another was added.
            "safe combination-loosened .spec.x allOf, unsafe combination-tightened .spec.x allOf",
            "safe combination-loosened .spec.x allOf, unsafe combination-tightened .spec.x allOf",
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
            "unsafe list-type-changed .spec.x x-kubernetes-list-type",
            "unsafe list-type-changed .spec.x x-kubernetes-list-type",
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-map-type": "atomic"}),
            "unsafe map-type-changed .spec.x x-kubernetes-map-type",
            "unsafe map-type-changed .spec.x x-kubernetes-map-type",
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
            json!({"type": "object"}),
            "unsafe field-removed .spec.x.a",
            "safe field-added .spec.x.a",
        ),
        (
            json!({"type": "object", "properties": {"a.b": {"type": "string"}}}),
            json!({"type": "object", "properties": {"a.b": {"type": "string"}}, "required": ["a.b"]}),
            "unsafe required-added .spec.x['a.b'] required",
            "safe required-removed .spec.x['a.b'] required",
        ),
        (
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            json!({"type": "object"}),
            "unsafe preserve-unknown-removed .spec.x x-kubernetes-preserve-unknown-fields",
            "safe preserve-unknown-added .spec.x x-kubernetes-preserve-unknown-fields",
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object"}),
            "unsafe additional-properties-changed .spec.x additionalProperties",
            "safe additional-properties-added .spec.x additionalProperties",
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "additionalProperties": {"type": "string", "minLength": 1}}),
            "unsafe bound-tightened .spec.x[*] minLength",
            "safe bound-loosened .spec.x[*] minLength",
        ),
        (
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {"type": "string"}}}),
            "unsafe field-added-to-open-object .spec.x.a",
            "unsafe field-removed .spec.x.a",
        ),
        (
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-embedded-resource": true}),
            "unsafe embedded-resource-changed .spec.x x-kubernetes-embedded-resource",
            "unsafe embedded-resource-changed .spec.x x-kubernetes-embedded-resource",
        ),
    ];
    for (old, new, forth, back) in cases {
        let sorted = |text: &str| {
            let mut parts: Vec<String> = text.split(", ").map(str::to_owned).collect();
            parts.sort();
            parts
        };
        for (old, new, expected) in [(&old, &new, forth), (&new, &old, back)] {
            let mut found = changes(field(old.clone()), field(new.clone()));
            found.sort();
            assert_eq!(found, sorted(expected), "from {old} to {new}");
        }
    }
}

#[test]
fn a_required_field_needs_a_default() {
    let without = || crd(json!({"type": "object"}));
    let required =
        |schema: Value| crd(json!({"type": "object", "properties": {"x": schema}, "required": ["x"]}));
    both_ways(
        without(),
        required(json!({"type": "string"})),
        &["unsafe required-added .spec.x required", "safe field-added .spec.x"],
        &["unsafe field-removed .spec.x"],
    );
    both_ways(
        without(),
        required(json!({"type": "string", "default": "a"})),
        &["safe field-added .spec.x", "safe required-added-with-default .spec.x required"],
        &["unsafe field-removed .spec.x"],
    );
}

#[test]
fn a_default_below_a_rule_that_may_see_it_is_unsafe() {
    let schema = |x: Value| {
        crd(json!({
            "type": "object",
            "properties": {"x": x},
            "x-kubernetes-validations": [{"rule": "!has(self.x)"}],
        }))
    };
    assert_eq!(
        changes(schema(json!({"type": "string"})), schema(json!({"type": "string", "default": "a"}))),
        ["unsafe default-added-under-rules .spec.x default"]
    );
    let counted =
        |properties: Value| crd(json!({"type": "object", "properties": properties, "maxProperties": 1}));
    assert_eq!(
        changes(
            counted(json!({"a": {"type": "string"}})),
            counted(json!({"a": {"type": "string"}, "x": {"type": "string", "default": "a"}})),
        ),
        ["unsafe default-added-under-rules .spec.x default", "safe field-added .spec.x"]
    );
}

#[test]
fn null_that_an_enum_refuses_is_unsafe() {
    let schema = |nullable: bool| field(json!({"type": "string", "enum": ["a", null], "nullable": nullable}));
    assert_eq!(changes(schema(false), schema(true)), ["unsafe null-kept .spec.x nullable"]);
}

#[test]
fn keys_of_lists() {
    let list = |keys: Value| {
        field(json!({
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": keys,
            "items": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "required": ["a", "b"],
            },
        }))
    };
    both_ways(
        list(json!(["a"])),
        list(json!(["a", "b"])),
        &["unsafe list-map-keys-changed .spec.x x-kubernetes-list-map-keys"],
        &["unsafe list-map-keys-changed .spec.x x-kubernetes-list-map-keys"],
    );
    assert_eq!(
        changes(list(json!(["a", "b"])), list(json!(["b", "a"]))),
        [""; 0],
        "the order of keys means nothing"
    );
}

#[test]
fn fields_that_every_object_has_are_there_without_being_declared() {
    let root = |schema: Value| with(crd(json!({})), "/spec/versions/0/schema/openAPIV3Schema", schema);
    let bare = || root(json!({"type": "object"}));
    let declared = json!({"type": "object", "properties": {
        "apiVersion": {"type": "string", "description": "words do not count"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
    }, "required": ["metadata"]});
    both_ways(bare(), root(declared), &[], &[]);
    let named = json!({"type": "object", "properties": {
        "metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}},
    }});
    assert_eq!(changes(bare(), root(named)), ["safe field-added .metadata.name"]);
}
