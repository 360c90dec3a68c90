use std::fmt::{self, Display, Formatter};

use serde::Serialize;
use serde_json::Value;

use super::{FieldPath, go};

/// What is wrong with a field. The names in a `Status` cause are given by [`FieldErrorKind::reason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FieldErrorKind {
    /// Something the value refers to does not exist.
    NotFound,
    /// A value is missing.
    Required,
    /// A value that must be unique is not.
    Duplicate,
    /// A value is malformed or out of bounds.
    Invalid,
    /// A value is not one of the allowed ones.
    NotSupported,
    /// A value is not allowed here.
    Forbidden,
    /// A string is too long.
    TooLong,
    /// A string is too short.
    TooShort,
    /// A list or map has too many entries.
    TooMany,
    /// A list or map has too few entries.
    TooFew,
    /// The check itself failed.
    Internal,
    /// A value has the wrong type.
    TypeInvalid,
}

/// One broken rule of one field: Kubernetes' `field.Error`.
///
/// `Display` writes `field: body`, for instance
/// `spec.replicas: Invalid value: 0: must be greater than or equal to 1`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FieldError {
    /// What is wrong.
    pub kind: FieldErrorKind,
    /// The path of the field, `<nil>` for the object as a whole.
    pub field: String,
    /// The offending value, where the message shows it. `None` leaves it out of the message.
    pub bad_value: Option<Value>,
    /// What is expected, in words. May be empty.
    pub detail: String,
    /// The value as the message shows it, where that is not what JSON makes of it.
    shown: Option<String>,
}

/// A field error as it stands in `status.details.causes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// The machine readable kind, for instance `FieldValueInvalid`.
    pub reason: &'static str,
    /// The message without the field.
    pub message: String,
    /// The path of the field.
    pub field: String,
}

// === impl FieldErrorKind ===

impl FieldErrorKind {
    /// The cause type in a `Status`, for instance `FieldValueRequired`.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooShort => "FieldValueTooShort",
            Self::TooMany => "FieldValueTooMany",
            Self::TooFew => "FieldValueTooFew",
            Self::Internal => "InternalError",
            Self::TypeInvalid => "FieldValueTypeInvalid",
        }
    }

    /// The words that open a message of this kind.
    pub const fn title(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooShort => "Too short",
            Self::TooMany => "Too many",
            Self::TooFew => "Too few",
            Self::Internal => "Internal error",
        }
    }

    const fn shows_value(self) -> bool {
        !matches!(self, Self::Required | Self::Forbidden | Self::TooLong | Self::TooShort | Self::Internal)
    }
}

// === impl FieldError ===

impl FieldError {
    fn new(
        kind: FieldErrorKind,
        field: &FieldPath,
        bad_value: Option<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self { kind, field: field.to_string(), bad_value, detail: detail.into(), shown: None }
    }

    /// `Not found: <value>`.
    pub fn not_found(field: &FieldPath, value: impl Into<Value>) -> Self {
        Self::new(FieldErrorKind::NotFound, field, Some(value.into()), "")
    }

