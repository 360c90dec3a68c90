use std::{cmp::Ordering, sync::Arc};

use kube_cel::cel::Value as Cel;

use super::{Failure, Message, Outcome, access, meter::Meter};

/// Applies an operator. Nothing if the function is none.
pub(super) fn apply(function: &str, operands: &[Cel], meter: &mut Meter) -> Option<Outcome> {
    Some(match (function, operands) {
        ("_==_", [left, right]) => equal(left, right, meter).map(Cel::Bool),
        ("_!=_", [left, right]) => equal(left, right, meter).map(|equal| Cel::Bool(!equal)),
        ("_<_", [left, right]) => compared(left, right, Ordering::is_lt),
        ("_<=_", [left, right]) => compared(left, right, Ordering::is_le),
        ("_>_", [left, right]) => compared(left, right, Ordering::is_gt),
        ("_>=_", [left, right]) => compared(left, right, Ordering::is_ge),
        ("@in", [value, container]) => contained(value, container, meter),
        ("_+_", [left, right]) => add(left, right, meter),
        ("_-_", [left, right]) => subtract(left, right),
        ("_*_", [left, right]) => multiply(left, right),
        ("_/_", [left, right]) => divide(left, right),
        ("_%_", [left, right]) => modulo(left, right),
        ("-_", [operand]) => negate(operand),
        ("!_", [operand]) => match operand {
            Cel::Bool(flag) => Ok(Cel::Bool(!flag)),
            _ => Err(Failure::no_such_overload()),
        },
        _ => return None,
    })
}

