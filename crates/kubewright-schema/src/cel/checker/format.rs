//! Format strings: every clause has an argument, and can print it.

use super::{Checked, Type, literals::is_kind};
use crate::cel::{
    declaration::Declarations,
    syntax::{Kind, Literal, Located, NodeId},
};

/// Checks a call of `format`, if both the format and the list of arguments are literals.
pub(super) fn check(checked: &Checked, declarations: &Declarations, id: NodeId) -> Option<Located> {
    let tree = &checked.tree;
    let Kind::Call { target: Some(target), args, .. } = tree.kind(id) else { return None };
    let (Kind::Literal(Literal::String(format)), [list]) = (tree.kind(*target), args.as_slice()) else {
        return None;
    };
    let Kind::List { elements, .. } = tree.kind(*list) else { return None };
    let mut clauses = Clauses { checked, declarations, args: elements, requested: 0 };
    let found = clauses.check(format);
    let (at, text) = match found {
        Err((at, text)) => (at.unwrap_or(id), text),
        Ok(()) if elements.len() > clauses.requested => {
            let (expected, got) = (clauses.requested, elements.len());
            let text =
                format!("too many arguments supplied to string.format (expected {expected}, got {got})");
            (id, text)
        }
        Ok(()) => return None,
    };
    Some(Located { place: tree.place(at), text })
}

/// What is wrong, and with which argument unless with the format.
type Problem = (Option<NodeId>, String);

struct Clauses<'c> {
    checked: &'c Checked,
    declarations: &'c Declarations,
    args: &'c [NodeId],
    requested: usize,
}

impl Clauses<'_> {
    fn check(&mut self, format: &str) -> Result<(), Problem> {
        let mut rest = format;
        while let Some((_, clause)) = rest.split_once('%') {
            if let Some(after) = clause.strip_prefix('%') {
                rest = after;
                continue;
            }
            let index = self.requested;
            self.requested += 1;
            if clause.is_empty() {
                return Err((None, "unexpected end of string".to_owned()));
            }
            let Some(arg) = self.args.get(index) else {
                return Err((None, format!("index {index} out of range")));
            };
            rest = self.clause(clause, *arg)?;
        }
        Ok(())
    }

    /// Checks one clause, and returns what is behind it.
    fn clause<'f>(&self, clause: &'f str, arg: NodeId) -> Result<&'f str, Problem> {
        let unparsable = |reason: String| (None, format!("could not parse formatting clause: {reason}"));
        let mut rest = clause;
        if let Some(precision) = clause.strip_prefix('.') {
            let end = precision.find(|c: char| !c.is_ascii_digit()).ok_or_else(|| {
                unparsable(
                    "error while parsing precision: could not find end of precision specifier".to_owned(),
                )
            })?;
            let (digits, after) = precision.split_at(end);
            if digits.parse::<i64>().is_err() {
                let reason = if digits.is_empty() { "invalid syntax" } else { "value out of range" };
                return Err(unparsable(format!(
                    "error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing \
                     \"{digits}\": {reason}"
                )));
            }
            rest = after;
        }
        let mut chars = rest.chars();
        let letter = chars.next().unwrap_or_default();
        let of = self.checked.type_of(arg);
        let (kinds, complaint): (&[Type], &str) = match letter {
            's' => {
                self.printable(arg)?;
                return Ok(chars.as_str());
            }
            'd' => (&[Type::Int, Type::Uint], "decimal clause can only be used on integers"),
            'f' => (&[Type::Double, Type::String], "fixed-point clause can only be used on doubles"),
            'e' => (&[Type::Double, Type::String], "scientific clause can only be used on doubles"),
            'b' => {
                (&[Type::Int, Type::Uint, Type::Bool], "only integers and bools can be formatted as binary")
            }
            'x' | 'X' => (
                &[Type::Int, Type::Uint, Type::String, Type::Bytes],
                "only integers, byte buffers, and strings can be formatted as hex",
            ),
            'o' => (&[Type::Int, Type::Uint], "octal clause can only be used on integers"),
            other => return Err(unparsable(format!("unrecognized formatting clause \"{other}\""))),
        };
        if is_kind(of, kinds) { Ok(chars.as_str()) } else { Err(self.misfit(arg, complaint)) }
    }

    /// Whether `%s` prints an argument and what it holds.
    fn printable(&self, arg: NodeId) -> Result<(), Problem> {
        let any = [
            Type::list(Type::Dyn),
            Type::map(Type::Dyn, Type::Dyn),
            Type::type_of(Type::Dyn),
            Type::Int,
            Type::Uint,
            Type::Double,
            Type::Bool,
            Type::String,
            Type::Timestamp,
            Type::Bytes,
            Type::Duration,
            Type::Null,
        ];
        if !is_kind(self.checked.type_of(arg), &any) {
            let complaint = "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, \
                             durations, and timestamps";
            return Err(self.misfit(arg, complaint));
        }
        match self.checked.tree.kind(arg) {
            Kind::List { elements, .. } => elements.iter().try_for_each(|element| self.printable(*element)),
            Kind::Map(entries) => entries.iter().try_for_each(|entry| {
                self.printable(entry.key)?;
                self.printable(entry.value)
            }),
            _ => Ok(()),
        }
    }

    fn misfit(&self, arg: NodeId, complaint: &str) -> Problem {
        let name = self.checked.type_of(arg).runtime_name(self.declarations);
        (Some(arg), format!("error during formatting: {complaint}, was given {name}"))
    }
}
