//! What holds for any text and any value.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Target, docs, parse, syntax::print};
use crate::Style;

/// Texts that look like markers: names and signs in any order.
fn marker_like() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "+",
        "kubebuilder:",
        "validation:",
        "items:",
        "Minimum",
        "Enum",
        "Pattern",
        "XValidation",
        "rbac:",
        "groups",
        "verbs",
        "default",
        "listType",
        "resource:",
        "path",
        "k8s:",
        "maxItems",
        "example",
        "=",
        ":=",
        ",",
        ";",
        "{",
        "}",
        ":",
        "\"",
        "`",
        "'",
        "\\",
        "\\x",
        "\\u00e9",
        " ",
        "#",
        "a",
        "1",
        "-",
        "0x",
        "1e",
        ".5",
        "true",
        "map",
        "ü",
        "🚀",
    ]);
    prop_oneof![
        prop::collection::vec(parts, 0..24).prop_map(|parts| parts.concat()),
        "\\+kubebuilder:default=\\PC{0,40}",
        "\\+[a-z:=,;{}`\"\\\\ ]{0,40}",
    ]
}

/// Values that a marker can give: numbers that JSON and Go write alike, no `null`, no empty list, no list of different things.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        (-1_000_000_i64..1_000_000).prop_map(Value::from),
        (-1_000_000_i64..1_000_000).prop_map(|number| json!(number as f64 + 0.5)),
        "\\PC{0,12}".prop_map(Value::from),
        "[\"\\\\`{},;:#\n\t\u{7f}\u{2028} ]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            // Guessing takes the type of all items from the first.
            (inner.clone(), 1..4_usize).prop_map(|(item, count)| Value::Array(vec![item; count])),
            prop::collection::btree_map("\\PC{0,6}", inner, 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_a_marker_or_an_error_within_it(text in marker_like()) {
        for targets in [&[Target::Field][..], &[Target::Type, Target::Kind], &[Target::Package], &[Target::Code]] {
            match parse(&text, targets) {
                Ok(marker) => for argument in &marker.arguments {
                    prop_assert!(text.get(argument.range.clone()).is_some());
                },
                Err(error) => {
                    prop_assert!(text.get(error.range.clone()).is_some(), "{error:?}");
                    prop_assert!(!error.message.is_empty());
                }
            }
        }
        // What is meant to be a marker is one, or an error that says so, but never a description.
        let _ = docs::split(&text, Style::Kubewright);
    }

    #[test]
    fn a_value_that_was_printed_reads_back_equal(value in value()) {
        let text = format!("+kubebuilder:example={}", print(&value));
        let marker = parse(&text, &[Target::Field]);
        prop_assert_eq!(marker.as_ref().map(|marker| marker.value().cloned()), Ok(Some(value)), "{}", text);
    }

    #[test]
    fn taking_a_comment_apart_loses_no_marker(lines in prop::collection::vec(
        prop::sample::select(vec!["a", "", "+optional", "+nullable", "TODO b", "---", "c  ", "+protobuf=1", "+1 d"]), 0..12)) {
        let documentation = docs::split(&lines.join("\n"), Style::Kubewright);
        let markers: Vec<&str> =
            lines.iter().copied().filter(|line| ["+optional", "+nullable"].contains(line)).collect();
        prop_assert_eq!(documentation.markers, markers);
        let description = &documentation.description;
        prop_assert_eq!(description.trim(), description.as_str());
        prop_assert!(!description.contains("TODO") && !description.contains("protobuf") && !description.contains("\n\n\n"));
    }
}
