//! Fields of objects and items of lists. Behind an optional value, everything is optional.

use kube_cel::cel::{
    Value as Cel,
    objects::{Key, Map, OptionalValue},
};

use super::{Failure, Message, Outcome, evaluator::optional_of, functions, node::key_of, operators};

/// What an optional value holds. Nothing if it is none.
pub(in crate::cel) fn optional(value: &Cel) -> Option<Option<&Cel>> {
    match value {
        Cel::Opaque(opaque) => opaque.downcast_ref::<OptionalValue>().map(OptionalValue::value),
        _ => None,
    }
}

pub(super) fn no_such_key(key: &str) -> Failure {
    Failure::other(format!("no such key: {key}"))
}

/// A field, as an optional value if `is_optional` or the operand is one.
pub(super) fn field(operand: &Cel, field: &str, is_optional: bool) -> Outcome {
    match optional(operand) {
        Some(None) => Ok(operand.clone()),
        Some(Some(inner)) => Ok(optional_of(find_field(inner, field))),
        None if is_optional => Ok(optional_of(find_field(operand, field))),
        None => match operand {
            // Of a message that was made, each field is there.
            Cel::Opaque(opaque) if opaque.downcast_ref::<Message>().is_some() => {
                Ok(find_field(operand, field).unwrap_or(Cel::Null))
            }
            _ => find_field(operand, field).ok_or_else(|| no_such_key(field)),
        },
    }
}

/// Whether a field is there.
pub(super) fn has(operand: &Cel, field: &str) -> bool {
    match optional(operand) {
        Some(inner) => inner.is_some_and(|inner| find_field(inner, field).is_some()),
        None => find_field(operand, field).is_some(),
    }
}

fn find_field(operand: &Cel, field: &str) -> Option<Cel> {
    match operand {
        Cel::Map(map) => map.get(&kube_cel::cel::objects::KeyRef::String(field)).cloned(),
        Cel::Opaque(opaque) => opaque.downcast_ref::<Message>()?.field(field),
        _ => None,
    }
}

/// An item of a list or the value of a key, as an optional value if `is_optional` or the operand is one.
pub(super) fn item(operand: &Cel, index: &Cel, is_optional: bool) -> Outcome {
    let (operand, is_optional) = match optional(operand) {
        Some(None) => return Ok(operand.clone()),
        Some(Some(inner)) => (inner, true),
        None => (operand, is_optional),
    };
    let found = find_item(operand, index)?;
    if is_optional {
        return Ok(optional_of(found));
    }
    found.ok_or_else(|| match operand {
        Cel::List(_) => Failure::other(format!("index out of bounds: {}", functions::shown(index))),
        _ => no_such_key(&functions::shown(index)),
    })
}

fn find_item(operand: &Cel, index: &Cel) -> Result<Option<Cel>, Failure> {
    match operand {
        Cel::List(items) => {
            let number = match index {
                Cel::Int(number) => Some(*number),
                Cel::UInt(number) => i64::try_from(*number).ok(),
                Cel::Float(number) if number.fract() == 0.0 => Some(*number as i64),
                other => {
                    return Err(Failure::other(format!(
                        "unsupported index type '{}' in list",
                        functions::type_name(other)
                    )));
                }
            };
            Ok(number.and_then(|number| items.get(usize::try_from(number).ok()?)).cloned())
        }
        Cel::Map(map) => find_key(map, index).map(Option::<&Cel>::cloned),
        Cel::Opaque(opaque) => match (opaque.downcast_ref::<Message>(), index) {
            (Some(message), Cel::String(field)) => Ok(message.field(field)),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// The value of a key. Numbers of all kinds are the same key if they are equal.
pub(super) fn find_key<'m>(map: &'m Map, key: &Cel) -> Result<Option<&'m Cel>, Failure> {
    if let Some(key) = key_of(key)
        && let Some(found) = map.map.get(&key)
    {
        return Ok(Some(found));
    }
    let others: [Option<Key>; 2] = match key {
        Cel::Int(number) => [u64::try_from(*number).ok().map(Key::Uint), None],
        Cel::UInt(number) => [i64::try_from(*number).ok().map(Key::Int), None],
        Cel::Float(number) => [operators::whole(*number).map(Key::Int), None],
        Cel::String(_) | Cel::Bool(_) => [None, None],
        other => {
            return Err(Failure::other(format!("unsupported key type: {}", functions::type_name(other))));
        }
    };
    Ok(others.into_iter().flatten().find_map(|key| map.map.get(&key)))
}
