//! Laws that hold for every schema and value.

use kubewright_schema::{FieldPath, Structural};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..4).prop_map(Value::from),
        "[a-c]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            fields(inner).prop_map(Value::from),
        ]
    })
}

fn fields(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map(prop::sample::select(&NAMES), inner, 0..4)
        .prop_map(|fields| fields.into_iter().map(|(name, field)| (name.to_owned(), field)).collect())
}

/// A schema whose defaults are valid, which the API server guarantees as well.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "default": "z"})),
        Just(json!({"type": "integer", "nullable": true, "default": 1})),
        Just(json!({"type": "boolean"})),
        Just(json!({"x-kubernetes-int-or-string": true})),
        Just(json!({"x-kubernetes-preserve-unknown-fields": true})),
        Just(json!({"type": "object", "default": {}})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            fields(inner.clone()).prop_map(|properties| json!({"type": "object", "properties": properties})),
            fields(inner.clone())
                .prop_map(|properties| json!({"type": "object", "properties": properties, "default": {}})),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            inner.prop_map(|values| json!({"type": "object", "additionalProperties": values})),
        ]
    })
}

fn case() -> impl Strategy<Value = (Structural, Value)> {
    (fields(schema()), fields(value())).prop_map(|(properties, object)| {
        let schema = json!({"type": "object", "properties": properties});
        (Structural::parse(&schema).expect("the schema is structural"), object.into())
    })
}

proptest! {
    #[test]
    fn pruning_twice_is_pruning_once((schema, mut object) in case()) {
        schema.prune(&mut object);
        let once = object.clone();
        prop_assert_eq!(schema.prune(&mut object), Vec::<String>::new());
        prop_assert_eq!(object, once);
    }

    #[test]
    fn defaulting_twice_is_defaulting_once((schema, mut object) in case()) {
        schema.drop_nulls(&mut object);
        schema.apply_defaults(&mut object);
        let once = object.clone();
        schema.drop_nulls(&mut object);
        schema.apply_defaults(&mut object);
        prop_assert_eq!(object, once);
    }

    #[test]
    fn defaults_are_declared_fields((schema, mut object) in case()) {
        schema.prune(&mut object);
        schema.apply_defaults(&mut object);
        prop_assert_eq!(schema.prune(&mut object), Vec::<String>::new());
    }

    #[test]
    fn defaulting_adds_no_errors((schema, mut object) in case()) {
        schema.drop_nulls(&mut object);
        let before = schema.validate(&object, None, &FieldPath::root()).len();
        schema.apply_defaults(&mut object);
        prop_assert!(schema.validate(&object, None, &FieldPath::root()).len() <= before);
    }

    #[test]
    fn an_update_finds_no_more_than_a_create((schema, object) in case(), (_, old) in case()) {
        let created = schema.validate(&object, None, &FieldPath::root());
        for error in &schema.validate(&object, Some(&old), &FieldPath::root()) {
            prop_assert!(created.iter().any(|other| other == error));
        }
    }
}
