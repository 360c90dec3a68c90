//! The promise behind *safe*, kept: for small random schemas, if the gate finds nothing worse than safe, whatever was
//! valid under the old schema is valid under the new one, as a stored object and as a request, and loses no field.

#![cfg(feature = "check")]

use std::cell::Cell;

use kubewright_manifests::compatibility::{Class, Report, compare};
use kubewright_schema::{FieldPath, Structural, crd::validate_crd};
use proptest::{
    prelude::*,
    sample::Index,
    test_runner::{Config, TestRunner},
};
use serde_json::{Map, Value, json};

const FIELDS: [&str; 3] = ["a", "b", "c"];

/// Choices, made one after the other.
struct Choices<'a> {
    bytes: std::iter::Cycle<std::slice::Iter<'a, u8>>,
}

impl<'a> Choices<'a> {
    /// `bytes` must not be empty.
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: bytes.iter().cycle() }
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::from(*self.bytes.next().unwrap()) % limit
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())].clone()
    }
}

// === schemas ===

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        3 => Just(json!({"type": "string"})),
        3 => Just(json!({"type": "integer"})),
        1 => Just(json!({"type": "boolean"})),
        1 => Just(json!({"type": "number"})),
        1 => Just(json!({"x-kubernetes-int-or-string": true})),
        1 => Just(json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})),
    ];
    let node = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            3 => prop::collection::btree_map(prop::sample::select(&FIELDS[..]), inner.clone(), 0..3)
                .prop_map(|properties| json!({"type": "object", "properties": properties})),
            1 => inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            1 => inner.prop_map(|values| json!({"type": "object", "additionalProperties": values})),
        ]
    });
    prop::collection::btree_map(prop::sample::select(&FIELDS[..]), node, 1..3)
        .prop_map(|properties| json!({"type": "object", "properties": properties}))
}

/// The JSON pointers of the nodes of a schema that are not value validations.
fn nodes(schema: &Value, at: String, found: &mut Vec<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        for (name, property) in properties {
            nodes(property, format!("{at}/properties/{name}"), found);
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if schema[keyword].is_object() {
            nodes(&schema[keyword], format!("{at}/{keyword}"), found);
        }
    }
    found.push(at);
}

