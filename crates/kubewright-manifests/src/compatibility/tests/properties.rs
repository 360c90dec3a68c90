//! What holds for all changes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{field, report};

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!({"type": "string"}),
        json!({"type": "string", "maxLength": 3, "default": "a"}),
        json!({"type": "integer", "minimum": 1, "nullable": true}),
        json!({"type": "string", "enum": ["a", "b"]}),
        json!({"x-kubernetes-int-or-string": true}),
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
    ]);
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::btree_map("[ab]", inner.clone(), 0..3)
                .prop_map(|properties| json!({"type": "object", "properties": properties})),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            inner.prop_map(|values| json!({"type": "object", "additionalProperties": values})),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_changed_is_no_change(schema in schema()) {
        let crd = field(schema);
        prop_assert_eq!(report(&crd, &crd).changes, vec![]);
    }

    #[test]
    fn a_change_and_its_reverse_are_both_told(old in schema(), new in schema()) {
        let (old, new) = (field(old), field(new));
        let forth = report(&old, &new);
        let back = report(&new, &old);
        prop_assert_eq!(forth.changes.is_empty(), back.changes.is_empty());
    }
}