/// Whether two values are equal. Numbers of different kinds can be, and other values of different types are not.
pub(super) fn equal(left: &Cel, right: &Cel, meter: &mut Meter) -> Result<bool, Failure> {
    meter.pay_part()?;
    match (left, right) {
        (Cel::List(left), Cel::List(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.iter().zip(right.iter()) {
                if !equal(left, right, meter)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Cel::Map(left), Cel::Map(right)) => {
            if left.map.len() != right.map.len() {
                return Ok(false);
            }
            for (key, value) in left.map.iter() {
                match access::find_key(right, &Cel::from(key))? {
                    Some(other) if equal(value, other, meter)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Cel::Opaque(first), Cel::Opaque(second)) => {
            if let (Some(first), Some(second)) = (access::optional(left), access::optional(right)) {
                return match (first, second) {
                    (Some(first), Some(second)) => equal(first, second, meter),
                    (first, second) => Ok(first.is_none() && second.is_none()),
                };
            }
            match (first.downcast_ref::<Message>(), second.downcast_ref::<Message>()) {
                (Some(first), Some(second)) => equal_messages(first, second, meter),
                _ => Ok(left == right),
            }
        }
        _ => Ok(left == right),
    }
}

fn equal_messages(left: &Message, right: &Message, meter: &mut Meter) -> Result<bool, Failure> {
    if left.name() != right.name() || left.fields().len() != right.fields().len() {
        return Ok(false);
    }
    for (name, value) in left.fields() {
        match right.fields().get(name) {
            Some(other) if equal(value, other, meter)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// The order of two values.
///
/// # Errors
/// If there is none.
pub(super) fn compare(left: &Cel, right: &Cel) -> Result<Ordering, Failure> {
    let is_nan = |value: &Cel| matches!(value, Cel::Float(number) if number.is_nan());
    if is_nan(left) || is_nan(right) {
        return Err(Failure::other("NaN values cannot be ordered"));
    }
    match (left, right) {
        (Cel::Bytes(left), Cel::Bytes(right)) => Ok(left.cmp(right)),
        (Cel::Null, _) => Err(Failure::no_such_overload()),
        _ => left.partial_cmp(right).ok_or_else(Failure::no_such_overload),
    }
}

fn compared(left: &Cel, right: &Cel, is_so: fn(Ordering) -> bool) -> Outcome {
    compare(left, right).map(|order| Cel::Bool(is_so(order)))
}

fn contained(value: &Cel, container: &Cel, meter: &mut Meter) -> Outcome {
    match container {
        Cel::List(items) => {
            for item in items.iter() {
                if equal(value, item, meter)? {
                    return Ok(Cel::Bool(true));
                }
            }
            Ok(Cel::Bool(false))
        }
        Cel::Map(map) => access::find_key(map, value).map(|found| Cel::Bool(found.is_some())),
        _ => Err(Failure::no_such_overload()),
    }
}

const OVERFLOW: &str = "integer overflow";
const UNSIGNED_OVERFLOW: &str = "unsigned integer overflow";
const TIME_OVERFLOW: &str = "timestamp overflow";

/// Whether a second is in the years 1 to 9999.
fn in_time(second: i64) -> bool {
    super::conversion::SECONDS.contains(&second)
}

fn integer(result: Option<i64>) -> Outcome {
    result.map(Cel::Int).ok_or_else(|| Failure::other(OVERFLOW))
}

fn unsigned(result: Option<u64>) -> Outcome {
    result.map(Cel::UInt).ok_or_else(|| Failure::other(UNSIGNED_OVERFLOW))
}

fn add(left: &Cel, right: &Cel, meter: &mut Meter) -> Outcome {
    match (left, right) {
        (Cel::Int(left), Cel::Int(right)) => integer(left.checked_add(*right)),
        (Cel::UInt(left), Cel::UInt(right)) => unsigned(left.checked_add(*right)),
        (Cel::Float(left), Cel::Float(right)) => Ok(Cel::Float(left + right)),
        (Cel::String(left), Cel::String(right)) => Ok(Cel::String(Arc::new(format!("{left}{right}")))),
        (Cel::Bytes(left), Cel::Bytes(right)) => {
            Ok(Cel::Bytes(Arc::new(left.iter().chain(right.iter()).copied().collect())))
        }
        (Cel::List(left), Cel::List(right)) => {
            // Lists are copied here, which cel-go does not do.
            meter.pay((left.len() + right.len()) as u64 / 64)?;
            Ok(Cel::List(Arc::new(left.iter().chain(right.iter()).cloned().collect())))
        }
        (Cel::Duration(left), Cel::Duration(right)) => {
            let sum = left.checked_add(right).filter(|sum| sum.num_nanoseconds().is_some());
            sum.map(Cel::Duration).ok_or_else(|| Failure::other(OVERFLOW))
        }
        (Cel::Timestamp(time), Cel::Duration(duration)) | (Cel::Duration(duration), Cel::Timestamp(time)) => {
            let sum = time.checked_add_signed(*duration).filter(|time| in_time(time.timestamp()));
            sum.map(Cel::Timestamp).ok_or_else(|| Failure::other(TIME_OVERFLOW))
        }
        _ => Err(Failure::no_such_overload()),
    }
}

fn subtract(left: &Cel, right: &Cel) -> Outcome {
    match (left, right) {
        (Cel::Int(left), Cel::Int(right)) => integer(left.checked_sub(*right)),
        (Cel::UInt(left), Cel::UInt(right)) => unsigned(left.checked_sub(*right)),
        (Cel::Float(left), Cel::Float(right)) => Ok(Cel::Float(left - right)),
        (Cel::Duration(left), Cel::Duration(right)) => {
            let rest = left.checked_sub(right).filter(|rest| rest.num_nanoseconds().is_some());
            rest.map(Cel::Duration).ok_or_else(|| Failure::other(OVERFLOW))
        }
        (Cel::Timestamp(time), Cel::Duration(duration)) => {
            let rest = time.checked_sub_signed(*duration).filter(|time| in_time(time.timestamp()));
            rest.map(Cel::Timestamp).ok_or_else(|| Failure::other(TIME_OVERFLOW))
        }
        (Cel::Timestamp(left), Cel::Timestamp(right)) => {
            let rest = left.signed_duration_since(*right);
            rest.num_nanoseconds().map(|_| Cel::Duration(rest)).ok_or_else(|| Failure::other(OVERFLOW))
        }
        _ => Err(Failure::no_such_overload()),
    }
}

fn multiply(left: &Cel, right: &Cel) -> Outcome {
    match (left, right) {
        (Cel::Int(left), Cel::Int(right)) => integer(left.checked_mul(*right)),
        (Cel::UInt(left), Cel::UInt(right)) => unsigned(left.checked_mul(*right)),
        (Cel::Float(left), Cel::Float(right)) => Ok(Cel::Float(left * right)),
        _ => Err(Failure::no_such_overload()),
    }
}

fn divide(left: &Cel, right: &Cel) -> Outcome {
    match (left, right) {
        (Cel::Int(_), Cel::Int(0)) | (Cel::UInt(_), Cel::UInt(0)) => Err(Failure::other("division by zero")),
        (Cel::Int(left), Cel::Int(right)) => integer(left.checked_div(*right)),
        (Cel::UInt(left), Cel::UInt(right)) => unsigned(left.checked_div(*right)),
        (Cel::Float(left), Cel::Float(right)) => Ok(Cel::Float(left / right)),
        _ => Err(Failure::no_such_overload()),
    }
}

fn modulo(left: &Cel, right: &Cel) -> Outcome {
    match (left, right) {
        (Cel::Int(_), Cel::Int(0)) | (Cel::UInt(_), Cel::UInt(0)) => Err(Failure::other("modulus by zero")),
        (Cel::Int(left), Cel::Int(right)) => integer(left.checked_rem(*right)),
        (Cel::UInt(left), Cel::UInt(right)) => unsigned(left.checked_rem(*right)),
        _ => Err(Failure::no_such_overload()),
    }
}

fn negate(operand: &Cel) -> Outcome {
    match operand {
        Cel::Int(number) => integer(number.checked_neg()),
        Cel::Float(number) => Ok(Cel::Float(-number)),
        Cel::Duration(duration) => Ok(Cel::Duration(-*duration)),
        _ => Err(Failure::no_such_overload()),
    }
}

/// A number without a fraction as an integer.
pub(super) fn whole(number: f64) -> Option<i64> {
    let fits = number.fract() == 0.0 && number >= i64::MIN as f64 && number < i64::MAX as f64;
    fits.then_some(number as i64)
}
