//! Lengths, counts, ranges.

use std::cmp::Ordering;

use kubewright_schema::Schema;
use serde_json::{Value, json};

use super::Walk;
use crate::compatibility::rule::{BOUND_LOOSENED, BOUND_TIGHTENED};

/// Which side of a bound is allowed.
#[derive(Clone, Copy)]
enum Bound {
    Lower,
    Upper,
}

impl Walk<'_> {
    pub(super) fn bounds(&mut self, old: &Schema, new: &Schema) {
        type Count = fn(&Schema) -> Option<i64>;
        const COUNTS: [(&str, Bound, Count); 6] = [
            ("minLength", Bound::Lower, |schema| schema.min_length),
            ("maxLength", Bound::Upper, |schema| schema.max_length),
            ("minItems", Bound::Lower, |schema| schema.min_items),
            ("maxItems", Bound::Upper, |schema| schema.max_items),
            ("minProperties", Bound::Lower, |schema| schema.min_properties),
            ("maxProperties", Bound::Upper, |schema| schema.max_properties),
        ];
        for (keyword, bound, count) in COUNTS {
            let (old, new) = (count(old), count(new));
            let shown = |count: Option<i64>| count.map(Value::from);
            self.bound(keyword, bound, change(bound, old, new), shown(old), shown(new));
        }
        let lower = |schema: &Schema| schema.minimum.map(|minimum| (minimum, schema.exclusive_minimum));
        let upper = |schema: &Schema| schema.maximum.map(|maximum| (maximum, !schema.exclusive_maximum));
        let shown = |end: Option<f64>, exclusive: bool| {
            end.map(|end| if exclusive { json!(format!("{} (exclusive)", number(end))) } else { number(end) })
        };
        self.bound(
            "minimum",
            Bound::Lower,
            change(Bound::Lower, lower(old), lower(new)),
            shown(old.minimum, old.exclusive_minimum),
            shown(new.minimum, new.exclusive_minimum),
        );
        self.bound(
            "maximum",
            Bound::Upper,
            change(Bound::Upper, upper(old), upper(new)),
            shown(old.maximum, old.exclusive_maximum),
            shown(new.maximum, new.exclusive_maximum),
        );
        self.divisor(old, new);
        match (old.unique_items, new.unique_items) {
            (false, true) => self.add(BOUND_TIGHTENED, Some("uniqueItems"), None, None),
            (true, false) => self.add(BOUND_LOOSENED, Some("uniqueItems"), None, None),
            _ => {}
        }
    }

    fn bound(
        &mut self,
        keyword: &'static str,
        bound: Bound,
        change: Ordering,
        old: Option<Value>,
        new: Option<Value>,
    ) {
        let rule = match (bound, change) {
            (_, Ordering::Equal) => return,
            (Bound::Lower, Ordering::Greater) | (Bound::Upper, Ordering::Less) => BOUND_TIGHTENED,
            (Bound::Lower, Ordering::Less) | (Bound::Upper, Ordering::Greater) => BOUND_LOOSENED,
        };
        self.add(rule, Some(keyword), old, new);
    }

    fn divisor(&mut self, old: &Schema, new: &Schema) {
        let rule = match (old.multiple_of, new.multiple_of) {
            (old, new) if old == new => return,
            // Whatever is divided by a multiple of a divisor is divided by the divisor. Only whole numbers divide
            // without rounding.
            (Some(old), Some(new)) if whole(old) && whole(new) && new != 0.0 && old % new == 0.0 => {
                BOUND_LOOSENED
            }
            (_, None) => BOUND_LOOSENED,
            _ => BOUND_TIGHTENED,
        };
        self.add(rule, Some("multipleOf"), old.multiple_of.map(number), new.multiple_of.map(number));
    }
}

/// How the end of a range moved. No end is the lowest lower and the highest upper one.
fn change<T: PartialOrd>(bound: Bound, old: Option<T>, new: Option<T>) -> Ordering {
    match (old, new, bound) {
        (None, None, _) => Ordering::Equal,
        (Some(old), Some(new), _) => new.partial_cmp(&old).unwrap_or(Ordering::Equal),
        (None, Some(_), Bound::Lower) | (Some(_), None, Bound::Upper) => Ordering::Greater,
        (Some(_), None, Bound::Lower) | (None, Some(_), Bound::Upper) => Ordering::Less,
    }
}

fn whole(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() < 1e15
}

/// Integers are written in whole numbers.
#[allow(clippy::cast_possible_truncation, reason = "whole numbers below 1e15 fit")]
fn number(number: f64) -> Value {
    if whole(number) { json!(number as i64) } else { json!(number) }
}
