//! Bounds and divisors of numbers.

use serde_json::{Number, Value};

use super::values::Walk;
use crate::{
    error::{ErrorList, FieldError, go},
    structural::{Format, Schema, SchemaType},
};

/// A JSON number as Kubernetes decodes it: integers that fit 64 signed bits stay integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Numeric {
    Integer(i64),
    Float(f64),
}

impl Numeric {
    pub(super) fn of(number: &Number) -> Self {
        match number.as_i64() {
            Some(integer) => Self::Integer(integer),
            None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    /// Whether the number is an integer to JSON, though it may have been written as a float.
    pub(super) fn is_whole(self) -> bool {
        match self {
            Self::Integer(_) => true,
            Self::Float(float) => is_json_integer(float),
        }
    }

    /// Whether the number, converted to the type of `other` as Go does it, equals `other`.
    pub(super) fn converts_to(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (a, Self::Float(b)) => a.as_float() == b,
            // The cast drops the fraction, as Go's conversion does.
            (Self::Float(a), Self::Integer(b)) => a as i64 == b,
        }
    }

    fn as_float(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }

    fn to_value(self) -> Value {
        match self {
            Self::Integer(integer) => integer.into(),
            Self::Float(float) => float.into(),
        }
    }
}

pub(super) fn check(walk: &Walk<'_>, schema: &Schema, number: Numeric) -> ErrorList {
    let mut errors = ErrorList::new();
    errors.extend(range_error(walk, schema, number, "Checked"));
    if let Some(factor) = schema.multiple_of {
        let misfit = range_error(walk, schema, Numeric::Float(factor), "MultipleOf");
        let compared = comparable(number, misfit.is_some());
        errors.extend(misfit);
        errors.extend(multiple_of(walk, compared, factor));
    }
    if let Some(minimum) = schema.minimum {
        let misfit = range_error(walk, schema, Numeric::Float(minimum), "Minimum boundary");
        let compared = comparable(number, misfit.is_some());
        errors.extend(misfit);
        let bound = bound(compared, minimum);
        if is_outside(compared, bound, schema.exclusive_minimum, |number, bound| number < bound) {
            let words = if schema.exclusive_minimum { "greater than" } else { "greater than or equal to" };
            errors.push(out_of_bounds(walk, compared, words, bound));
        }
    }
    if let Some(maximum) = schema.maximum {
        let misfit = range_error(walk, schema, Numeric::Float(maximum), "Maximum boundary");
        let compared = comparable(number, misfit.is_some());
        errors.extend(misfit);
        let bound = bound(compared, maximum);
        if is_outside(compared, bound, schema.exclusive_maximum, |number, bound| number > bound) {
            let words = if schema.exclusive_maximum { "less than" } else { "less than or equal to" };
            errors.push(out_of_bounds(walk, compared, words, bound));
        }
    }
    errors
}

/// A bound that does not fit the type of the field forces a comparison of floats.
fn comparable(number: Numeric, as_float: bool) -> Numeric {
    if as_float { Numeric::Float(number.as_float()) } else { number }
}

/// The bound in the type of the number. Integers are compared with the whole part of the bound.
fn bound(number: Numeric, bound: f64) -> Numeric {
    match number {
        Numeric::Integer(_) => Numeric::Integer(bound as i64),
        Numeric::Float(_) => Numeric::Float(bound),
    }
}

fn is_outside(
    number: Numeric,
    bound: Numeric,
    exclusive: bool,
    beyond: impl Fn(Numeric, Numeric) -> bool,
) -> bool {
    beyond(number, bound) || (exclusive && number == bound)
}

impl PartialOrd for Numeric {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.partial_cmp(b),
            (a, b) => a.as_float().partial_cmp(&b.as_float()),
        }
    }
}

fn out_of_bounds(walk: &Walk<'_>, number: Numeric, words: &str, bound: Numeric) -> FieldError {
    walk.invalid(number.to_value(), &format!("should be {words} {}", display(bound)))
}

fn multiple_of(walk: &Walk<'_>, number: Numeric, factor: f64) -> Option<FieldError> {
    let factor = bound(number, factor);
    if factor.as_float() <= 0.0 {
        let detail =
            format!("factor MultipleOf declared for {} must be positive: {}", walk.name, display(factor));
        return Some(FieldError::invalid(&walk.field(), factor.to_value(), detail));
    }
    let divides = match (number, factor) {
        (Numeric::Integer(number), Numeric::Integer(factor)) => number % factor == 0,
        (number, factor) => {
            let (number, factor) = (number.as_float(), factor.as_float());
            is_json_integer(if factor < 1.0 { 1.0 / factor * number } else { number / factor })
        }
    };
    (!divides)
        .then(|| walk.invalid(number.to_value(), &format!("should be a multiple of {}", display(factor))))
}

fn display(number: Numeric) -> String {
    match number {
        Numeric::Integer(integer) => integer.to_string(),
        Numeric::Float(float) => go::float(float),
    }
}

/// Whether a number, or a bound of it, fits the type and format of the schema.
fn range_error(walk: &Walk<'_>, schema: &Schema, number: Numeric, what: &str) -> Option<FieldError> {
    let format = schema.checked_format;
    let fits = match walk.types(schema) {
        [SchemaType::Integer] => {
            let integer = match number {
                Numeric::Integer(integer) => Some(integer),
                Numeric::Float(float) => whole(float),
            };
            match format {
                Some(Format::Int32) => integer.is_some_and(|integer| i32::try_from(integer).is_ok()),
                _ => integer.is_some(),
            }
        }
        [SchemaType::Number] if format == Some(Format::Float) => {
            let float = number.as_float();
            float.is_nan() || (float as f32).is_finite()
        }
        _ => true,
    };
    if fits {
        return None;
    }
    let name = walk.types(schema).first().map_or("", |schema_type| schema_type.as_str());
    let place = &walk.name;
    Some(walk.general(&if format.is_some() {
        format!("{what} value must be of type {name} with format {} in {place}", schema.format)
    } else {
        format!("{what} value must be of type {name} (default format) in {place}")
    }))
}

/// The float as an integer, if it is one and fits.
fn whole(float: f64) -> Option<i64> {
    // Kubernetes asks the shortest digits that stand for the float. Those of -2^63 are -9223372036854776000, which
    // does not fit; those of its neighbours do.
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    (float.trunc() == float && -BOUND < float && float < BOUND).then_some(float as i64)
}

/// Whether a float stands for an integer that JSON can carry, give or take a rounding error.
fn is_json_integer(float: f64) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    if !float.is_finite() || float.abs() > LARGEST {
        return false;
    }
    let whole = float.abs().trunc();
    let difference = (float.abs() - whole).abs();
    difference == 0.0 || (whole != 0.0 && difference / (float.abs() + whole) < 1e-9)
}
