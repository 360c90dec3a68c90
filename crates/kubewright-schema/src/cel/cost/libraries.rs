//! What the functions of Kubernetes and of the extensions that it uses cost.

use super::{
    expression::{CallCost, Coster, Operand},
    functions::{PATTERN, STRING, matching},
    path::{Path, Step},
    range::Range,
};
use crate::cel::{
    checker::{LibraryType, Type},
    syntax::{Kind, Literal},
};

/// What making a list costs, and what a call does by itself.
const LIST: u64 = 10;
const MESSAGE: u64 = 40;

/// The longest pattern of a named format, and the longest such format, in characters.
const LONGEST_FORMAT_PATTERN: f64 = 128.0;
const LONGEST_FORMAT: u64 = 64;

/// The bytes of an address.
const ADDRESS: Range = Range::new(4, 16);

/// What a call costs without its arguments. Nothing if the function is one of the language.
pub(super) fn cost(
    coster: &Coster<'_>,
    function: &str,
    overload: &str,
    target: Option<&Operand>,
    args: &[Operand],
) -> Option<CallCost> {
    let estimator = Estimator { coster };
    estimator
        .extension(overload, target, args)
        .or_else(|| estimator.kubernetes(function, overload, target, args))
}

struct Estimator<'c, 'd> {
    coster: &'c Coster<'d>,
}

impl Estimator<'_, '_> {
    /// The functions of cel-go's extensions for lists and sets.
    fn extension(&self, overload: &str, target: Option<&Operand>, args: &[Operand]) -> Option<CallCost> {
        match (overload, target, args) {
            ("list_slice", Some(list), [start, end]) => {
                let start = self.number(start, 0);
                let end = self.number(end, self.size(list).most);
                Some(list_call(1.0, Range::exactly(end.wrapping_sub(start))))
            }
            ("lists_range", None, [count]) => {
                Some(list_call(1.0, Range::exactly(self.number(count, u64::MAX))))
            }
            ("list_reverse", Some(list), []) => Some(list_call(1.0, self.size(list))),
            ("list_flatten" | "list_flatten_int", Some(list), _) => {
                let depth = args.first().map_or(1, |depth| self.number(depth, u64::MAX));
                Some(list_call(depth as f64, self.size(list)))
            }
            ("list_distinct", Some(list), []) => {
                let size = self.size(list);
                Some(list_call(2.0, size.times(size)))
            }
            (sort, Some(list), []) if sort.ends_with("_sort") => Some(self.sort(sort, list)),
            (sort, Some(_), [keys]) if sort.ends_with("_sortByAssociatedKeys") => Some(self.sort(sort, keys)),
            ("list_sets_contains_list" | "list_sets_intersects_list", _, [left, right]) => {
                Some(plain(self.size(left).times(self.size(right)).by(1.0).plus(Range::exactly(1))))
            }
            ("list_sets_equivalent_list", _, [left, right]) => {
                Some(plain(self.size(left).times(self.size(right)).by(2.0).plus(Range::exactly(1))))
            }
            _ => None,
        }
    }

    fn sort(&self, overload: &str, keys: &Operand) -> CallCost {
        let is_text = overload.starts_with("list_string_") || overload.starts_with("list_bytes_");
        let size = self.size(keys);
        list_call(if is_text { 2.0 + STRING } else { 2.0 }, size.times(size))
    }

