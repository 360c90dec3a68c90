//! What can be said about literals once all types are known: durations, times and patterns are some, lists and maps hold
//! one type, and format strings fit their arguments.

use super::{Checked, Constructor, Type, format, types::Shown};
use crate::{
    cel::{
        declaration::Declarations,
        syntax::{Kind, Literal, Located, NodeId},
    },
    structural::Pattern,
};

/// The largest duration, in nanoseconds.
const LONGEST: f64 = i64::MAX as f64;

/// Checks the literals of an expression.
pub(super) fn check(checked: &Checked, declarations: &Declarations) -> Vec<Located> {
    let mut calls = Vec::new();
    let mut literals = Vec::new();
    let tree = &checked.tree;
    tree.walk(tree.root, &mut Vec::new(), &mut |id, above| match tree.kind(id) {
        Kind::Call { .. } => calls.push(id),
        Kind::List { .. } | Kind::Map(_) if !above.iter().any(|outer| is_format(checked, *outer)) => {
            literals.push(id);
        }
        _ => {}
    });
    let mut checker = Checker { checked, declarations, errors: Vec::new() };
    for id in &calls {
        checker.arguments(*id);
    }
    for id in literals {
        checker.one_type(id);
    }
    for id in calls.into_iter().filter(|id| is_format(checked, *id)) {
        checker.errors.extend(format::check(checked, declarations, id));
    }
    checker.errors
}

/// Whether a node is a call of `format`, which takes lists of mixed types.
fn is_format(checked: &Checked, id: NodeId) -> bool {
    matches!(checked.tree.kind(id), Kind::Call { function, .. } if function == "format")
}

struct Checker<'c> {
    checked: &'c Checked,
    declarations: &'c Declarations,
    errors: Vec<Located>,
}

impl Checker<'_> {
    fn arguments(&mut self, id: NodeId) {
        let Kind::Call { function, args, .. } = self.checked.tree.kind(id) else { return };
        let Some(first) = args.first() else { return };
        let Kind::Literal(literal) = self.checked.tree.kind(*first) else { return };
        let is_valid = match (function.as_str(), literal) {
            ("duration", Literal::String(text)) => is_duration(text),
            ("timestamp", Literal::String(text)) => is_time(text),
            // The years 1 to 9999.
            ("timestamp", Literal::Int(seconds)) => (-62_135_596_800..=253_402_300_799).contains(seconds),
            ("matches", Literal::String(pattern)) => Pattern::new(pattern).is_ok(),
            _ => return,
        };
        if !is_valid {
            self.error(*first, format!("invalid {function} argument"));
        }
    }

    fn one_type(&mut self, id: NodeId) {
        match self.checked.tree.kind(id) {
            Kind::List { elements, optional } => {
                let mut first = None;
                for (index, element) in elements.iter().enumerate() {
                    let of = self.value_type(*element, optional.contains(&index));
                    if !self.is_same(&mut first, *element, of) {
                        return;
                    }
                }
            }
            Kind::Map(entries) => {
                let (mut keys, mut values) = (None, None);
                for entry in entries {
                    let of = self.value_type(entry.key, false);
                    self.is_same(&mut keys, entry.key, of);
                    let of = self.value_type(entry.value, entry.optional);
                    self.is_same(&mut values, entry.value, of);
                }
            }
            _ => {}
        }
    }

    fn value_type(&self, id: NodeId, is_optional: bool) -> Type {
        let of = self.checked.type_of(id);
        if is_optional { of.unwrapped().unwrap_or(of).clone() } else { of.clone() }
    }

    fn is_same(&mut self, first: &mut Option<Type>, id: NodeId, of: Type) -> bool {
        let Some(first) = first else {
            *first = Some(of);
            return true;
        };
        if *first == of {
            return true;
        }
        let [first, of] = [&*first, &of].map(|of| Shown { of, declarations: self.declarations }.to_string());
        self.error(id, format!("expected type '{first}' but found '{of}'"));
        false
    }

    fn error(&mut self, id: NodeId, text: String) {
        self.errors.push(Located { place: self.checked.tree.place(id), text });
    }
}

