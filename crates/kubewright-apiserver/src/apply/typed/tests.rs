//! Properties of merge, compare and extract on values of a type that has one of everything.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::json;

use super::super::path::{Path, PathElement};
use super::super::value;
use super::*;

static TYPE: LazyLock<ObjectType> = LazyLock::new(|| {
    let document = json!({"types": [
        {"name": "root", "map": {"fields": [
            {"name": "text", "type": {"scalar": "string"}},
            {"name": "number", "type": {"scalar": "numeric"}},
            {"name": "set", "type": {"list": {"elementType": {"scalar": "string"}, "elementRelationship": "associative"}}},
            {"name": "items", "type": {"list": {"elementType": {"namedType": "item"},
                "elementRelationship": "associative", "keys": ["name"]}}},
            {"name": "list", "type": {"list": {"elementType": {"scalar": "numeric"}, "elementRelationship": "atomic"}}},
            {"name": "map", "type": {"map": {"elementType": {"namedType": "root"}}}},
            {"name": "whole", "type": {"map": {"elementType": {"scalar": "string"}, "elementRelationship": "atomic"}}},
            {"name": "free", "type": {"namedType": "__untyped_deduced_"}},
        ]}},
        {"name": "item", "map": {"fields": [
            {"name": "name", "type": {"scalar": "string"}}, {"name": "value", "type": {"scalar": "numeric"}}]}},
    ]});
    let schema = Arc::new(Schema::from_document(&document).unwrap());
    ObjectType::named(&schema, "root").unwrap()
});

fn object() -> impl Strategy<Value = Value> {
    let free = prop_oneof![
        Just(json!(1)),
        Just(json!("a")),
        Just(json!([1, "b"])),
        Just(json!({})),
        Just(json!({"x": {"y": 1}})),
        Just(json!({"x": 1, "z": null})),
    ];
    let items = prop::collection::btree_map("[a-c]", 0..3, 1..4)
        .prop_map(|items| {
            items.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect::<Vec<_>>()
        })
        .prop_shuffle();
    let set = prop::collection::btree_set("[a-d]", 1..4)
        .prop_map(|items| items.into_iter().map(Value::from).collect::<Vec<_>>())
        .prop_shuffle()
        .prop_map(Value::from);
    let field = prop_oneof![
        "[a-b]".prop_map(|text| ("text", Value::from(text))),
        (0..2).prop_map(|number| ("number", Value::from(number))),
        Just(("number", json!(1.0))),
        Just(("text", Value::Null)),
        set.prop_map(|set| ("set", set)),
        items.prop_map(|items: Vec<Value>| ("items", Value::from(items))),
        prop::collection::vec(0..2, 0..3).prop_map(|list| ("list", Value::from(list))),
        prop::collection::btree_map("[a-b]", "[a-b]", 0..3).prop_map(|map| ("whole", json!(map))),
        free.prop_map(|free| ("free", free)),
    ];
    let leaf = prop::collection::vec(field.clone(), 0..5).prop_map(|fields| {
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Value>()
    });
    leaf.prop_recursive(2, 8, 2, move |inner| {
        let map = prop::collection::btree_map("[a-b]", inner, 0..3).prop_map(|map| ("map", json!(map)));
        prop::collection::vec(prop_oneof![map, field.clone()], 0..5)
            .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    })
}

fn typed(value: &Value) -> TypedValue<'_> {
    TYPE.check(Cow::Borrowed(value), Duplicates::Refuse).unwrap()
}

proptest! {
    #[test]
    fn equal_objects_do_not_differ(a in object()) {
        prop_assert!(typed(&a).compare(&typed(&a)).unwrap().is_empty());
    }

    #[test]
    fn a_comparison_reads_the_same_backwards(a in object(), b in object()) {
        let there = typed(&a).compare(&typed(&b)).unwrap();
        let back = typed(&b).compare(&typed(&a)).unwrap();
        prop_assert_eq!(&there.added, &back.removed);
        prop_assert_eq!(&there.removed, &back.added);
        prop_assert_eq!(&there.modified, &back.modified);
        prop_assert!(there.added.intersection(&there.removed).is_empty());
        prop_assert!(there.added.intersection(&there.modified).is_empty());
    }

    #[test]
    fn nothing_is_removed_by_merging(a in object(), b in object()) {
        let merged = typed(&a).merge(&typed(&b)).unwrap();
        let removed = typed(&a).compare(&merged).unwrap().removed;
        // What becomes a value of another kind loses what it had inside.
        let is_free = |path: &Path| path.contains(&PathElement::field("free"));
        prop_assert!(removed.paths().iter().all(is_free), "{}", removed);
    }

    #[test]
    fn merging_again_changes_nothing(a in object(), b in object()) {
        let once = typed(&a).merge(&typed(&b)).unwrap();
        let twice = once.merge(&typed(&b)).unwrap();
        prop_assert!(value::equal(once.value(), twice.value()), "{} != {}", once.value(), twice.value());
    }

    // An empty list that is not atomic is the one thing that is set without being owned; there are
    // none in these objects.
    #[test]
    fn what_a_configuration_mentions_is_what_it_changes(a in object(), b in object()) {
        let merged = typed(&a).merge(&typed(&b)).unwrap();
        let changed = typed(&a).compare(&merged).unwrap();
        let mentioned = typed(&b).field_set().unwrap();
        let mentioned = typed(&b).with_named_fields(&mentioned);
        for path in changed.added.union(&changed.modified).paths() {
            prop_assert!(mentioned.contains(&path), "{} is not in\n{}", path, mentioned);
        }
    }

    #[test]
    fn removing_everything_leaves_nothing_to_own(a in object()) {
        let fields = typed(&a).field_set().unwrap();
        let rest = typed(&a).without(&typed(&a).with_named_fields(&fields));
        prop_assert!(rest.field_set().unwrap().intersection(&fields).is_empty());
    }
}