    fn kubernetes(
        &self,
        function: &str,
        overload: &str,
        target: Option<&Operand>,
        args: &[Operand],
    ) -> Option<CallCost> {
        match (function, target, args) {
            ("check", _, _) => Some(plain(Range::exactly(350_000))),
            ("fieldSelector" | "labelSelector", _, [selector]) => {
                let size = self.size(selector);
                let requirements = size.by(0.5).by((LIST + MESSAGE) as f64);
                Some(plain(Range::exactly(LIST).plus(size.by(STRING)).plus(requirements)))
            }
            ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", Some(target), _) => {
                Some(plain(self.traversal(target)))
            }
            ("url", _, [text]) => {
                let size = self.size(text);
                Some(CallCost { cost: size.by(STRING), size: Some(size) })
            }
            ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(text), _) => {
                let size = self.size(text);
                Some(CallCost { cost: size.by(STRING), size: Some(size) })
            }
            ("replace", Some(text), [from, to, ..]) => {
                let size = self.size(text);
                let result = replaced(size, self.size(from), self.size(to));
                Some(CallCost { cost: size.by(2.0 * STRING), size: Some(result) })
            }
            ("split", Some(text), _) => {
                let size = self.size(text);
                let count = args.get(1).and_then(|count| self.integer(count));
                let most = count.map_or(size.most, |count| count as u64);
                Some(CallCost { cost: size.by(2.0 * STRING), size: Some(Range::new(0, most)) })
            }
            ("join", Some(list), _) => {
                let size = self.joined(list, args.first());
                Some(CallCost { cost: size.by(STRING), size: Some(size) })
            }
            ("find" | "findAll", Some(text), [pattern, ..]) => {
                let size = self.size(text);
                let cost = matching(size, self.size(pattern));
                Some(CallCost { cost, size: Some(Range::new(0, size.most)) })
            }
            ("ip", _, _) if overload == "cidr_ip" => Some(plain(Range::exactly(1))),
            (
                "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver",
                _,
                [text, ..],
            ) => Some(plain(self.size(text).by(STRING))),
            ("ip.isCanonical", _, [text, ..]) => Some(plain(self.size(text).by(2.0 * STRING))),
            ("containsIP", _, [other, ..]) => {
                let mut cost = ADDRESS.plus(ADDRESS).by(STRING);
                if overload == "cidr_contains_ip_string" {
                    cost = cost.plus(self.size(other).by(STRING));
                }
                Some(plain(cost))
            }
            ("containsCIDR", _, [other, ..]) => {
                let mut cost =
                    ADDRESS.plus(ADDRESS).by(STRING).plus(ADDRESS.by(STRING)).plus(Range::exactly(1));
                if overload == "cidr_contains_cidr_string" {
                    cost = cost.plus(self.size(other).by(STRING));
                }
                Some(plain(cost))
            }
            ("validate", _, [text, ..]) => {
                Some(plain(self.size(text).by(STRING).by(LONGEST_FORMAT_PATTERN * PATTERN)))
            }
            ("_==_", _, [left, right]) if left.of == right.of => equality(&left.of, right.size),
            (name, _, _) if is_accessor(name) => Some(plain(Range::exactly(1))),
            _ => None,
        }
    }

    /// What going through a list and its texts costs, or through a text.
    fn traversal(&self, target: &Operand) -> Range {
        let size = self.size(target);
        match self.items(target) {
            None => size.by(STRING),
            Some((items, of)) => {
                let mut item = Range::exactly(1);
                if matches!(of, Type::String | Type::Bytes) {
                    item = item.plus(self.size_at(&items).by(STRING));
                }
                size.times(item)
            }
        }
    }

    fn joined(&self, list: &Operand, separator: Option<&Operand>) -> Range {
        let count = self.size(list);
        let mut size =
            self.items(list).map_or(Range::default(), |(items, _)| count.times(self.size_at(&items)));
        if let Some(separator) = separator {
            let separators = Range::new(count.least.saturating_sub(1), count.most.saturating_sub(1));
            size = size.plus(self.size(separator).times(separators));
        }
        size
    }

    /// The path to the items of a list and their type. Maps count as lists of keys.
    fn items<'o>(&self, list: &'o Operand) -> Option<(Path, &'o Type)> {
        let of = list.of.parameters().first()?;
        let path = if list.path.is_empty() { Path::default() } else { list.path.copied().join(Step::Items) };
        Some((path, of))
    }

    fn size(&self, operand: &Operand) -> Range {
        operand.size.unwrap_or_else(|| self.size_at(&operand.path))
    }

    fn size_at(&self, path: &Path) -> Range {
        self.coster.size_in_schema(path).unwrap_or(Range::UNKNOWN)
    }

    /// The number that an argument is, if it is one.
    fn integer(&self, operand: &Operand) -> Option<i64> {
        match self.coster.checked.tree.kind(operand.id) {
            Kind::Literal(Literal::Int(number)) => Some(*number),
            _ => None,
        }
    }

    /// The number that an argument is, zero if it is negative.
    fn number(&self, operand: &Operand, otherwise: u64) -> u64 {
        self.integer(operand).map_or(otherwise, |number| u64::try_from(number).unwrap_or(0))
    }
}

fn plain(cost: Range) -> CallCost {
    CallCost { cost, size: None }
}

/// A call that makes a list.
fn list_call(factor: f64, size: Range) -> CallCost {
    CallCost { cost: size.by(factor).plus(Range::exactly(1)).plus(Range::exactly(LIST)), size: Some(size) }
}

/// How large a text becomes when parts of it are replaced: at most if the shortest parts make way for the longest
/// replacements, at least the other way round.
fn replaced(text: Range, from: Range, to: Range) -> Range {
    let count = |size: u64, part: u64| size.div_ceil(part);
    let (mut times, mut kept) = (Range::default(), Range::default());
    if from.least == 0 {
        times.most = text.most.saturating_add(1);
        kept.most = text.most;
    } else if to.most <= from.least {
        kept.most = text.most;
    } else {
        times.most = count(text.most, from.least);
    }
    if from.most == 0 {
        times.least = text.least.saturating_add(1);
        kept.least = text.least;
    } else if from.most <= to.least {
        kept.least = text.least;
    } else {
        times.least = count(text.least, from.most);
    }
    times.times(to).plus(kept)
}

/// What comparing two values of a library type costs.
fn equality(of: &Type, size: Option<Range>) -> Option<CallCost> {
    let Type::Library(library) = of else { return None };
    Some(plain(match library {
        LibraryType::Format => Range::new(1, LONGEST_FORMAT).by(STRING),
        LibraryType::Url => Range::new(1, size.map_or(1, |size| size.most)).by(STRING),
        _ => Range::exactly(1),
    }))
}

/// Whether a function only reads what a value holds already.
fn is_accessor(function: &str) -> bool {
    [
        "add",
        "allowed",
        "asApproximateFloat",
        "asInteger",
        "compareTo",
        "error",
        "errored",
        "family",
        "format.named",
        "getEscapedPath",
        "getHost",
        "getHostname",
        "getPort",
        "getQuery",
        "getScheme",
        "group",
        "isGlobalUnicast",
        "isGreaterThan",
        "isInteger",
        "isLessThan",
        "isLinkLocalMulticast",
        "isLinkLocalUnicast",
        "isLoopback",
        "isUnspecified",
        "major",
        "masked",
        "minor",
        "name",
        "namespace",
        "patch",
        "path",
        "prefixLength",
        "reason",
        "resource",
        "serviceAccount",
        "sign",
        "sub",
        "subresource",
    ]
    .contains(&function)
}
