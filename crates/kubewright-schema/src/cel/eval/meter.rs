//! What evaluation costs, in the units of cel-go.

use kube_cel::cel::Value as Cel;

use super::{Failure, Message, access};

/// What one expression may cost.
pub(in crate::cel) const PER_CALL: u64 = 1_000_000;

/// What all expressions of one validation may cost.
pub(in crate::cel) const PER_VALIDATION: u64 = 10_000_000;

pub(super) const LIST: u64 = 10;
pub(super) const MAP: u64 = 30;
pub(super) const MESSAGE: u64 = 40;

/// What going through a string costs, a character.
const STRING: f64 = 0.1;

/// What a pattern costs, a character.
const PATTERN: f64 = 0.25;

/// What a question to the authorizer costs.
const CHECK: u64 = 350_000;

/// Parts of values that are compared or copied in the time that one step takes. cel-go counts neither, but values can be
/// made that are larger than all memory if each of their parts is looked at.
const PARTS: u64 = 64;

/// The running account of an evaluation.
pub(super) struct Meter {
    spent: u64,
    limit: u64,
    parts: u64,
}

impl Meter {
    pub(super) fn new(limit: u64) -> Self {
        Self { spent: 0, limit, parts: 0 }
    }

    pub(super) fn spent(&self) -> u64 {
        self.spent
    }

    /// Pays for a step.
    ///
    /// # Errors
    /// If that is more than there is.
    pub(super) fn pay(&mut self, cost: u64) -> Result<(), Failure> {
        self.spent = self.spent.saturating_add(cost);
        if self.spent > self.limit { Err(Failure::CallCost) } else { Ok(()) }
    }

    /// Pays for looking at a part of a value.
    pub(super) fn pay_part(&mut self) -> Result<(), Failure> {
        self.parts += 1;
        if self.parts < PARTS {
            return Ok(());
        }
        self.parts = 0;
        self.pay(1)
    }

    /// Pays for looking at all of a value.
    pub(super) fn pay_whole(&mut self, value: &Cel) -> Result<(), Failure> {
        self.pay_part()?;
        match value {
            Cel::List(items) => items.iter().try_for_each(|item| self.pay_whole(item)),
            Cel::Map(map) => map.map.values().try_for_each(|value| self.pay_whole(value)),
            Cel::Opaque(opaque) => match (access::optional(value), opaque.downcast_ref::<Message>()) {
                (Some(Some(inner)), _) => self.pay_whole(inner),
                (_, Some(message)) => message.fields().values().try_for_each(|value| self.pay_whole(value)),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

/// Looks at all of a value.
///
/// # Errors
/// If that costs more than `limit`.
pub(in crate::cel) fn pay_whole(value: &Cel, limit: u64) -> Result<(), Failure> {
    Meter::new(limit).pay_whole(value)
}

/// What a call costs, as one of its overloads if only one was possible.
pub(super) fn of_call(function: &str, overload: Option<&str>, operands: &[Cel], result: Option<&Cel>) -> u64 {
    let size_of = |number: usize| operands.get(number).map_or(0, size);
    let first = || size_of(0);
    let matching = || scale(first() + 1, STRING).saturating_mul(scale(size_of(1), PATTERN));
    match function {
        "check" => return CHECK,
        "fieldSelector" | "labelSelector" => {
            let selector = size_of(1);
            let requirements = scale(scale(selector, 0.5), (LIST + MESSAGE) as f64);
            return LIST + scale(selector, STRING) + requirements;
        }
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
            return operands.first().map_or(0, traversal);
        }
        "url"
        | "lowerAscii"
        | "upperAscii"
        | "substring"
        | "trim"
        | "jsonpatch.escapeKey"
        | "cidr"
        | "isIP"
        | "isCIDR"
        | "quantity"
        | "isQuantity"
        | "semver"
        | "isSemver" => return scale(first(), STRING),
        "ip" if overload != Some("cidr_ip") => return scale(first(), STRING),
        "replace" | "split" | "ip.isCanonical" => return scale(first(), 2.0 * STRING),
        "join" => return scale(result.map_or(0, size), 2.0 * STRING),
        "find" | "findAll" | "matches" => return matching(),
        "containsIP" | "containsCIDR" => {
            let mut cost = scale(2 * first(), STRING);
            if function == "containsCIDR" {
                cost += scale(first(), STRING) + 1;
            }
            if matches!(operands.get(1), Some(Cel::String(_))) {
                cost += scale(size_of(1), STRING);
            }
            return cost;
        }
        _ => {}
    }
    match (function, operands) {
        ("_+_", [Cel::String(_), Cel::String(_)] | [Cel::Bytes(_), Cel::Bytes(_)]) => {
            scale(first() + size_of(1), STRING)
        }
        ("@in", [_, list @ Cel::List(_)]) => size(list),
        ("_==_" | "_!=_", [left, right]) => scale(size(left).min(size(right)), STRING),
        ("_<_" | "_<=_" | "_>_" | "_>=_", [Cel::String(_) | Cel::Bytes(_), _]) => {
            scale(first().min(size_of(1)), STRING)
        }
        ("contains", _) => scale(first(), STRING).saturating_mul(scale(size_of(1), STRING)),
        ("startsWith" | "endsWith", _) => scale(size_of(1), STRING),
        ("strings.quote" | "format", _) => scale(first(), STRING),
        ("bytes", [Cel::String(_)]) | ("string", [Cel::Bytes(_)]) => scale(first(), STRING),
        _ => 1,
    }
}

/// Characters, bytes, items or entries; one for what has none.
fn size(value: &Cel) -> u64 {
    (match value {
        Cel::String(text) => text.chars().count(),
        Cel::Bytes(bytes) => bytes.len(),
        Cel::List(items) => items.len(),
        Cel::Map(map) => map.map.len(),
        other => return access::optional(other).flatten().map_or(1, size),
    }) as u64
}

/// What going through a list and its strings costs.
fn traversal(value: &Cel) -> u64 {
    match value {
        Cel::String(_) | Cel::Bytes(_) => scale(size(value), STRING),
        Cel::List(items) => items.iter().map(traversal).fold(0, u64::saturating_add),
        Cel::Map(map) => map.map.values().map(traversal).fold(0, u64::saturating_add),
        _ => 1,
    }
}

fn scale(amount: u64, factor: f64) -> u64 {
    (amount as f64 * factor).ceil() as u64
}