    /// `Required value: <detail>`.
    pub fn required(field: &FieldPath, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Required, field, None, detail)
    }

    /// `Duplicate value: <value>`.
    pub fn duplicate(field: &FieldPath, value: impl Into<Value>) -> Self {
        Self::new(FieldErrorKind::Duplicate, field, Some(value.into()), "")
    }

    /// `Duplicate value`, for values too large to repeat.
    pub fn duplicate_without_value(field: &FieldPath) -> Self {
        Self::new(FieldErrorKind::Duplicate, field, None, "")
    }

    /// `Invalid value: <value>: <detail>`.
    pub fn invalid(field: &FieldPath, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Invalid, field, Some(value.into()), detail)
    }

    /// `Invalid value: <detail>`, for values too large to repeat.
    pub fn invalid_without_value(field: &FieldPath, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Invalid, field, None, detail)
    }

    /// `Invalid value: <value>: <detail>` with the cause `FieldValueTypeInvalid`.
    pub fn type_invalid(field: &FieldPath, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::TypeInvalid, field, Some(value.into()), detail)
    }

    /// `Unsupported value: <value>: supported values: "a", "b"`, in the order given.
    pub fn not_supported<S: AsRef<str>>(field: &FieldPath, value: impl Into<Value>, supported: &[S]) -> Self {
        let mut detail = String::new();
        for (index, value) in supported.iter().enumerate() {
            detail.push_str(if index == 0 { "supported values: " } else { ", " });
            detail.push_str(&go::quote(value.as_ref()));
        }
        Self::new(FieldErrorKind::NotSupported, field, Some(value.into()), detail)
    }

    /// `Forbidden: <detail>`.
    pub fn forbidden(field: &FieldPath, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Forbidden, field, None, detail)
    }

    /// `Too long: may not be more than <max> bytes`.
    pub fn too_long(field: &FieldPath, max: i64) -> Self {
        let detail = match max {
            1 => "may not be more than 1 byte".to_owned(),
            0.. => format!("may not be more than {max} bytes"),
            _ => "value is too long".to_owned(),
        };
        Self::new(FieldErrorKind::TooLong, field, None, detail)
    }

    /// `Too many: <actual>: must have at most <max> items`.
    pub fn too_many(field: &FieldPath, actual: i64, max: i64) -> Self {
        let detail = match max {
            1 => "must have at most 1 item".to_owned(),
            0.. => format!("must have at most {max} items"),
            _ => "has too many items".to_owned(),
        };
        Self::new(FieldErrorKind::TooMany, field, (actual >= 0).then(|| actual.into()), detail)
    }

    /// `Internal error: <detail>`.
    pub fn internal(field: &FieldPath, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Internal, field, None, detail)
    }

    /// Shows the value as `text`. Go writes the fields of a struct in the order of their declaration, which a
    /// [`Value`] does not know.
    #[must_use]
    pub fn shown_as(mut self, text: impl Into<String>) -> Self {
        self.shown = Some(text.into());
        self
    }

    /// The message without the field, as in a cause.
    pub fn body(&self) -> String {
        let mut body = self.kind.title().to_owned();
        if self.kind.shows_value()
            && let Some(value) = &self.bad_value
        {
            body.push_str(": ");
            body.push_str(&match (&self.shown, value) {
                (Some(text), _) => text.clone(),
                (None, Value::String(text)) => go::quote(text),
                (None, Value::Number(number)) => go::number(number),
                (None, other) => go::json(other),
            });
        }
        if !self.detail.is_empty() {
            body.push_str(": ");
            body.push_str(&self.detail);
        }
        body
    }

    /// The error as a cause of a `Status`.
    pub fn cause(&self) -> Cause {
        Cause { reason: self.kind.reason(), message: self.body(), field: self.field.clone() }
    }
}

impl Display for FieldError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

impl std::error::Error for FieldError {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bodies_read_as_in_kubernetes() {
        let path = FieldPath::new("spec.x");
        let cases = [
            (FieldError::required(&path, ""), "Required value"),
            (FieldError::required(&path, "because"), "Required value: because"),
            (FieldError::invalid(&path, "a\"b", "bad"), r#"Invalid value: "a\"b": bad"#),
            (FieldError::invalid(&path, 3, "bad"), "Invalid value: 3: bad"),
            (FieldError::invalid(&path, 1e21, "bad"), "Invalid value: 1e+21: bad"),
            (FieldError::invalid(&path, Value::Null, "bad"), "Invalid value: null: bad"),
            (FieldError::invalid(&path, json!({"a": [1]}), "bad"), r#"Invalid value: {"a":[1]}: bad"#),
            (FieldError::invalid_without_value(&path, "bad"), "Invalid value: bad"),
            (
                FieldError::not_supported(&path, "c", &["a", "b"]),
                r#"Unsupported value: "c": supported values: "a", "b""#,
            ),
            (FieldError::too_long(&path, 5), "Too long: may not be more than 5 bytes"),
            (FieldError::too_long(&path, 1), "Too long: may not be more than 1 byte"),
            (FieldError::too_many(&path, 3, 2), "Too many: 3: must have at most 2 items"),
            (FieldError::too_many(&path, 3, 1), "Too many: 3: must have at most 1 item"),
            (FieldError::duplicate(&path, json!({"k": "v"})), r#"Duplicate value: {"k":"v"}"#),
            (FieldError::forbidden(&path, "no"), "Forbidden: no"),
            (FieldError::internal(&path, "broke"), "Internal error: broke"),
            (
                FieldError::type_invalid(&path, "string", "must be an int"),
                r#"Invalid value: "string": must be an int"#,
            ),
        ];
        for (error, body) in cases {
            assert_eq!(error.body(), body);
            assert_eq!(error.to_string(), format!("spec.x: {body}"));
        }
    }

    #[test]
    fn causes_serialize_as_in_a_status() {
        let cause = FieldError::type_invalid(&FieldPath::root(), "string", "must be an int").cause();
        assert_eq!(
            serde_json::to_value(cause).unwrap(),
            json!({
                "reason": "FieldValueTypeInvalid",
                "message": "Invalid value: \"string\": must be an int",
                "field": "<nil>",
            })
        );
    }
}
