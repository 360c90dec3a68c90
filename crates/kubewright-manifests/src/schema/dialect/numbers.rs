//! Integers, floats and their bounds.
//!
//! The API server checks `int32` and `int64`. An object that it accepts and the Rust type refuses cannot be read by the
//! operator at all, so in our style the bounds of the type are in the schema:
//!
//! | Rust | Kubewright | controller-gen |
//! |---|---|---|
//! | `i32` | int32 | int32 |
//! | `i64` | int64 | int64 |
//! | `isize` | int64 | no format |
//! | `u32` | int64, 0 to 4294967295 | int32 |
//! | `u64` | int64, from 0 | int64 |
//! | `usize` | int64, from 0 | no format |
//! | `i8`, `i16`, `u8`, `u16` | no format, from MIN to MAX | no format |
//! | `i128`, `u128` | no format, `u128` from 0 | no format |
//! | `f32`, `f64` | number, float or double | refused, or number |

use serde_json::{Map, Value};

use super::Dialect;
use crate::{
    Style,
    marker::syntax::whole,
    schema::node::{Node, Site},
};

/// A number type of Rust: schemars' format, the format of ours and of controller-gen's style, and the bounds that schemars gives.
struct NumberType {
    name: &'static str,
    ours: Option<&'static str>,
    go: Option<&'static str>,
    minimum: Option<i64>,
    maximum: Option<i64>,
}

const NUMBER_TYPES: [NumberType; 14] = [
    number_type("int8", None, None, Some(i8::MIN as i64), Some(i8::MAX as i64)),
    number_type("int16", None, None, Some(i16::MIN as i64), Some(i16::MAX as i64)),
    number_type("int32", Some("int32"), Some("int32"), None, None),
    number_type("int64", Some("int64"), Some("int64"), None, None),
    number_type("int128", None, None, None, None),
    number_type("int", Some("int64"), None, None, None),
    number_type("uint8", None, None, Some(0), Some(u8::MAX as i64)),
    number_type("uint16", None, None, Some(0), Some(u16::MAX as i64)),
    number_type("uint32", Some("int64"), Some("int32"), Some(0), Some(u32::MAX as i64)),
    number_type("uint64", Some("int64"), Some("int64"), Some(0), None),
    number_type("uint128", None, None, Some(0), None),
    number_type("uint", Some("int64"), None, Some(0), None),
    number_type("float", Some("float"), None, None, None),
    number_type("double", Some("double"), None, None, None),
];

const fn number_type(
    name: &'static str,
    ours: Option<&'static str>,
    go: Option<&'static str>,
    minimum: Option<i64>,
    maximum: Option<i64>,
) -> NumberType {
    NumberType { name, ours, go, minimum, maximum }
}

/// Whether this is schemars' name of one of Rust's number types.
pub(super) fn is_rust_format(format: &str) -> bool {
    NUMBER_TYPES.iter().any(|known| known.name == format)
}

// === impl Dialect ===

impl Dialect<'_> {
    pub(super) fn numbers(&mut self, object: &Map<String, Value>, node: &mut Node, site: &Site) {
        exclusive(object, node, "exclusiveMinimum", "minimum", |exclusive, inclusive| exclusive >= inclusive);
        exclusive(object, node, "exclusiveMaximum", "maximum", |exclusive, inclusive| exclusive <= inclusive);
        let is_number = node.own_type() == Some("number");
        if is_number && self.style == Style::ControllerGen && !self.allow_dangerous_types {
            self.faults.error(
                "float",
                site,
                format!("`{site}` is a float, and those are read differently by different languages"),
                "use an integer, a string or a Quantity, or allow dangerous types",
            );
        }
        if !is_number && node.own_type() != Some("integer") {
            return;
        }
        let Some(known) =
            node.text("format").and_then(|format| NUMBER_TYPES.iter().find(|known| known.name == format))
        else {
            return;
        };
        let format = match self.style {
            Style::Kubewright => known.ours,
            Style::ControllerGen => known.go,
        };
        match format {
            Some(format) => node.set("format", format),
            None => {
                node.keywords.remove("format");
            }
        }
        for (keyword, bound) in [("minimum", known.minimum), ("maximum", known.maximum)] {
            let Some(bound) = bound else { continue };
            let stated = node.get(keyword).cloned();
            match self.style {
                Style::Kubewright if stated.is_none() => node.set(keyword, bound),
                Style::ControllerGen if stated == Some(bound.into()) => {
                    node.keywords.remove(keyword);
                }
                _ => {}
            }
        }
    }
}

/// JSON schema has a number where OpenAPI has a flag beside the bound.
fn exclusive(
    object: &Map<String, Value>,
    node: &mut Node,
    keyword: &str,
    bound: &str,
    is_tighter: impl Fn(f64, f64) -> bool,
) {
    let Some(Value::Number(number)) = object.get(keyword) else { return };
    node.keywords.remove(keyword);
    let inclusive = node.get(bound).and_then(Value::as_f64);
    if inclusive.is_none_or(|inclusive| number.as_f64().is_some_and(|number| is_tighter(number, inclusive))) {
        node.set(bound, whole(number));
        node.set(keyword, true);
    }
}