/// Changes one keyword of one node.
fn edit(schema: &mut Value, node: Index, choices: &[u8]) {
    let mut pointers = Vec::new();
    nodes(schema, String::new(), &mut pointers);
    let node = schema.pointer_mut(&pointers[node.index(pointers.len())]).unwrap();
    let mut choices = Choices::new(choices);
    let small = json!(choices.below(4));
    let node_type = node["type"].as_str().unwrap_or_default().to_owned();
    let node = node.as_object_mut().unwrap();
    let (keyword, value) = match (node_type.as_str(), choices.below(12)) {
        (_, 0) => ("nullable", json!(true)),
        (_, 1) => (
            "enum",
            choices.of(&[
                json!(["a"]),
                json!(["a", "b"]),
                json!([1, 2]),
                json!(["a", null]),
                json!([0, 1, 2]),
            ]),
        ),
        ("string", 2 | 3) => ("default", json!("a")),
        ("integer" | "number", 2 | 3) => ("default", json!(choices.below(3))),
        ("object", 2) => ("default", json!({})),
        ("array", 2) => ("default", json!([])),
        ("boolean", 2) => ("default", json!(true)),
        ("string", 4) => ("minLength", small),
        ("string", 5) => ("maxLength", small),
        ("string", 6) => ("pattern", choices.of(&[json!("^a"), json!("a|b"), json!("^a?$")])),
        ("string", 7) => {
            ("format", choices.of(&[json!("date"), json!("uuid"), json!("hostname"), json!("made-up")]))
        }
        ("integer" | "number", 4 | 5) => ("minimum", small),
        ("integer" | "number", 6 | 7) => ("maximum", small),
        ("integer" | "number", 8) => ("exclusiveMinimum", json!(node.contains_key("minimum"))),
        ("integer" | "number", 9) => ("multipleOf", json!(choices.below(4) + 1)),
        ("integer", 10) => ("format", choices.of(&[json!("int32"), json!("int64")])),
        ("array", 3 | 4) => ("minItems", small),
        ("array", 5 | 6) => ("maxItems", small),
        ("array", 7) => ("x-kubernetes-list-type", choices.of(&[json!("set"), json!("atomic")])),
        ("object", 3) => ("minProperties", small),
        ("object", 4) => ("maxProperties", small),
        ("object", 5) => ("required", choices.of(&[json!(["a"]), json!(["a", "b"]), json!(["c"])])),
        ("object", 6) => (
            "x-kubernetes-validations",
            choices.of(&[
                json!([{"rule": "!has(self.a)"}]),
                json!([{"rule": "!has(self.a) || has(self.b)"}]),
                json!([{"rule": "true"}]),
            ]),
        ),
        ("object", 7 | 8) if !node.contains_key("additionalProperties") => {
            let name = choices.of(&FIELDS);
            let field = choices.of(&[
                json!({"type": "string"}),
                json!({"type": "string", "default": "a"}),
                json!({"type": "integer", "default": 1}),
                json!({"type": "object", "default": {}, "properties": {"a": {"type": "integer", "default": 1}}}),
                json!({"type": "integer", "minimum": 1}),
            ]);
            let properties = node.entry("properties").or_insert_with(|| json!({}));
            let properties = properties.as_object_mut().unwrap();
            if properties.remove(name).is_none() {
                properties.insert(name.to_owned(), field);
            }
            return;
        }
        ("object", 9) => ("x-kubernetes-preserve-unknown-fields", json!(true)),
        (_, 10) => {
            ("not", choices.of(&[json!({"enum": ["b"]}), json!({"required": ["a"]}), json!({"minimum": 3})]))
        }
        (_, 11) => {
            let alternatives = [
                json!([{"minimum": 1}, {"maxLength": 1}]),
                json!([{"required": ["a"]}, {"required": ["b"]}]),
                json!([{"required": ["a"]}]),
                json!([{"minLength": 1}, {"minLength": 2}]),
            ];
            (choices.of(&["allOf", "anyOf", "oneOf"]), choices.of(&alternatives))
        }
        _ => ("description", json!("words")),
    };
    // Twice the same is off again, so that edits loosen as often as they tighten.
    if node.contains_key(keyword) && choices.one_in(2) {
        node.remove(keyword);
    } else {
        node.insert(keyword.to_owned(), value);
    }
}

fn crd(schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "conversion": {"strategy": "None"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}},
            }],
        },
        "status": {"storedVersions": ["v1"]},
    })
}

// === objects ===

