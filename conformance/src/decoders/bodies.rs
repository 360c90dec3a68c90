//! Bodies of writes.

use kubewright_apiserver::{
    defaults,
    types::{Type, Types, canonical, strict},
    wire,
};
use serde_json::Value;

/// A JSON body is decoded as the kind that it says it is of. Decoding what comes out again changes nothing, and neither does
/// defaulting twice.
pub fn json(body: &[u8]) {
    let Ok(untyped) = strict::decode(body, None) else {
        assert!(strict::decode(body, Types::get().iter().next()).is_err());
        return;
    };
    let Some(ty) = kind(&untyped.value) else { return };
    let Ok(decoded) = strict::decode(body, Some(ty)) else { return };
    let again =
        strict::decode(decoded.value.to_string().as_bytes(), Some(ty)).expect("it was decoded before");
    assert_eq!(again.value, decoded.value);
    assert_eq!(again.strict_errors, Vec::<String>::new(), "unknown and doubled fields are gone");
    let mut object = decoded.value;
    canonical::canonicalize(ty, &mut object);
    default(&mut object);
    let once = object.clone();
    default(&mut object);
    assert_eq!(object, once);
}

/// A YAML body is read, or refused with a line. What comes out reads the same when it is written as JSON.
pub fn yaml(body: &[u8]) {
    let _ = wire::yaml::duplicate_key(body);
    let Ok(value) = wire::yaml::parse(body) else { return };
    let text = value.to_string();
    // YAML does not have these in a text, not even in one that JSON writes so.
    let is_yaml = |c: char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}' | '\u{feff}');
    if text.chars().all(is_yaml) {
        match wire::yaml::parse(text.as_bytes()) {
            Ok(again) => assert_eq!(again, value),
            Err(error) => panic!("{error}: {text}"),
        }
    }
}

/// A protobuf body is an object of a built-in kind whose fields are its kind's, or refused.
pub fn protobuf(body: &[u8]) {
    let Ok(value) = wire::protobuf::decode(body) else { return };
    assert!(wire::protobuf::is_protobuf(body));
    json(value.to_string().as_bytes());
}

/// The type of the built-in kind that an object says it is of.
pub(super) fn kind(object: &Value) -> Option<&'static Type> {
    let (group, version, kind) = names(object);
    Types::get().kind(group, version, kind)
}

/// Group, version and kind of an object, as it says.
pub(super) fn names(object: &Value) -> (&str, &str, &str) {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    (group, version, text("kind"))
}

fn default(object: &mut Value) {
    let own = object.clone();
    let (group, version, kind) = names(&own);
    defaults::apply(group, version, kind, object);
}
