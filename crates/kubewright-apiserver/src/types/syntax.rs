//! Go's words for JSON that does not parse. Clients and tests know them.

/// What Go says of the place where `error` found broken JSON in `text`.
pub(crate) fn message(text: &[u8], error: &serde_json::Error) -> String {
    if error.is_eof() {
        // Go finds the end of a literal by the blank that it reads behind the text.
        let in_value = error.to_string().starts_with("EOF while parsing a value");
        return match expected_in_literal(text).filter(|_| in_value) {
            Some((literal, next)) => {
                format!("invalid character ' ' in literal {literal} (expecting '{next}')")
            }
            None => "unexpected end of JSON input".to_owned(),
        };
    }
    let (place, at) = place(text, error);
    match at {
        Some(c) => format!("invalid character {} {place}", go_char(c)),
        None => "unexpected end of JSON input".to_owned(),
    }
}

/// Where the error stands in the grammar, and the character there.
fn place(text: &[u8], error: &serde_json::Error) -> (&'static str, Option<char>) {
    let words = error.to_string();
    // serde_json counts columns from 1 and points at the character, or behind it for literals.
    let line = text.split(|byte| *byte == b'\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let column = error.column().saturating_sub(1);
    let at = |column: usize| {
        let rest = String::from_utf8_lossy(line.get(column..).unwrap_or_default());
        rest.chars().next()
    };
    let here = at(column);
    let place = if words.starts_with("expected `:`") {
        "after object key"
    } else if words.starts_with("expected `,` or `}`") {
        "after object key:value pair"
    } else if words.starts_with("expected `,` or `]`") {
        "after array element"
    } else if words.starts_with("key must be a string") {
        "looking for beginning of object key string"
    } else if words.starts_with("trailing comma") {
        if here == Some('}') {
            "looking for beginning of object key string"
        } else {
            "looking for beginning of value"
        }
    } else if words.starts_with("trailing characters") {
        "after top-level value"
    } else if words.starts_with("expected ident") {
        "in literal"
    } else if words.starts_with("invalid escape") {
        "in string escape code"
    } else if words.starts_with("control character") {
        "in string literal"
    } else if words.starts_with("invalid number") {
        "in numeric literal"
    } else {
        "looking for beginning of value"
    };
    (place, here)
}

/// The literal that the text ends within, and the character that should follow.
fn expected_in_literal(text: &[u8]) -> Option<(&'static str, char)> {
    let start = text.iter().rposition(|byte| !byte.is_ascii_lowercase()).map_or(0, |at| at + 1);
    let word = std::str::from_utf8(text.get(start..)?).ok().filter(|word| !word.is_empty())?;
    let literal = ["null", "true", "false"].into_iter().find(|literal| literal.starts_with(word))?;
    Some((literal, literal.chars().nth(word.len())?))
}

fn go_char(c: char) -> String {
    match c {
        '\'' => r"'\''".to_owned(),
        '"' => "'\"'".to_owned(),
        '\n' => r"'\n'".to_owned(),
        '\r' => r"'\r'".to_owned(),
        '\t' => r"'\t'".to_owned(),
        c if c.is_control() => format!("'\\x{:02x}'", u32::from(c)),
        c => format!("'{c}'"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    #[test]
    fn broken_json_is_described_as_go_does() {
        for (text, want) in [
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            ("nul", "invalid character ' ' in literal null (expecting 'l')"),
            (r#"{"a":f"#, "invalid character ' ' in literal false (expecting 'a')"),
            (r#"{"n"#, "unexpected end of JSON input"),
            (r#"{"a":1"#, "unexpected end of JSON input"),
            (r#"{"a":}"#, "invalid character '}' looking for beginning of value"),
            (r#"{"a" 1}"#, "invalid character '1' after object key"),
            (r"{a:1}", "invalid character 'a' looking for beginning of object key string"),
            (r"[1,]", "invalid character ']' looking for beginning of value"),
            (r#"{"a":1,}"#, "invalid character '}' looking for beginning of object key string"),
            (r#"{"a":1}x"#, "invalid character 'x' after top-level value"),
            (r#"{"a":[1 2]}"#, "invalid character '2' after array element"),
            (r#"{"a":1 "b"}"#, "invalid character '\"' after object key:value pair"),
            ("{\n\"a\":x}", "invalid character 'x' looking for beginning of value"),
        ] {
            let error = serde_json::from_str::<Value>(text).unwrap_err();
            assert_eq!(super::message(text.as_bytes(), &error), want, "{text} ({error})");
        }
    }
}
