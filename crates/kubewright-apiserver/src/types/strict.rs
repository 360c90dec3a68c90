//! Decoding JSON with Kubernetes' strictness: fields that the type does not have, fields that come
//! twice, and values of the wrong kind, in the words and the order of a real server.

use std::collections::BTreeSet;
use std::fmt;

use kubewright_schema::error::go;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{Field, Shape, Special, Type, Types, ValueType, base64, canonical, quantity, syntax, time};

/// A decoded body.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The object. One of a known type is in [`canonical`] form but for empty lists and maps, which a default does not
    /// replace, and without unknown fields; of a field that came twice the last value counts,
    /// but for fields within it that the first has alone.
    pub value: Value,
    /// `unknown field "spec.foo"` and `duplicate field "spec.bar"`, in the order they stand in the
    /// body, each once, at most 100: errors under strict field validation, warnings otherwise.
    pub strict_errors: Vec<String>,
}

/// Why a body could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// It is not JSON: `invalid character 'x' looking for beginning of value`.
    #[error("{0}")]
    Syntax(String),
    /// A value does not fit its field: `json: cannot unmarshal string into Go struct field
    /// DeploymentSpec.spec.replicas of type int32`.
    #[error("{0}")]
    Type(String),
}

const MAX_STRICT_ERRORS: usize = 100;

/// Decodes a JSON body. Without a type only fields that come twice are found.
pub fn decode(body: &[u8], ty: Option<&Type>) -> Result<Decoded, DecodeError> {
    let mut context = Context::new();
    let expected = ty.map_or(Expected::Anything, |ty| match ty.special {
        Some(special) => Expected::Special(special),
        None => Expected::Struct(ty),
    });
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let decoded = Seed { expected, context: &mut context }.deserialize(&mut deserializer);
    let decoded = decoded.and_then(|value| deserializer.end().map(|()| value));
    let mut value = decoded.map_err(|error| DecodeError::Syntax(syntax::message(body, &error)))?;
    if let Some(error) = context.type_error {
        return Err(DecodeError::Type(error));
    }
    if let Some(ty) = ty {
        canonical::canonicalize_decoded(ty, &mut value);
    }
    Ok(Decoded { value, strict_errors: context.strict_errors })
}

