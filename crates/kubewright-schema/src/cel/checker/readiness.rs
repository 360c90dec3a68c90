//! What is wrong with a well-typed expression, but shows only when a server gets ready to run it: conversions of constants
//! are done then, patterns compiled, and types looked up that are values.

use super::{
    Checked, Constructor,
    literals::{is_duration, is_time},
};
use crate::{
    cel::syntax::{Kind, Literal, Located, NodeId},
    structural::Pattern,
};

/// The types that are values at run time. A few more have names for the checker only.
const TYPES: [&str; 15] = [
    "bool",
    "bytes",
    "double",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "int",
    "list",
    "map",
    "net.CIDR",
    "net.IP",
    "null_type",
    "optional_type",
    "string",
    "type",
    "uint",
];

/// Why a server cannot get an expression ready to run, if it cannot.
pub(in crate::cel) fn check(checked: &Checked) -> Option<Located> {
    let (id, text) = visit(checked, checked.tree.root)?;
    Some(Located { place: checked.tree.place(id), text })
}

/// The first problem below and including a node, operands first.
fn visit(checked: &Checked, id: NodeId) -> Option<(NodeId, String)> {
    let tree = &checked.tree;
    if let Some(found) = tree.children(id).into_iter().find_map(|child| visit(checked, child)) {
        return Some(found);
    }
    match tree.kind(id) {
        // That goes for variables that hold types, too.
        Kind::Ident(name) => {
            let is_type = checked.type_of(id).constructor() == Some(Constructor::Type);
            (is_type && !TYPES.contains(&name.as_str()))
                .then(|| (id, format!("reference to undefined type: {name}")))
        }
        Kind::Call { function, target, args } => match (function.as_str(), target, args.as_slice()) {
            ("matches", None, [_, pattern]) | ("find" | "findAll", Some(_), [pattern, ..]) => {
                invalid_pattern(checked, *pattern).map(|text| (*pattern, text))
            }
            (_, None, [_]) => constant(checked, id).err().map(|text| (id, text)),
            _ => None,
        },
        _ => None,
    }
}

fn invalid_pattern(checked: &Checked, id: NodeId) -> Option<String> {
    match checked.tree.kind(id) {
        Kind::Literal(Literal::String(pattern)) => Pattern::new(pattern).err().map(|error| error.to_string()),
        _ => None,
    }
}

/// The value of a node that is a literal or a conversion of one. An error if the conversion fails.
fn constant(checked: &Checked, id: NodeId) -> Result<Option<Literal>, String> {
    match checked.tree.kind(id) {
        Kind::Literal(literal) => Ok(Some(literal.clone())),
        Kind::Call { function, target: None, args } => match args.as_slice() {
            [arg] => constant(checked, *arg)?.map_or(Ok(None), |literal| converted(function, literal)),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// The value that a conversion makes. Nothing if it is no literal.
fn converted(function: &str, from: Literal) -> Result<Option<Literal>, String> {
    let is_given = |given: Option<Literal>, to: &str| match given {
        Some(literal) => Ok(Some(literal)),
        None => Err(format!("type conversion error from 'string' to '{to}'")),
    };
    let fits = |fits: bool, literal: Literal, problem: &str| {
        if fits { Ok(Some(literal)) } else { Err(problem.to_owned()) }
    };
    match (function, from) {
        ("int", Literal::String(text)) => is_given(text.parse().ok().map(Literal::Int), "int"),
        ("int", Literal::Double(number)) => {
            let is_small = number > i64::MIN as f64 && number < i64::MAX as f64;
            fits(is_small, Literal::Int(number as i64), "integer overflow")
        }
        ("int", Literal::Uint(number)) => {
            fits(i64::try_from(number).is_ok(), Literal::Int(number as i64), "integer overflow")
        }
        // Go takes no plus here.
        ("uint", Literal::String(text)) => {
            is_given(text.parse().ok().filter(|_| !text.starts_with('+')).map(Literal::Uint), "uint")
        }
        ("uint", Literal::Int(number)) => {
            fits(number >= 0, Literal::Uint(number as u64), "unsigned integer overflow")
        }
        ("uint", Literal::Double(number)) => {
            let is_small = number >= 0.0 && number < u64::MAX as f64;
            fits(is_small, Literal::Uint(number as u64), "unsigned integer overflow")
        }
        ("double", Literal::String(text)) => is_given(text.parse().ok().map(Literal::Double), "double"),
        ("double", Literal::Int(number)) => Ok(Some(Literal::Double(number as f64))),
        ("double", Literal::Uint(number)) => Ok(Some(Literal::Double(number as f64))),
        ("bool", Literal::String(text)) => {
            let value = match text.as_str() {
                "1" | "t" | "true" | "TRUE" | "True" => Some(true),
                "0" | "f" | "false" | "FALSE" | "False" => Some(false),
                _ => None,
            };
            is_given(value.map(Literal::Bool), "bool")
        }
        ("string", Literal::Bool(flag)) => Ok(Some(Literal::String(flag.to_string()))),
        ("string", Literal::Int(number)) => Ok(Some(Literal::String(number.to_string()))),
        ("string", Literal::Uint(number)) => Ok(Some(Literal::String(number.to_string()))),
        ("string", Literal::Double(number)) => Ok(Some(Literal::String(number.to_string()))),
        ("string", Literal::Bytes(bytes)) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(Literal::String(text))),
            Err(_) => Err("invalid UTF-8 in bytes, cannot convert to string".to_owned()),
        },
        ("bytes", Literal::String(text)) => Ok(Some(Literal::Bytes(text.into_bytes()))),
        ("duration", Literal::String(text)) if !is_duration(&text) => {
            is_given(None, "google.protobuf.Duration")
        }
        ("timestamp", Literal::String(text)) if !is_time(&text) => {
            is_given(None, "google.protobuf.Timestamp")
        }
        ("dyn", same)
        | ("int", same @ Literal::Int(_))
        | ("uint", same @ Literal::Uint(_))
        | ("double", same @ Literal::Double(_))
        | ("bool", same @ Literal::Bool(_))
        | ("string", same @ Literal::String(_))
        | ("bytes", same @ Literal::Bytes(_)) => Ok(Some(same)),
        _ => Ok(None),
    }
}
