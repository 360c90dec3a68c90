//! The one value of a keyword that says what two values say together.

use std::cmp::Ordering;

use serde_json::Value;

use crate::schema::node::Node;

/// What two values of a keyword say together; none if no single value says it.
pub(super) fn tighten(keyword: &str, of_type: &Value, of_field: &Value) -> Option<Value> {
    let order = || Some(of_type.as_f64()?.total_cmp(&of_field.as_f64()?));
    let pick = |keep_type: bool| Some(if keep_type { of_type.clone() } else { of_field.clone() });
    match keyword {
        "minimum" | "minLength" | "minItems" | "minProperties" => pick(order()? == Ordering::Greater),
        "maximum" | "maxLength" | "maxItems" | "maxProperties" => pick(order()? == Ordering::Less),
        "multipleOf" => common_multiple(of_type, of_field),
        // The field's order is the one that its author sees. What is left is checked to be something.
        "enum" => {
            let allowed = of_type.as_array()?;
            Some(of_field.as_array()?.iter().filter(|value| allowed.contains(value)).cloned().collect())
        }
        _ => Some(Value::Bool(of_type.as_bool()? | of_field.as_bool()?)),
    }
}

/// Takes the tighter of two bounds together with the flag that makes it exclusive, and away from `source`.
pub(super) fn bounds(target: &mut Node, source: &mut Node) {
    for (bound, flag, is_lower) in
        [("minimum", "exclusiveMinimum", true), ("maximum", "exclusiveMaximum", false)]
    {
        let (Some(ours), Some(theirs)) =
            (target.get(bound).and_then(Value::as_f64), source.get(bound).and_then(Value::as_f64))
        else {
            continue;
        };
        let order = if is_lower { theirs.total_cmp(&ours) } else { ours.total_cmp(&theirs) };
        let is_tighter = order == Ordering::Greater || (order == Ordering::Equal && source.is(flag));
        for keyword in [bound, flag] {
            let value = source.keywords.remove(keyword);
            let marker = source.markers.remove(keyword);
            if !is_tighter {
                continue;
            }
            target.keywords.remove(keyword);
            target.markers.remove(keyword);
            target.keywords.extend(value.map(|value| (keyword.to_owned(), value)));
            target.markers.extend(marker.map(|marker| (keyword.to_owned(), marker)));
        }
    }
}

fn common_multiple(left: &Value, right: &Value) -> Option<Value> {
    let (left, right) = (left.as_u64()?, right.as_u64()?);
    let mut divisor = (left, right);
    while divisor.1 != 0 {
        divisor = (divisor.1, divisor.0 % divisor.1);
    }
    (left / divisor.0.max(1)).checked_mul(right).map(Value::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_tighter_value_is_kept() {
        assert_eq!(tighten("minLength", &json!(1), &json!(3)), Some(json!(3)));
        assert_eq!(tighten("maxLength", &json!(1), &json!(3)), Some(json!(1)));
        assert_eq!(tighten("multipleOf", &json!(4), &json!(6)), Some(json!(12)));
        assert_eq!(tighten("multipleOf", &json!(0.5), &json!(6)), None);
        assert_eq!(
            tighten("enum", &json!(["a", "b", "c"]), &json!(["c", "x", "a"])),
            Some(json!(["c", "a"]))
        );
        assert_eq!(tighten("pattern", &json!("^a"), &json!("b$")), None);
    }

    #[test]
    fn a_bound_keeps_its_own_flag() {
        let bound = |value: i64, exclusive: bool| {
            let mut node = Node::of_type("integer");
            node.set("minimum", value);
            if exclusive {
                node.set("exclusiveMinimum", true);
            }
            node
        };
        for (of_type, of_field, expected) in [
            ((5, true), (7, false), (7, false)),
            ((5, true), (3, false), (5, true)),
            ((5, false), (5, true), (5, true)),
            ((5, true), (5, false), (5, true)),
        ] {
            let mut target = bound(of_type.0, of_type.1);
            let mut source = bound(of_field.0, of_field.1);
            bounds(&mut target, &mut source);
            assert_eq!(target, bound(expected.0, expected.1), "{of_type:?} and {of_field:?}");
            assert_eq!(source, Node::of_type("integer"));
        }
    }
}
