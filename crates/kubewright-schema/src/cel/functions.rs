//! Functions that the evaluator does not have: types as values, and what the macros of loops with two variables and of
//! sorted lists stand for.

use std::{cmp::Ordering, collections::BTreeMap, sync::Arc};

use kube_cel::cel::{
    Context, ExecutionError, Value,
    extractors::{Arguments, This},
    objects::{Key, Map, Opaque},
};

// No expression can name these.
/// The type of a name.
pub(super) const TYPE: &str = "@type";
/// The pairs of a list or map: indices and items, or keys and values.
pub(super) const ENTRIES: &str = "@entries";
/// A map with more entries.
pub(super) const INSERT: &str = "cel.@mapInsert";
const SORT: &str = "@sortByAssociatedKeys";

/// A type as a value.
#[derive(Debug, PartialEq, Eq)]
struct TypeName(String);

impl Opaque for TypeName {
    fn runtime_type_name(&self) -> &'static str {
        "type"
    }
}

/// Registers the functions.
pub(super) fn register(context: &mut Context<'_>) {
    context.add_function("type", |value: Value| type_named(&name_of(&value)));
    context.add_function(TYPE, |name: Arc<String>| type_named(&name));
    context.add_function(ENTRIES, |value: Value| entries(&value));
    context.add_function(INSERT, |Arguments(args): Arguments| insert(&args));
    context.add_function(SORT, |This(list): This<Arc<Vec<Value>>>, keys: Arc<Vec<Value>>| sort(&list, &keys));
}

/// Functions answer with a result, be there something to fail or not.
fn type_named(name: &str) -> Result<Value, ExecutionError> {
    Ok(Value::Opaque(Arc::new(TypeName(name.to_owned()))))
}

fn name_of(value: &Value) -> String {
    match value {
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Function(..) => "function",
        Value::Int(_) => "int",
        Value::UInt(_) => "uint",
        Value::Float(_) => "double",
        Value::String(_) => "string",
        Value::Bytes(_) => "bytes",
        Value::Bool(_) => "bool",
        Value::Duration(_) => "google.protobuf.Duration",
        Value::Timestamp(_) => "google.protobuf.Timestamp",
        Value::Opaque(opaque) => opaque.runtime_type_name(),
        Value::Null => "null_type",
    }
    .to_owned()
}

fn entries(value: &Value) -> Result<Value, ExecutionError> {
    let pair = |first: Value, second: &Value| Value::List(Arc::new(vec![first, second.clone()]));
    let pairs = match value {
        Value::List(items) => {
            (0..).zip(items.iter()).map(|(index, item)| pair(Value::Int(index), item)).collect()
        }
        Value::Map(map) => {
            // The map has no order, and what is made of it must not depend on chance.
            let sorted: BTreeMap<&Key, &Value> = map.map.iter().collect();
            sorted.into_iter().map(|(key, value)| pair(key.into(), value)).collect()
        }
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    Ok(Value::List(Arc::new(pairs)))
}

/// A map with one entry more, or with those of another map.
fn insert(args: &[Value]) -> Result<Value, ExecutionError> {
    let added: Vec<(Key, Value)> = match args {
        [Value::Map(_), Value::Map(more)] => {
            more.map.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
        }
        [Value::Map(_), key, value] => {
            vec![(key_of(key).ok_or(ExecutionError::NoSuchOverload)?, value.clone())]
        }
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    let [Value::Map(map), ..] = args else { return Err(ExecutionError::NoSuchOverload) };
    let mut map = (*map.map).clone();
    for (key, value) in added {
        if map.contains_key(&key) {
            return Err(ExecutionError::function_error(
                INSERT,
                format!("insert failed: key {key} already exists"),
            ));
        }
        map.insert(key, value);
    }
    Ok(Value::Map(Map { map: Arc::new(map) }))
}

fn key_of(value: &Value) -> Option<Key> {
    match value {
        Value::Int(number) => Some(Key::Int(*number)),
        Value::UInt(number) => Some(Key::Uint(*number)),
        Value::Bool(flag) => Some(Key::Bool(*flag)),
        Value::String(text) => Some(Key::String(Arc::clone(text))),
        _ => None,
    }
}

/// The items of a list in the order of their keys.
fn sort(list: &[Value], keys: &[Value]) -> Result<Value, ExecutionError> {
    let mut pairs: Vec<(&Value, &Value)> = list.iter().zip(keys).collect();
    let mut comparable = true;
    pairs.sort_by(|(_, first), (_, second)| {
        let order = match (first, second) {
            (Value::Bytes(first), Value::Bytes(second)) => Some(first.cmp(second)),
            _ => first.partial_cmp(second),
        };
        comparable &= order.is_some();
        order.unwrap_or(Ordering::Equal)
    });
    if !comparable {
        return Err(ExecutionError::NoSuchOverload);
    }
    Ok(Value::List(Arc::new(pairs.into_iter().map(|(item, _)| item.clone()).collect())))
}
