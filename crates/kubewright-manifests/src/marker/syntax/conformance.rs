//! What controller-gen's parser is known to accept and refuse.

use serde_json::{Value, json};

use super::Parser;
use crate::marker::{MarkerError, ValueKind};

fn read(kind: ValueKind, text: &str) -> Result<Value, MarkerError> {
    let mut parser = Parser::new(text, 0);
    let (value, range) = parser.value(kind)?;
    if parser.at_end() {
        assert_eq!(text[range].trim(), text.trim());
        Ok(value)
    } else {
        Err(MarkerError::new("syntax", "extra", parser.rest()))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "every caller makes the value for this call")]
fn reads(kind: ValueKind, text: &str, expected: Value) {
    match read(kind, text) {
        Ok(value) => assert_eq!(value, expected, "{text}"),
        Err(error) => panic!("{text}: {error}"),
    }
}

fn refuses(kind: ValueKind, text: &str) {
    assert!(read(kind, text).is_err(), "{text}");
}

const INTEGERS: ValueKind = ValueKind::List(&ValueKind::List(&ValueKind::Integer));
const TEXTS: ValueKind = ValueKind::List(&ValueKind::String);

#[test]
fn strings_are_quoted_raw_or_bare() {
    for text in [
        "some string here!",
        "aa 0Baaa aaa",
        "/tmp/tmp-CHECKCRD-0B7LDeoZta",
        ".0B7LDeoZt",
        "hey y'all",
        "'quoted'",
        "a=b",
        "a:b",
        "08:00",
        "{a",
        "ä ö",
    ] {
        reads(ValueKind::String, text, json!(text));
    }
    reads(ValueKind::String, r#""some; string, \nhere""#, json!("some; string, \nhere"));
    reads(ValueKind::String, r"`some; string, \nhere`", json!(r"some; string, \nhere"));
    reads(ValueKind::String, r#"say "a,b" twice"#, json!(r#"say "a,b" twice"#));
    reads(ValueKind::String, "``", json!(""));
    for text in ["", "a,b", "a;b", "a}", ",a", r#""a" b"#, r#""a"#, r#""\d""#, r#"a "b"#] {
        refuses(ValueKind::String, text);
    }
}

#[test]
fn a_lone_backtick_is_an_ordinary_character() {
    reads(ValueKind::String, "[a`]", json!("[a`]"));
    reads(ValueKind::String, "\"`\"", json!("`"));
    reads(ValueKind::Any, "a`b;c", json!(["a`b", "c"]));
}

#[test]
fn integers_are_decimal() {
    reads(ValueKind::Integer, "42", json!(42));
    reads(ValueKind::Integer, "-42", json!(-42));
    reads(ValueKind::Integer, "010", json!(10));
    for text in ["", "0x10", "1_000", "+2", "1.5", "a", "1 2", "99999999999999999999999"] {
        refuses(ValueKind::Integer, text);
    }
    reads(ValueKind::Atoi, " +5 ", json!(5));
    refuses(ValueKind::Atoi, "5 # five");
}

#[test]
fn numbers_are_of_two_kinds() {
    reads(ValueKind::Number, "1.5", json!(1.5));
    reads(ValueKind::Number, "-2", json!(-2));
    reads(ValueKind::Number, "1e3", json!(1000));
    refuses(ValueKind::Number, "+2");
    reads(ValueKind::ParseFloat, " +5 ", json!(5));
    reads(ValueKind::ParseFloat, "0x10p0", json!(16));
    for text in ["", "NaN", "Inf", "1 2", "ten", "1,2"] {
        refuses(ValueKind::ParseFloat, text);
    }
}

#[test]
fn booleans_are_two_words() {
    reads(ValueKind::Bool, "true", json!(true));
    reads(ValueKind::Bool, "false", json!(false));
    for text in ["True", "1", "", "truely", "\"true\""] {
        refuses(ValueKind::Bool, text);
    }
}

#[test]
fn lists_have_two_forms() {
    reads(TEXTS, "hi;hello;hey y'all", json!(["hi", "hello", "hey y'all"]));
    reads(TEXTS, "{hi,hello,hey y'all}", json!(["hi", "hello", "hey y'all"]));
    reads(TEXTS, "hi", json!(["hi"]));
    reads(TEXTS, "hi;", json!(["hi"]));
    reads(TEXTS, "{hi,}", json!(["hi"]));
    reads(TEXTS, "{}", json!([]));
    reads(TEXTS, r#""";apps"#, json!(["", "apps"]));
    reads(INTEGERS, "{1;1,2;3,5;8}", json!([[1, 1], [2, 3], [5, 8]]));
    reads(INTEGERS, "{{1,1},{2,3},{5,8}}", json!([[1, 1], [2, 3], [5, 8]]));
    for text in ["", ";a", "a;;b", "{a", "{a;b}", "{,a}", "a,b", "{a}b"] {
        refuses(TEXTS, text);
    }
}

#[test]
fn the_type_of_any_value_is_guessed() {
    let any = ValueKind::Any;
    reads(any, "some string here!", json!("some string here!"));
    reads(any, r#""42""#, json!("42"));
    reads(any, "`true`", json!("true"));
    reads(any, "42", json!(42));
    reads(any, "-42", json!(-42));
    reads(any, "1.5", json!(1.5));
    reads(any, "false", json!(false));
    reads(any, "true", json!(true));
    for text in [
        "087bdd",
        "/tmp/tmp.4paHkdEcpK",
        "123/config",
        "0987",
        "100Mi",
        "2024-01-15",
        "sha256:08a7b",
        "00000000-1234-5678",
        "123abc",
        "truely",
        "'a'",
        "-",
        "1 2",
    ] {
        reads(any, text, json!(text));
    }
    refuses(any, "0x10");
    refuses(any, "");
}

#[test]
fn the_form_of_any_value_is_guessed() {
    let any = ValueKind::Any;
    reads(any, "{hi}", json!(["hi"]));
    reads(any, "{}", json!({}));
    reads(any, "{{}}", json!([{}]));
    reads(any, "hi;hello;hey y'all", json!(["hi", "hello", "hey y'all"]));
    reads(any, "1;2", json!([1, 2]));
    reads(any, "{1;1,2;3,5;8}", json!([[1, 1], [2, 3], [5, 8]]));
    reads(any, "{{1,1},{2,3},{5,8}}", json!([[1, 1], [2, 3], [5, 8]]));
    reads(any, "{a;b}", json!([["a", "b"]]));
    reads(any, "{1, 2.5}", json!([1, 2.5]));
    reads(any, "{formal: hello, `informal`: `hi!`}", json!({"formal": "hello", "informal": "hi!"}));
    reads(any, "{1: a, true: b}", json!({"1": "a", "true": "b"}));
    reads(any, "{{a: 1}, {b: x}}", json!([{"a": 1}, {"b": "x"}]));
    reads(any, "{a: 1 b: 2}", json!({"a": "1 b: 2"}));
    reads(any, "{a: 1;2}", json!({"a": [1, 2]}));
    reads(any, "{a: {x, y}, b: {}}", json!({"a": ["x", "y"], "b": {}}));
    reads(
        any,
        r#"{text: "abc", len: 3, "as bytes": 97;98;99, props: {encoding: ascii, nullsafe: true, tags: {"triple", "in a row"}}}"#,
        json!({
            "text": "abc",
            "len": 3,
            "as bytes": [97, 98, 99],
            "props": {"encoding": "ascii", "nullsafe": true, "tags": ["triple", "in a row"]},
        }),
    );
    for text in ["{a", "{a: }", "{a: 1", "{a: 1,, b: 2}", "{1, a}", "{a: 1, a: 2}"] {
        refuses(any, text);
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| format!("{}1{}", "{".repeat(depth), "}".repeat(depth));
    assert!(read(ValueKind::Any, &nested(super::MAX_DEPTH)).is_ok());
    assert!(read(ValueKind::Any, &nested(super::MAX_DEPTH + 1)).is_err());
    refuses(ValueKind::Any, &nested(100_000));
    refuses(ValueKind::Any, &"{".repeat(100_000));
    refuses(ValueKind::Any, &"{a:".repeat(100_000));
}

#[test]
fn json_may_be_a_reference_to_go() {
    reads(ValueKind::Json, r#"{"a": [1, null]}"#, json!({"a": [1, null]}));
    reads(ValueKind::Json, "ref(DefaultPort)", json!(null));
    assert_eq!(read(ValueKind::Json, "abc").unwrap_err().help, [r#"a text is written "abc""#]);
}

#[test]
fn the_rest_is_read_raw() {
    reads(ValueKind::Raw, "this;totally,doesn't;get,parsed", json!("this;totally,doesn't;get,parsed"));
}

#[test]
fn declarative_validation_may_have_a_comment() {
    let kind = ValueKind::Commented(&ValueKind::ParseFloat);
    for text in ["5 # at least", "5#", "5"] {
        let mut parser = Parser::new(text, 0);
        assert_eq!(parser.value(kind).unwrap().0, json!(5), "{text}");
        assert!(parser.at_end());
    }
    assert!(read(kind, "# 5").is_err());
}