/// Whether Go parses a text as a duration.
pub(in crate::cel) fn is_duration(text: &str) -> bool {
    const UNITS: [(&str, f64); 8] = [
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("μs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("m", 60e9),
        ("h", 3600e9),
    ];
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, unit) = rest.split_at(end);
        // Rust does not take a number without digits, and neither does Go.
        let Ok(number) = number.parse::<f64>() else { return false };
        let end = unit.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(unit.len());
        let (unit, after) = unit.split_at(end);
        let Some((_, nanoseconds)) = UNITS.iter().find(|(known, _)| *known == unit) else { return false };
        total += number * nanoseconds;
        rest = after;
    }
    !text.trim_start_matches(['+', '-']).is_empty() && total < LONGEST
}

/// Whether a text is a time as of RFC 3339, read as Go does.
pub(in crate::cel) fn is_time(text: &str) -> bool {
    let number = |start: usize, end: usize| {
        let digits =
            text.get(start..end).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        digits.parse::<u32>().ok()
    };
    let sign_is = |position: usize, sign: &str| text.get(position..=position) == Some(sign);
    let signs = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")];
    if !signs.iter().all(|(position, sign)| sign_is(*position, sign)) {
        return false;
    }
    let (Some(year), Some(month), Some(day)) = (number(0, 4), number(5, 7), number(8, 10)) else {
        return false;
    };
    let (Some(hour), Some(minute), Some(second)) = (number(11, 13), number(14, 16), number(17, 19)) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let is_real = year >= 1 && (1..=12).contains(&month) && (1..=days).contains(&day);
    let Some(mut zone) = text.get(19..) else { return false };
    if let Some(fraction) = zone.strip_prefix(['.', ',']) {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return false;
        }
        zone = fraction.get(digits..).unwrap_or_default();
    }
    let has_zone = zone == "Z" || {
        let bytes = zone.as_bytes();
        let offset = text.len() - zone.len();
        bytes.len() == 6
            && matches!(bytes.first(), Some(b'+' | b'-'))
            && bytes.get(3) == Some(&b':')
            && number(offset + 1, offset + 3).is_some_and(|hours| hours <= 24)
            && number(offset + 4, offset + 6).is_some_and(|minutes| minutes < 60)
    };
    is_real && hour < 24 && minute < 60 && second < 60 && has_zone
}

/// The kinds of types that format strings tell apart.
pub(super) fn is_kind(of: &Type, kinds: &[Type]) -> bool {
    of.is_dyn()
        || kinds.iter().any(|kind| match (of.constructor(), kind.constructor()) {
            (Some(of), Some(kind)) => of == kind && of != Constructor::Optional,
            (None, None) => of == kind,
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        for text in ["0", "1s", "-1.5h", "1h2m3.5s", "+5ns", ".5s", "1.s", "3µs"] {
            assert!(is_duration(text), "{text}");
        }
        for text in ["", "-", "1", "s", "1d", "1s ", "one", "1e3s", "99999999h", "."] {
            assert!(!is_duration(text), "{text}");
        }
    }

    #[test]
    fn times_are_those_of_go() {
        for text in ["2024-02-29T00:00:00Z", "0001-01-01T00:00:00.5+01:30", "9999-12-31T23:59:59.999999999Z"]
        {
            assert!(is_time(text), "{text}");
        }
        for text in [
            "",
            "2023-02-29T00:00:00Z",
            "2023-02-28",
            "2023-02-28T00:00:00",
            "2023-02-28t00:00:00Z",
            "2023-02-28T24:00:00Z",
            "2023-02-28T00:00:60Z",
            "2023-02-28T00:00:00.Z",
            "0000-02-28T00:00:00Z",
            "2023-13-01T00:00:00Z",
        ] {
            assert!(!is_time(text), "{text}");
        }
    }
}
