use std::fmt;

use jiff::Timestamp;
use serde_json::Value;

use super::{Column, duration};

/// Finds the first value that the JSONPath of a column selects in an object.
pub type FindValue = Box<dyn for<'a> Fn(&'a Value) -> Option<&'a Value> + Send + Sync>;

/// A printer column of a custom resource.
pub struct CustomColumn {
    /// Its heading and type.
    pub column: Column,
    /// Its JSONPath.
    pub find: FindValue,
}

impl CustomColumn {
    /// The column that custom resources without printer columns have besides their name.
    pub(super) fn age() -> Self {
        Self { column: Column::age(), find: Box::new(|object| object.pointer("/metadata/creationTimestamp")) }
    }

    /// The cell of an object: null where there is no value or it is not of the column's type.
    pub(super) fn cell(&self, object: &Value, now: Timestamp) -> Value {
        let Some(value) = (self.find)(object) else { return Value::Null };
        match (self.column.kind.as_str(), value) {
            ("string", value) => Value::String(go_text(value)),
            ("integer", Value::Number(number)) => {
                number.as_i64().or_else(|| number.as_f64().map(truncate)).map_or(Value::Null, Value::from)
            }
            ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
            ("date", Value::String(time)) => duration::age(Some(time), now).into(),
            _ => Value::Null,
        }
    }
}

impl fmt::Debug for CustomColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomColumn").field("column", &self.column).finish_non_exhaustive()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates, which is more than Go promises")]
fn truncate(number: f64) -> i64 {
    number as i64
}

/// A value as Go's JSONPath prints it.
fn go_text(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".into(),
        Value::Bool(value) => value.to_string(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => number.as_f64().map_or_else(String::new, go_float),
        Value::Number(number) => number.to_string(),
        // Go's JSON is safe in HTML.
        Value::Array(_) | Value::Object(_) => {
            value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
        }
    }
}

/// A number as Go prints it: with an exponent below 1e-4 and from 1e21 on.
fn go_float(number: f64) -> String {
    if number == 0.0 || (1e-4..1e21).contains(&number.abs()) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cell(kind: &str, value: &Value) -> Value {
        let column = CustomColumn {
            column: Column { kind: kind.into(), ..Column::default() },
            find: Box::new(|object| object.get("value")),
        };
        column.cell(&json!({ "value": value }), "2026-01-02T03:04:05Z".parse().unwrap())
    }

    #[test]
    fn string_columns_show_any_value() {
        assert_eq!(cell("string", &json!("a")), json!("a"));
        assert_eq!(cell("string", &json!(7)), json!("7"));
        assert_eq!(cell("string", &json!(1.5)), json!("1.5"));
        assert_eq!(cell("string", &json!(1e-7)), json!("1e-07"));
        assert_eq!(cell("string", &json!(true)), json!("true"));
        assert_eq!(cell("string", &json!(["a", "<b>"])), json!("[\"a\",\"\\u003cb\\u003e\"]"));
    }

    #[test]
    fn typed_columns_show_values_of_their_type_only() {
        assert_eq!(cell("integer", &json!(7)), json!(7));
        assert_eq!(cell("integer", &json!(7.9)), json!(7));
        assert_eq!(cell("integer", &json!("7")), json!(null));
        assert_eq!(cell("number", &json!(7.5)), json!(7.5));
        assert_eq!(cell("boolean", &json!(false)), json!(false));
        assert_eq!(cell("date", &json!("2026-01-02T03:04:00Z")), json!("5s"));
        assert_eq!(cell("date", &json!("soon")), json!("<invalid>"));
        assert_eq!(cell("date", &json!(5)), json!(null));
    }
}
