//! What is written reads back as the same value, and is written to the same text again.

use kubewright_yaml as yaml;
use proptest::prelude::*;
use serde_json::{Map, Number, Value, json};

/// Pieces of text that mean something in YAML.
const PIECES: &[&str] = &[
    "a",
    "word",
    "Zed",
    "é",
    "中",
    "0",
    "1",
    "60",
    "_",
    "-",
    "+",
    ".",
    ",",
    ":",
    ": ",
    " #",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "'",
    "\"",
    "\\",
    "?",
    "!",
    "&",
    "*",
    "{",
    "}",
    "[",
    "]",
    "|",
    ">",
    "%",
    "@",
    "`",
    "~",
    "<<",
    "=",
    "0x",
    "0o",
    "e5",
    ".inf",
    ".nan",
    "yes",
    "no",
    "null",
    "true",
    "2020-01-02",
    "T12:30:00Z",
    "12:30",
    "\u{a0}",
    "\u{85}",
    "\u{feff}",
    "\r",
    "\0",
    "\u{7f}",
    "\u{1f680}",
    "---",
    "...",
    "a long row of words that is folded somewhere ",
    "\n  ",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(prop::sample::select(PIECES), 0..12).prop_map(|pieces| pieces.concat()),
        "[0-9+._:eExobTZ -]{0,14}",
        "[ -~]{0,130}",
        "([a-z]{1,12}[ .\n]){0,40}",
    ]
    // It overflows a float, so yaml.v2 takes it for a string, and other readers for infinity.
    .prop_filter("finite or no number", |text| !text.parse::<f64>().is_ok_and(f64::is_infinite))
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", Number::from_f64).prop_map(Value::Number),
        (-1000..1000).prop_map(|eighths| json!(f64::from(eighths) / 8.0)),
        text().prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 40, 6, |inner| {
        let key = prop_oneof![text(), "[a-zA-Z0-9./-]{1,8}"]
            // Readers that know merge keys take this for one.
            .prop_filter("no merge key", |key| key != "<<");
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map(key, inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// `value` with integral floats as integers, which is how they are written.
fn as_written(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let text = yaml::to_string(&Value::Number(number.clone()));
            let text = text.trim();
            text.parse::<i64>()
                .map(Number::from)
                .or_else(|_| text.parse::<u64>().map(Number::from))
                .unwrap_or(number)
                .into()
        }
        Value::Array(items) => items.into_iter().map(as_written).collect(),
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(key, value)| (key, as_written(value))).collect::<Map<_, _>>())
        }
        value => value,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_back_equal(value in value()) {
        let text = yaml::to_string(&value);
        let read: Value = serde_saphyr::from_str(&text)
            .map_err(|error| TestCaseError::fail(format!("not YAML: {error}\n{text}")))?;
        prop_assert_eq!(&read, &as_written(value), "read from\n{}", text);
        prop_assert_eq!(yaml::to_string(&read), text);
    }

    #[test]
    fn a_stream_reads_back_as_its_documents(values in prop::collection::vec(value(), 1..4)) {
        let text = yaml::stream(&values);
        let read: Vec<Value> = serde_saphyr::from_multiple(&text)
            .map_err(|error| TestCaseError::fail(format!("not YAML: {error}\n{text}")))?;
        // The reader leaves out documents that are nothing but null.
        let written: Vec<Value> = values.into_iter().filter(|value| !value.is_null()).map(as_written).collect();
        prop_assert_eq!(read.into_iter().filter(|value| !value.is_null()).collect::<Vec<_>>(), written);
    }
}
