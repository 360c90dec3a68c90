//! Random types, as schemars writes them.

use std::collections::BTreeMap;

use proptest::{prelude::*, sample::select};
use serde_json::Map;

use super::*;
use crate::{
    diagnostic::Severity,
    schema::{compile_generated, generate::Generated},
};

const NAMES: [&str; 5] = ["A", "B", "C", "D", "E"];
const FIELDS: [&str; 4] = ["one", "two", "metadata", "kind"];

fn scalar() -> impl Strategy<Value = Value> {
    select(vec![
        json!({"type": "string"}),
        json!({"type": "boolean"}),
        json!({"type": "integer", "format": "uint16", "minimum": 0, "maximum": 65535}),
        json!({"type": "integer", "format": "int64", "not": {"const": 0}}),
        json!({"type": "number", "format": "double"}),
        json!({"type": ["string", "null"], "minLength": 1}),
        json!({"type": ["array", "string"], "items": {"type": "integer", "format": "uint8"}}),
        json!({"type": "string", "enum": ["x", "y"]}),
        json!({"type": ["string", "null"], "enum": ["x", null]}),
        json!({}),
        json!(true),
    ])
}

fn reference(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    select(names).prop_map(|name| json!({"$ref": format!("#/$defs/{name}")}))
}

fn fields(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    prop::collection::btree_map(select(FIELDS.to_vec()), (inner, any::<bool>()), 0..4).prop_map(|fields| {
        let required: Vec<&str> =
            fields.iter().filter(|(_, (_, required))| *required).map(|(name, _)| *name).collect();
        let properties: Map<String, Value> =
            fields.iter().map(|(name, (schema, _))| ((*name).to_owned(), schema.clone())).collect();
        json!({"type": "object", "properties": properties, "required": required})
    })
}

/// What cannot be described at all.
fn refused() -> impl Strategy<Value = Value> {
    prop_oneof![select(vec![json!({"type": "null"}), json!(false)]), reference(&NAMES)]
}

/// A type that refers to types of these names, mostly.
fn schema(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![40 => scalar(), 20 => reference(names), 1 => refused()];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let tagged = (fields(inner.clone()), select(vec!["Left", "Right", "Up"])).prop_map(|(mut fields, tag)| {
            fields["properties"]["type"] = json!({"type": "string", "const": tag});
            fields["required"] = json!(["type"]);
            fields
        });
        let external = (inner.clone(), select(FIELDS.to_vec())).prop_map(|(inner, name)| {
            json!({"type": "object", "properties": {name: inner}, "required": [name], "additionalProperties": false})
        });
        let documented = (inner.clone(), select(vec![
            "Text.",
            "+kubebuilder:validation:MinLength=2",
            "+kubebuilder:validation:Maximum=7",
            "+listType=set",
            "+nullable",
            "+optional",
            "+k8s:required",
            "+k8s:immutable",
            "+kubebuilder:validation:Schemaless",
            "+kubewright:recursion=preserveUnknownFields",
            "+kubebuilder:validation:items:Pattern=^a",
        ]))
            .prop_map(|(mut inner, text)| {
                if let Some(object) = inner.as_object_mut() {
                    object.insert("description".to_owned(), text.into());
                }
                inner
            });
        prop_oneof![
            fields(inner.clone()),
            fields(documented),
            inner.clone().prop_map(|inner| json!({"type": "array", "items": inner})),
            inner.clone().prop_map(|inner| json!({"type": "array", "uniqueItems": true, "items": inner})),
            inner.clone().prop_map(|inner| json!({"type": "object", "additionalProperties": inner})),
            inner.clone().prop_map(|inner| json!({"anyOf": [inner, {"type": "null"}]})),
            prop::collection::vec(fields(inner.clone()), 1..4).prop_map(|variants| json!({"anyOf": variants})),
            prop::collection::vec(scalar(), 1..3).prop_map(|variants| json!({"anyOf": variants})),
            prop::collection::vec(tagged, 1..4).prop_map(|variants| json!({"oneOf": variants})),
            prop::collection::vec(external, 1..4).prop_map(|variants| json!({"oneOf": variants})),
            prop::collection::vec(inner.clone(), 1..3)
                .prop_map(|members| json!({"type": "array", "prefixItems": members})),
            (fields(inner.clone()), inner).prop_map(|(mut fields, rest)| {
                fields["additionalProperties"] = rest;
                fields
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever the type: if nothing is wrong with it, its schema is structural and has neither references nor nulls.
    #[test]
    fn what_is_told_to_be_right_is_structural(
        first in schema(&NAMES[1..]),
        second in schema(&NAMES[2..]),
        third in schema(&NAMES[3..]),
        fourth in schema(&NAMES[4..]),
        last in scalar(),
    ) {
        let schemas = [first, second, third, fourth, last];
        let definitions: Map<String, Value> = NAMES.iter().map(|name| (*name).to_owned()).zip(schemas).collect();
        let generated = Generated { name: "A".to_owned(), definitions, order: BTreeMap::new() };
        for style in [Style::Kubewright, Style::ControllerGen] {
            let options = Options { style, allow_dangerous_types: true, ..Options::default() };
            let compiled = compile_generated(&generated, &options);
            let again = compile_generated(&generated, &options);
            prop_assert_eq!(&compiled.schema, &again.schema);
            let has_errors = compiled.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
            // In controller-gen's style, a schema may say too little.
            if !has_errors && style == Style::Kubewright {
                let reason = unstructured(&compiled.schema);
                prop_assert!(reason.is_none(), "{}\n{:#}\n{}", reason.unwrap_or_default(), compiled.schema, json!(generated.definitions));
            }
            for origin in &compiled.origins {
                prop_assert!(NAMES.contains(&origin.type_name.as_str()), "{:?}", origin);
            }
        }
    }
}
