//! What the operators and functions of the language cost.

use super::{
    expression::{CallCost, Coster, Entries, Operand},
    libraries,
    range::Range,
};
use crate::cel::syntax::NodeId;

/// What going through a string costs, a character.
pub(super) const STRING: f64 = 0.1;

/// What a pattern costs, a character: one in four is thought to begin an expression.
pub(super) const PATTERN: f64 = 0.25;

/// What a call costs as one of its overloads, with its arguments.
pub(super) fn cost(
    coster: &mut Coster<'_>,
    id: NodeId,
    function: &str,
    overload: &str,
    target: Option<&Operand>,
    args: &[Operand],
) -> CallCost {
    let all = args.iter().fold(Range::default(), |sum, arg| sum.plus(arg.cost));
    if let Some(call) = libraries::cost(coster, function, overload, target, args) {
        return CallCost { cost: call.cost.plus(all), size: call.size };
    }
    let sized = |cost: Range, size: Range| CallCost { cost: cost.plus(all), size: Some(size) };
    let plain = |cost: Range| CallCost { cost: cost.plus(all), size: None };
    match (overload, target, args) {
        ("string_format", Some(target), _) => plain(known(target).by(STRING)),
        ("string_to_bytes", _, [text]) => {
            let size = known(text);
            sized(size.by(STRING), Range::new(size.least, size.most.wrapping_mul(4)))
        }
        ("bytes_to_string", _, [bytes]) => {
            let size = known(bytes);
            sized(size.by(STRING), Range::new(size.least / 4, size.most))
        }
        ("strings_quote", _, [text]) => {
            let size = known(text);
            let most = size.most.wrapping_mul(2).wrapping_add(2);
            sized(size.by(STRING), Range::new(size.least.wrapping_add(2), most))
        }
        ("starts_with_string" | "ends_with_string", _, [part]) => plain(known(part).by(STRING)),
        ("in_list", _, [_, list]) => plain(known(list).by(1.0)),
        ("matches_string", Some(text), [pattern]) | ("matches", None, [text, pattern]) => {
            plain(matching(known(text), known(pattern)))
        }
        ("contains_string", Some(text), [part]) => {
            plain(known(text).by(STRING).times(known(part).by(STRING)))
        }
        ("logical_or" | "logical_and", _, [left, right]) => {
            let cost = Range::new(left.cost.least, left.cost.plus(right.cost).most);
            CallCost { cost, size: None }
        }
        ("conditional", _, [condition, yes, no]) => {
            let entries = Entries::or(coster.entries_of(yes.id), coster.entries_of(no.id));
            coster.set_entries(id, entries);
            CallCost { cost: condition.cost.plus(yes.cost.or(no.cost)), size: Some(known(yes).or(known(no))) }
        }
        ("add_string" | "add_bytes" | "add_list", _, [left, right]) => {
            let size = known(left).plus(known(right));
            let entries = Entries::or(coster.entries_of(left.id), coster.entries_of(right.id));
            coster.set_entries(id, entries);
            sized(if overload == "add_list" { Range::exactly(1) } else { size.by(STRING) }, size)
        }
        (
            "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes"
            | "equals"
            | "not_equals",
            _,
            [left, right],
        ) => {
            let most = known(left).most.min(known(right).most);
            plain(Range::new(u64::from(most > 0), most).by(STRING))
        }
        _ => plain(Range::exactly(1)),
    }
}

/// What matching a pattern costs. An empty text counts as one character, since the pattern costs by itself.
pub(super) fn matching(text: Range, pattern: Range) -> Range {
    text.plus(Range::exactly(1)).by(STRING).times(pattern.by(PATTERN))
}

fn known(operand: &Operand) -> Range {
    operand.size.unwrap_or(Range::UNKNOWN)
}