/// A value that fits `schema` often, but not always.
fn value(schema: &Value, choices: &mut Choices<'_>, depth: usize) -> Value {
    let scalars = [
        json!("a"),
        json!("b"),
        json!(""),
        json!("aaaa"),
        json!(0),
        json!(1),
        json!(3),
        json!(1.5),
        json!(true),
    ];
    if depth > 4 || choices.one_in(40) {
        return if choices.one_in(2) { Value::Null } else { choices.of(&scalars) };
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !choices.one_in(4)
    {
        return choices.of(allowed);
    }
    match schema["type"].as_str() {
        // A string that has a format takes lists too, in a real API server; none are made here.
        Some("string") => choices.of(&[
            json!("a"),
            json!("b"),
            json!(""),
            json!("aa"),
            json!("abc"),
            json!("2020-01-02"),
            json!("f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
        ]),
        Some("integer") => {
            choices.of(&[json!(0), json!(1), json!(2), json!(3), json!(6), json!(4_000_000_000_u32)])
        }
        Some("number") => choices.of(&[json!(0), json!(1), json!(2.5), json!(3), json!(6)]),
        Some("boolean") => json!(choices.one_in(2)),
        Some("array") => (0..choices.below(4)).map(|_| value(&schema["items"], choices, depth + 1)).collect(),
        Some("object") => {
            let mut fields = Map::new();
            for name in FIELDS {
                let property = match &schema["properties"][name] {
                    Value::Null => &schema["additionalProperties"],
                    property => property,
                };
                let open = schema["x-kubernetes-preserve-unknown-fields"] == true;
                if (property.is_object() || open) && choices.one_in(2) {
                    fields.insert(name.to_owned(), value(property, choices, depth + 1));
                }
            }
            Value::Object(fields)
        }
        _ => choices.of(&scalars),
    }
}

/// What an API server makes of an object before it looks whether it is valid; none if it would drop fields.
fn admitted(schema: &Structural, object: &Value) -> Option<Value> {
    let mut object = object.clone();
    if !schema.prune(&mut object).is_empty() {
        return None;
    }
    schema.drop_nulls(&mut object);
    schema.apply_defaults(&mut object);
    Some(object)
}

fn errors(schema: &Structural, object: &Value) -> String {
    schema.validate(object, None, &FieldPath::root()).to_string()
}

fn structural(crd: &Value) -> Structural {
    Structural::parse(crd.pointer("/spec/versions/0/schema/openAPIV3Schema").unwrap()).unwrap()
}

#[test]
fn what_is_safe_keeps_every_valid_object() {
    let edits = || prop::collection::vec((any::<Index>(), prop::collection::vec(any::<u8>(), 1..6)), 0..6);
    let objects = prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 12);
    let compared = Cell::new(0_u32);
    let unsafe_and_seen = Cell::new(0_u32);
    let mut runner =
        TestRunner::new(Config { cases: 6000, max_global_rejects: 400_000, ..Config::default() });
    let result =
        runner.run(&(schema(), edits(), edits(), objects), |(mut schema, before, after, objects)| {
            for (node, choices) in before {
                edit(&mut schema, node, &choices);
            }
            let old = crd(&schema);
            for (node, choices) in after {
                edit(&mut schema, node, &choices);
            }
            let new = crd(&schema);
            prop_assume!(validate_crd(&old).is_empty() && validate_crd(&new).is_empty());
            let report: Report = compare(std::slice::from_ref(&old), std::slice::from_ref(&new)).unwrap();
            let safe = report.worst().is_none_or(|worst| worst == Class::Safe);
            let spec =
                old.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec").unwrap().clone();
            let (old, new) = (structural(&old), structural(&new));
            for choices in objects {
                let request = json!({
                    "apiVersion": "example.com/v1",
                    "kind": "Thing",
                    "metadata": {"name": "a"},
                    "spec": value(&spec, &mut Choices::new(&choices), 0),
                });
                let Some(stored) = admitted(&old, &request).filter(|stored| errors(&old, stored).is_empty())
                else {
                    continue;
                };
                let read = admitted(&new, &stored);
                let accepted = admitted(&new, &request);
                let fine = |object: &Option<Value>| {
                    object.as_ref().is_some_and(|object| errors(&new, object).is_empty())
                };
                if !safe {
                    unsafe_and_seen.set(unsafe_and_seen.get() + u32::from(!fine(&read)));
                    continue;
                }
                compared.set(compared.get() + 1);
                let told: Vec<String> = report.changes.iter().map(ToString::to_string).collect();
                prop_assert!(
                    fine(&read),
                    "stored {stored} is not valid: {:?}\nchanges {told:#?}",
                    read.map(|object| errors(&new, &object))
                );
                prop_assert!(
                    fine(&accepted),
                    "request {request} is not valid: {:?}\nchanges {told:#?}",
                    accepted.map(|object| errors(&new, &object))
                );
            }
            Ok(())
        });
    if let Err(error) = result {
        panic!("{error}");
    }
    // Else the property would hold for want of cases.
    assert!(compared.get() > 2000, "only {} valid objects under safe changes", compared.get());
    assert!(unsafe_and_seen.get() > 200, "only {} objects broken by unsafe changes", unsafe_and_seen.get());
}