/// What a type allows at one place.
#[derive(Clone, Copy)]
enum Expected<'t> {
    /// Anything, with fields that come twice reported.
    Anything,
    /// Anything, not looked into.
    Opaque,
    Struct(&'t Type),
    Special(Special),
    /// A scalar, with the name of its Go type if that is one of its own.
    Scalar(ValueType, Option<&'t str>),
    List(&'t Field),
    Map(&'t Field),
    /// A list of strings that has a name of its own.
    NamedList(&'t str),
}

struct Context<'t> {
    types: &'t Types,
    /// Where we are, as strict errors name it: `spec.containers[0].name`.
    path: Vec<Step>,
    /// Where we are, as type errors name it: struct fields only.
    fields: Vec<String>,
    /// The innermost struct.
    in_struct: Option<&'t str>,
    strict_errors: Vec<String>,
    seen_errors: BTreeSet<String>,
    /// Only the first counts.
    type_error: Option<String>,
}

enum Step {
    Field(String),
    Index(usize),
}

struct Seed<'t, 'c> {
    expected: Expected<'t>,
    context: &'c mut Context<'t>,
}

// === impl Expected ===

impl<'t> Expected<'t> {
    fn of_field(types: &'t Types, field: &'t Field) -> Self {
        match field.shape {
            Shape::One => Self::of_item(types, field),
            Shape::List => Self::List(field),
            Shape::Map => Self::Map(field),
        }
    }

    /// The value, an item or a map value.
    fn of_item(types: &'t Types, field: &'t Field) -> Self {
        match field.value {
            ValueType::Any => Self::Opaque,
            ValueType::Message(id) => match types.by_id(id) {
                Some(Type { special: Some(Special::List), .. }) => {
                    Self::NamedList(field.go_item.as_deref().unwrap_or("[]string"))
                }
                Some(ty) => ty.special.map_or(Self::Struct(ty), Self::Special),
                None => Self::Opaque,
            },
            scalar => Self::Scalar(scalar, field.go_item.as_deref()),
        }
    }

    /// The type as Go prints it.
    fn go_type(self, types: &'t Types) -> String {
        match self {
            Self::Anything | Self::Opaque => "interface {}".to_owned(),
            Self::Struct(ty) => ty.go_name().to_owned(),
            Self::Special(special) => match special {
                Special::Time | Special::MicroTime => "string",
                Special::Quantity => "resource.Quantity",
                Special::IntOrString => "int32",
                _ => "interface {}",
            }
            .to_owned(),
            Self::Scalar(_, Some(name)) | Self::NamedList(name) => name.to_owned(),
            Self::Scalar(scalar, None) => match scalar {
                ValueType::String => "string",
                ValueType::Bytes => "[]uint8",
                ValueType::Bool => "bool",
                ValueType::Int32 => "int32",
                ValueType::Int64 => "int64",
                ValueType::Double => "float64",
                ValueType::Any | ValueType::Message(_) => "interface {}",
            }
            .to_owned(),
            Self::List(Field { go_type: Some(name), .. }) | Self::Map(Field { go_type: Some(name), .. }) => {
                name.clone()
            }
            Self::List(field) => format!("[]{}", Self::of_item(types, field).go_type(types)),
            Self::Map(field) => format!("map[string]{}", Self::of_item(types, field).go_type(types)),
        }
    }
}

// === impl Context ===

impl<'t> Context<'t> {
    fn new() -> Self {
        Self {
            types: Types::get(),
            path: Vec::new(),
            fields: Vec::new(),
            in_struct: None,
            strict_errors: Vec::new(),
            seen_errors: BTreeSet::new(),
            type_error: None,
        }
    }

    fn strict_error(&mut self, what: &str, field: &str) {
        if self.strict_errors.len() >= MAX_STRICT_ERRORS {
            return;
        }
        let mut path = String::new();
        for step in &self.path {
            match step {
                Step::Field(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(name);
                }
                Step::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(field);
        let error = format!("{what} field {}", go::quote(&path));
        if self.seen_errors.insert(error.clone()) {
            self.strict_errors.push(error);
        }
    }

    fn fail(&mut self, error: impl FnOnce() -> String) {
        if self.type_error.is_none() {
            self.type_error = Some(error());
        }
    }

    fn mismatch(&mut self, got: &str, expected: Expected<'t>) {
        if self.type_error.is_some() {
            return;
        }
        let ty = expected.go_type(self.types);
        let place = match self.in_struct {
            Some(name) => format!("struct field {name}.{} of", self.fields.join(".")),
            None => "value of".to_owned(),
        };
        self.type_error = Some(format!("json: cannot unmarshal {got} into Go {place} type {ty}"));
    }
}

// === impl Seed ===

impl<'de> DeserializeSeed<'de> for Seed<'_, '_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Seed<'_, '_> {
    fn number(self, number: Number) -> Value {
        let integer_range = match self.expected {
            Expected::Scalar(ValueType::Int32, _) | Expected::Special(Special::IntOrString) => {
                Some(i64::from(i32::MIN)..=i64::from(i32::MAX))
            }
            Expected::Scalar(ValueType::Int64, _) => Some(i64::MIN..=i64::MAX),
            Expected::Scalar(ValueType::Double, _)
            | Expected::Special(
                Special::Quantity | Special::RawExtension | Special::FieldsV1 | Special::Json,
            )
            | Expected::Anything
            | Expected::Opaque => None,
            expected => {
                self.context.mismatch("number", expected);
                return Value::Number(number);
            }
        };
        if let Some(range) = integer_range
            && !number.as_i64().is_some_and(|integer| range.contains(&integer))
        {
            // Go shows the digits as they stand; a float without a fraction still has its point.
            let digits = match number.as_f64().filter(|_| number.is_f64()) {
                Some(float) => format!("{float:?}"),
                None => number.to_string(),
            };
            self.context.mismatch(&format!("number {digits}"), self.expected);
        }
        Value::Number(number)
    }

    fn string(self, text: &str) {
        match self.expected {
            Expected::Special(special @ (Special::Time | Special::MicroTime)) => {
                if let Err(error) = time::check(text, special == Special::MicroTime) {
                    self.context.fail(|| error);
                }
            }
            Expected::Special(Special::Quantity) => {
                if let Err(error) = quantity::canonical(text.trim()) {
                    self.context.fail(|| error.to_string());
                }
            }
            Expected::Scalar(ValueType::Bytes, _) => {
                if let Err(at) = base64::check(text) {
                    self.context.fail(|| format!("illegal base64 data at input byte {at}"));
                }
            }
            Expected::Scalar(ValueType::String, _)
            | Expected::Special(
                Special::IntOrString | Special::RawExtension | Special::FieldsV1 | Special::Json,
            )
            | Expected::Anything
            | Expected::Opaque => {}
            expected => self.context.mismatch("string", expected),
        }
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        match self.expected {
            Expected::Scalar(ValueType::Bool, _)
            | Expected::Special(
                Special::RawExtension | Special::FieldsV1 | Special::Json | Special::SchemaOrBool,
            )
            | Expected::Anything
            | Expected::Opaque => {}
            Expected::Special(Special::Quantity) => {
                self.context.fail(|| quantity::QuantityError::Format.to_string());
            }
            expected => self.context.mismatch("bool", expected),
        }
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(self.number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(self.number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("number out of range"))?;
        Ok(self.number(number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        self.string(value);
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        self.string(&value);
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let Self { expected, context } = self;
        let item = match expected {
            Expected::List(field) => Expected::of_item(context.types, field),
            Expected::NamedList(_) => Expected::Scalar(ValueType::String, None),
            Expected::Anything => Expected::Anything,
            Expected::Opaque | Expected::Special(_) => Expected::Opaque,
            expected => {
                context.mismatch("array", expected);
                Expected::Opaque
            }
        };
        if matches!(expected, Expected::Special(Special::Quantity)) {
            context.fail(|| quantity::QuantityError::Format.to_string());
        } else if matches!(
            expected,
            Expected::Special(Special::Time | Special::MicroTime | Special::IntOrString)
        ) {
            context.mismatch("array", expected);
        }
        let mut out = Vec::new();
        loop {
            context.path.push(Step::Index(out.len()));
            let next = items.next_element_seed(Seed { expected: item, context: &mut *context })?;
            context.path.pop();
            match next {
                Some(item) => out.push(item),
                None => return Ok(Value::Array(out)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let Self { expected, context } = self;
        match expected {
            Expected::Special(Special::Quantity) => {
                context.fail(|| quantity::QuantityError::Format.to_string());
            }
            Expected::Special(Special::Time | Special::MicroTime | Special::IntOrString)
            | Expected::NamedList(_)
            | Expected::Scalar(..)
            | Expected::List(_) => context.mismatch("object", expected),
            _ => {}
        }
        let mut out = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let (inner, field) = match expected {
                Expected::Struct(ty) => match ty.field(&name) {
                    Some(field) => (Expected::of_field(context.types, field), Some((ty, field))),
                    None => {
                        context.strict_error("unknown", &name);
                        entries.next_value::<serde::de::IgnoredAny>()?;
                        continue;
                    }
                },
                Expected::Map(field) => (Expected::of_item(context.types, field), None),
                Expected::Anything => (Expected::Anything, None),
                _ => (Expected::Opaque, None),
            };
            let looked_into = !matches!(inner, Expected::Opaque) || field.is_some();
            if looked_into && out.contains_key(&name) {
                context.strict_error("duplicate", &name);
            }
            let outer = context.in_struct;
            let depth = context.fields.len();
            if let Some((ty, field)) = field {
                context.in_struct = Some(ty.short_name());
                context.fields.extend(field.embedded_in.iter().cloned());
                context.fields.push(name.clone());
            }
            context.path.push(Step::Field(name.clone()));
            let value = entries.next_value_seed(Seed { expected: inner, context: &mut *context })?;
            context.path.pop();
            context.fields.truncate(depth);
            context.in_struct = outer;
            let value = match out.remove(&name) {
                Some(before) => read_again(context.types, inner, before, value),
                None => value,
            };
            out.insert(name, value);
        }
        Ok(Value::Object(out))
    }
}

/// What Go has of a field that comes twice: it reads the second value into the first, of which other fields stay.
fn read_again(types: &Types, expected: Expected<'_>, before: Value, now: Value) -> Value {
    match (expected, before, now) {
        (Expected::Map(_), Value::Object(mut before), Value::Object(now)) => {
            before.extend(now);
            Value::Object(before)
        }
        (Expected::Struct(ty), Value::Object(mut before), Value::Object(now)) => {
            for (name, value) in now {
                let value = match (ty.field(&name), before.remove(&name)) {
                    (Some(field), Some(old)) => {
                        read_again(types, Expected::of_field(types, field), old, value)
                    }
                    _ => value,
                };
                before.insert(name, value);
            }
            Value::Object(before)
        }
        (_, _, now) => now,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn deployment() -> &'static Type {
        Types::get().kind("apps", "v1", "Deployment").unwrap()
    }

    fn type_error(body: &Value) -> String {
        decode(body.to_string().as_bytes(), Some(deployment())).unwrap_err().to_string()
    }

    #[test]
    fn strict_errors_come_in_the_order_of_the_body() {
        let body = br#"{"zeta":1,"metadata":{"labels":{"a":"b","a":"c"},"zz":1},"alpha":2,"spec":{"foo":1,
            "replicas":1,"replicas":2,"template":{"spec":{"containers":[{"name":"c","bar":{"x":1}}],"containers":[]}}}}"#;
        let decoded = decode(body, Some(deployment())).unwrap();
        assert_eq!(
            decoded.strict_errors,
            [
                "unknown field \"zeta\"",
                "duplicate field \"metadata.labels.a\"",
                "unknown field \"metadata.zz\"",
                "unknown field \"alpha\"",
                "unknown field \"spec.foo\"",
                "duplicate field \"spec.replicas\"",
                "unknown field \"spec.template.spec.containers[0].bar\"",
                "duplicate field \"spec.template.spec.containers\"",
            ]
        );
        assert_eq!(decoded.value["spec"]["replicas"], 2);
        assert!(decoded.value.get("zeta").is_none());
    }

    #[test]
    fn without_a_type_only_duplicates_are_found() {
        let decoded = decode(br#"{"a":[{"b":1,"b":2}],"c":{}}"#, None).unwrap();
        assert_eq!(decoded.strict_errors, ["duplicate field \"a[0].b\""]);
        assert_eq!(decoded.value, json!({"a": [{"b": 2}], "c": {}}));
    }

    #[test]
    fn values_of_the_wrong_kind_are_named_with_struct_and_field() {
        let containers =
            |container: Value| json!({"spec": {"template": {"spec": {"containers": [container]}}}});
        for (body, want) in [
            (
                json!({"spec": {"replicas": "x"}}),
                "string into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                json!({"spec": {"replicas": 1.5}}),
                "number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                json!({"spec": {"replicas": 1.0}}),
                "number 1.0 into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                json!({"spec": {"replicas": 99_999_999_999_i64}}),
                "number 99999999999 into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                json!({"metadata": {"labels": {"a": 1}}}),
                "number into Go struct field ObjectMeta.metadata.labels of type string",
            ),
            (
                json!({"metadata": {"labels": ["a"]}}),
                "array into Go struct field ObjectMeta.metadata.labels of type map[string]string",
            ),
            (
                json!({"spec": {"template": {"spec": {"containers": {"a": 1}}}}}),
                "object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
            ),
            (
                containers(json!({"name": 1})),
                "number into Go struct field Container.spec.template.spec.containers.name of type string",
            ),
            (
                containers(json!("a")),
                "string into Go struct field PodSpec.spec.template.spec.containers of type v1.Container",
            ),
            (json!({"spec": "x"}), "string into Go struct field Deployment.spec of type v1.DeploymentSpec"),
            (
                json!({"metadata": {"deletionTimestamp": 1}}),
                "number into Go struct field ObjectMeta.metadata.deletionTimestamp of type string",
            ),
            (
                containers(json!({"livenessProbe": {"httpGet": {"port": true}}})),
                "bool into Go struct field HTTPGetAction.spec.template.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32",
            ),
        ] {
            assert_eq!(type_error(&body), format!("json: cannot unmarshal {want}"), "{body}");
        }
        assert_eq!(
            type_error(&containers(json!({"resources": {"limits": {"cpu": "x"}}}))),
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        );
        assert_eq!(
            type_error(&json!({"metadata": {"deletionTimestamp": "x"}})),
            r#"parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006""#
        );
    }

    #[test]
    fn bytes_are_base64() {
        let secret = Types::get().kind("", "v1", "Secret");
        for text in ["!!", "abc"] {
            let error = decode(json!({"data": {"a": text}}).to_string().as_bytes(), secret).unwrap_err();
            assert_eq!(error.to_string(), "illegal base64 data at input byte 0", "{text}");
        }
        let error = decode(br#"{"data":{"a":1}}"#, secret).unwrap_err();
        assert_eq!(
            error.to_string(),
            "json: cannot unmarshal number into Go struct field Secret.data of type []uint8"
        );
        assert!(decode(br#"{"data":{"a":"YQ=="}}"#, secret).is_ok());
    }

    #[test]
    fn broken_json_is_a_syntax_error() {
        assert_eq!(
            decode(b"{\"a\":1}x", None),
            Err(DecodeError::Syntax("invalid character 'x' after top-level value".to_owned()))
        );
    }

    #[test]
    fn a_null_fits_everywhere() {
        let body =
            json!({"metadata": null, "spec": {"replicas": null, "template": {"spec": {"containers": null}}}});
        let decoded = decode(body.to_string().as_bytes(), Some(deployment())).unwrap();
        assert_eq!(decoded.strict_errors, [""; 0]);
    }

    proptest! {
        #[test]
        fn no_body_panics(body in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = decode(&body, Some(deployment()));
        }

        #[test]
        fn without_a_type_the_value_is_that_of_serde_json(text in r#"[\[\]{}:,"a0-9.e-]{0,24}"#) {
            let plain = serde_json::from_str::<Value>(&text).ok();
            prop_assert_eq!(decode(text.as_bytes(), None).ok().map(|decoded| decoded.value), plain);
        }
    }
}
