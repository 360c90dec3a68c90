//! Functions of the language, of optional values, and what macros stand for. All others are those of a library.

use std::sync::Arc;

use kube_cel::cel::{
    Value as Cel,
    objects::{Key, Map, Opaque},
};

use super::{
    Failure, Message, Outcome, access, calendar, evaluator::optional_of, meter::Meter, node::key_of,
    unreadable,
};
use crate::{error::go, structural::Pattern};

/// The functions that are here and in no library.
const OWN: [&str; 43] = [
    "@in",
    "@sortByAssociatedKeys",
    "!_",
    "-_",
    "_!=_",
    "_%_",
    "_*_",
    "_+_",
    "_-_",
    "_/_",
    "_<=_",
    "_<_",
    "_==_",
    "_>=_",
    "_>_",
    "bool",
    "bytes",
    "cel.@mapInsert",
    "contains",
    "double",
    "duration",
    "dyn",
    "endsWith",
    "first",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
    "hasValue",
    "int",
    "last",
    "matches",
    "size",
    "startsWith",
    "timestamp",
    "type",
    "uint",
];

/// A type as a value.
#[derive(Debug, PartialEq, Eq)]
struct TypeName(String);

impl Opaque for TypeName {
    fn runtime_type_name(&self) -> &'static str {
        "type"
    }
}

/// Whether a library has the function.
pub(super) fn of_library(function: &str) -> bool {
    !OWN.contains(&function)
        && !function.starts_with("optional.")
        && !matches!(function, "value" | "unwrapOpt" | "or" | "orValue")
}

/// Applies a function.
pub(super) fn apply(function: &str, operands: &[Cel], meter: &mut Meter) -> Outcome {
    if let Some(part) = calendar::apply(function, operands) {
        return part;
    }
    let bool = |flag: bool| Ok(Cel::Bool(flag));
    match (function, operands) {
        ("size", [value]) => size(value),
        ("contains", [Cel::String(text), Cel::String(part)]) => bool(text.contains(part.as_str())),
        ("startsWith", [Cel::String(text), Cel::String(part)]) => bool(text.starts_with(part.as_str())),
        ("endsWith", [Cel::String(text), Cel::String(part)]) => bool(text.ends_with(part.as_str())),
        ("matches", [Cel::String(text), Cel::String(pattern)]) => match Pattern::new(pattern) {
            Ok(pattern) => bool(pattern.is_match(text)),
            Err(error) => Err(Failure::other(error.to_string())),
        },
        ("optional.none", []) => Ok(optional_of(None)),
        ("optional.of", [value]) => Ok(optional_of(Some(value.clone()))),
        ("optional.ofNonZeroValue", [value]) => {
            Ok(optional_of(Some(value.clone()).filter(|_| !is_zero(value))))
        }
        ("hasValue", [value]) => match access::optional(value) {
            Some(inner) => bool(inner.is_some()),
            None => Err(mismatch(function, operands)),
        },
        ("value", [value]) => match access::optional(value) {
            Some(Some(inner)) => Ok(inner.clone()),
            Some(None) => Err(Failure::other("optional.none() dereference")),
            None => Err(mismatch(function, operands)),
        },
        ("first", [Cel::List(items)]) => Ok(optional_of(items.first().cloned())),
        ("last", [Cel::List(items)]) => Ok(optional_of(items.last().cloned())),
        ("optional.unwrap" | "unwrapOpt", [Cel::List(items)]) => {
            let inner =
                items.iter().map(|item| access::optional(item).ok_or_else(|| mismatch(function, operands)));
            let inner: Vec<Option<&Cel>> = inner.collect::<Result<_, _>>()?;
            Ok(Cel::List(Arc::new(inner.into_iter().flatten().cloned().collect())))
        }
        ("cel.@mapInsert", [Cel::Map(map), Cel::Map(more)]) => {
            let added = more.map.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
            insert(map, added, meter)
        }
        ("cel.@mapInsert", [Cel::Map(map), key, value]) => match key_of(key) {
            Some(key) => insert(map, vec![(key, value.clone())], meter),
            None => Err(Failure::other(format!("unsupported key type: {}", type_name(key)))),
        },
        ("contains" | "startsWith" | "endsWith" | "matches", _) => Err(Failure::no_such_overload()),
        ("size", _) => Err(Failure::NoSuchOverload(": size".to_owned())),
        _ => Err(mismatch(function, operands)),
    }
}

/// What a function of a library is given. What is built of a version is no part of it, be it compared or told.
pub(super) fn prepare(function: &str, operands: &mut [Cel]) {
    if let ("semver", Some(Cel::String(text))) = (function, operands.first_mut())
        && unreadable::version(text).is_none()
        && let Some((version, _)) = text.split_once('+')
    {
        *text = Arc::new(version.to_owned());
    }
}

