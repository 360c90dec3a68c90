//! What an API server takes by the schema is what the Rust type decodes.

#![expect(dead_code, reason = "the types are there to be decoded")]

use std::collections::BTreeMap;

use kubewright_schema::{FieldPath, Structural};
use serde::de::DeserializeOwned;

use super::*;

/// Compares, for each value, whether the schema allows it with whether the type decodes it.
#[track_caller]
fn agree<T: JsonSchema + DeserializeOwned>(values: &[Value]) {
    #[derive(Deserialize)]
    struct Holder<T> {
        #[serde(rename = "value")]
        _value: T,
    }
    let schema = compile::<T>(&Options::default()).schema;
    let structural =
        Structural::parse(&json!({"type": "object", "properties": {"value": schema}, "required": ["value"]}))
            .unwrap();
    for value in values {
        let mut object = json!({"value": value});
        structural.prune(&mut object);
        structural.drop_nulls(&mut object);
        structural.apply_defaults(&mut object);
        let errors = structural.validate(&object, None, &FieldPath::root());
        let decoded = serde_json::from_value::<Holder<T>>(object.clone());
        assert_eq!(
            errors.is_empty(),
            decoded.is_ok(),
            "{object}: {:?}, {:?}\n{schema:#}",
            errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
            decoded.err().map(|error| error.to_string()),
        );
    }
}

#[test]
fn numbers() {
    let values =
        [-1i64, 0, 1, 127, 128, 255, 256, 65_535, 65_536, 2_147_483_647, 2_147_483_648, 4_294_967_296]
            .map(Value::from);
    agree::<u8>(&values);
    agree::<i8>(&values);
    agree::<u16>(&values);
    agree::<i16>(&values);
    agree::<i32>(&values);
    agree::<u32>(&values);
    agree::<i64>(&values);
    agree::<u64>(&values);
    agree::<usize>(&values);
    agree::<std::num::NonZeroU16>(&values);
    agree::<std::num::NonZeroI32>(&values);
    agree::<f64>(&values);
}

#[test]
fn tagged_enums() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "type")]
    enum Internal {
        A,
        B { size: i32 },
        C { size: Option<i32>, name: String },
    }
    agree::<Internal>(&[
        json!({}),
        json!({"type": "A"}),
        json!({"type": "A", "size": 1}),
        json!({"type": "B"}),
        json!({"type": "B", "size": 1}),
        json!({"type": "B", "size": 1, "name": "x"}),
        json!({"type": "C"}),
        json!({"type": "C", "name": "x"}),
        json!({"type": "D"}),
        json!({"size": 1, "name": "x"}),
    ]);

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    enum External {
        A { name: String },
        B(i32),
        C(BTreeMap<String, String>),
    }
    agree::<External>(&[
        json!({}),
        json!({"a": {}}),
        json!({"a": {"name": "x"}}),
        json!({"b": 1}),
        json!({"b": "x"}),
        json!({"c": {"any": "thing"}}),
        json!({"a": {"name": "x"}, "b": 1}),
    ]);

    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind", content = "with")]
    enum Adjacent {
        A,
        B { size: i32 },
        C { name: String },
    }
    agree::<Adjacent>(&[
        json!({"kind": "A"}),
        json!({"kind": "B"}),
        json!({"kind": "B", "with": {}}),
        json!({"kind": "B", "with": {"size": 1}}),
        json!({"kind": "C", "with": {"size": 1}}),
        json!({"kind": "C", "with": {"size": 1, "name": "x"}}),
        json!({"with": {"size": 1}}),
    ]);
}

#[test]
fn untagged_enums() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Scalar {
        Number(u16),
        Text(String),
    }
    agree::<Scalar>(&[json!(1), json!("x"), json!(true), json!({}), json!(-1), json!(70_000)]);

    #[derive(Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Shape {
        Circle { radius: i32 },
        Square { side: i32, name: Option<String> },
    }
    agree::<Shape>(&[
        json!({}),
        json!({"radius": 1}),
        json!({"side": 1}),
        json!({"side": 1, "name": "x"}),
        json!({"side": 1, "radius": 1}),
        json!({"name": "x"}),
    ]);
}

#[test]
fn flattened_enums() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "mode", rename_all = "camelCase")]
    enum Mode {
        Fast { threads: i32 },
        Slow,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Required {
        #[serde(rename = "name")]
        _name: String,
        #[serde(flatten)]
        _mode: Mode,
    }
    agree::<Required>(&[
        json!({"name": "x"}),
        json!({"name": "x", "mode": "slow"}),
        json!({"name": "x", "mode": "fast"}),
        json!({"name": "x", "mode": "fast", "threads": 1}),
        json!({"mode": "slow"}),
    ]);
}

#[test]
fn text_and_lists() {
    agree::<char>(&[json!("a"), json!("ab"), json!(""), json!("ü")]);
    agree::<(String, String)>(&[json!(["a"]), json!(["a", "b"]), json!(["a", "b", "c"]), json!([1, 2])]);
    agree::<[i32; 3]>(&[json!([1, 2]), json!([1, 2, 3]), json!([1, 2, 3, 4])]);
    agree::<Option<BTreeMap<String, i32>>>(&[json!({"a": 1}), json!({"a": "x"}), json!({})]);
}