/// What a function of a library gives, in the words of Go where it fails.
pub(super) fn adapt(function: &str, operands: &[Cel], result: Outcome) -> Outcome {
    let given = match operands.first() {
        Some(Cel::String(text)) => text.as_str(),
        _ => "",
    };
    // The library reads more than a server does.
    let result = match (function, &result) {
        ("cidr", Ok(_)) => unreadable::range(given).map_or(result, |why| Err(Failure::Other(why))),
        ("quantity", Ok(_)) if given.contains(char::is_whitespace) => Err(Failure::other("")),
        ("containsIP", Err(_)) => Err(Failure::no_such_overload()),
        _ => result,
    };
    let Err(Failure::Other(text)) = result else { return result };
    let argument = || match operands.get(1) {
        Some(Cel::String(text)) => Some(text.as_str()),
        _ => None,
    };
    Err(Failure::Other(match function {
        "quantity" => "quantities must match the regular expression \
                       '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            .to_owned(),
        "asInteger" => "cannot convert value to integer".to_owned(),
        "ip" => unreadable::address(given).unwrap_or(text),
        "cidr" => unreadable::range(given).unwrap_or(text),
        "containsCIDR" => argument().and_then(unreadable::range).unwrap_or(text),
        "semver" => unreadable::version(given).unwrap_or(text),
        "find" | "findAll" => match operands.get(1) {
            Some(Cel::String(pattern)) => match Pattern::new(pattern) {
                Err(error) => format!("Illegal regex: {error}"),
                Ok(_) => text,
            },
            _ => text,
        },
        _ => text,
    }))
}

/// That a function does not take operands of these types.
fn mismatch(function: &str, operands: &[Cel]) -> Failure {
    let types: Vec<String> = operands.iter().map(type_name).collect();
    Failure::NoSuchOverload(format!(": {function}({})", types.join(", ")))
}

fn size(value: &Cel) -> Outcome {
    let size = match value {
        Cel::String(text) => text.chars().count(),
        Cel::Bytes(bytes) => bytes.len(),
        Cel::List(items) => items.len(),
        Cel::Map(map) => map.map.len(),
        _ => return Err(Failure::NoSuchOverload(": size".to_owned())),
    };
    Ok(Cel::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

fn is_zero(value: &Cel) -> bool {
    match value {
        Cel::Opaque(opaque) => opaque.downcast_ref::<Message>().is_some_and(Message::is_zero),
        other => other.is_zero(),
    }
}

/// A map with more entries.
fn insert(map: &Map, added: Vec<(Key, Cel)>, meter: &mut Meter) -> Outcome {
    // The map is copied, which cel-go does not do.
    meter.pay(map.map.len() as u64 / 16)?;
    let mut map = (*map.map).clone();
    for (key, value) in added {
        if map.contains_key(&key) {
            return Err(Failure::other(format!("insert failed: key {key} already exists")));
        }
        map.insert(key, value);
    }
    Ok(Cel::Map(Map { map: Arc::new(map) }))
}

/// The type of a name as a value.
pub(super) fn type_named(name: &str) -> Cel {
    let name = match name {
        "duration" => "google.protobuf.Duration",
        "timestamp" => "google.protobuf.Timestamp",
        other => other,
    };
    Cel::Opaque(Arc::new(TypeName(name.to_owned())))
}

/// The type of a value as a value.
pub(super) fn type_of(value: &Cel) -> Cel {
    type_named(&type_name(value))
}

/// The name of the type of a value.
pub(super) fn type_name(value: &Cel) -> String {
    match value {
        Cel::List(_) => "list",
        Cel::Map(_) => "map",
        Cel::Function(..) => "function",
        Cel::Int(_) => "int",
        Cel::UInt(_) => "uint",
        Cel::Float(_) => "double",
        Cel::String(_) => "string",
        Cel::Bytes(_) => "bytes",
        Cel::Bool(_) => "bool",
        Cel::Duration(_) => "google.protobuf.Duration",
        Cel::Timestamp(_) => "google.protobuf.Timestamp",
        Cel::Opaque(opaque) => opaque.runtime_type_name(),
        Cel::Null => "null_type",
    }
    .to_owned()
}

/// The Go type of a value.
pub(super) fn go_value_type(value: &Cel) -> &'static str {
    match value {
        Cel::Int(_) => "types.Int",
        Cel::UInt(_) => "types.Uint",
        Cel::Float(_) => "types.Double",
        Cel::String(_) => "types.String",
        Cel::Bytes(_) => "types.Bytes",
        Cel::Bool(_) => "types.Bool",
        Cel::Duration(_) => "types.Duration",
        Cel::Timestamp(_) => "types.Timestamp",
        Cel::Null => "types.Null",
        Cel::List(_) => "*types.baseList",
        Cel::Map(_) => "*types.baseMap",
        Cel::Opaque(_) | Cel::Function(..) => "*types.Optional",
    }
}

/// The Go type of what a value holds.
pub(super) fn go_type(value: &Cel) -> &'static str {
    match value {
        Cel::Int(_) => "int64",
        Cel::UInt(_) => "uint64",
        Cel::Float(_) => "float64",
        Cel::String(_) => "string",
        Cel::Bytes(_) => "[]uint8",
        Cel::Bool(_) => "bool",
        Cel::List(_) => "[]ref.Val",
        Cel::Map(_) => "map[ref.Val]ref.Val",
        Cel::Duration(_) => "time.Duration",
        Cel::Timestamp(_) => "time.Time",
        Cel::Null => "structpb.NullValue",
        Cel::Opaque(_) | Cel::Function(..) => "map[string]interface {}",
    }
}

/// A value as messages show it.
pub(super) fn shown(value: &Cel) -> String {
    match value {
        Cel::String(text) => text.to_string(),
        Cel::Int(number) => number.to_string(),
        Cel::UInt(number) => number.to_string(),
        Cel::Float(number) => go::float(*number),
        Cel::Bool(flag) => flag.to_string(),
        Cel::Opaque(opaque) => match opaque.downcast_ref::<TypeName>() {
            Some(TypeName(name)) => name.clone(),
            None => type_name(value),
        },
        other => type_name(other),
    }
}
