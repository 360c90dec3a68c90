//! Functions of lists.

use std::{cmp::Ordering, sync::Arc};

use kube_cel::cel::Value as Cel;

use super::{Failure, Outcome, functions, meter::Meter, operators};

/// Applies a function of lists. Nothing if it is none, or a library knows it.
pub(super) fn apply(function: &str, operands: &[Cel], meter: &mut Meter) -> Option<Outcome> {
    Some(match (function, operands) {
        ("sum", [Cel::List(items)]) => sum(items, meter),
        ("max", [Cel::List(items)]) => extreme(items, function, Ordering::Greater),
        ("min", [Cel::List(items)]) => extreme(items, function, Ordering::Less),
        ("slice", [Cel::List(items), Cel::Int(start), Cel::Int(end)]) => slice(items, *start, *end),
        ("sort", [Cel::List(items)]) => sort(items, items),
        ("@sortByAssociatedKeys", [Cel::List(items), Cel::List(keys)]) => sort(items, keys),
        ("lists.range", [Cel::Int(count)]) => range(*count, meter),
        _ => return None,
    })
}

fn list(items: Vec<Cel>) -> Cel {
    Cel::List(Arc::new(items))
}

fn sum(items: &[Cel], meter: &mut Meter) -> Outcome {
    let Some((first, rest)) = items.split_first() else { return Ok(Cel::Int(0)) };
    let plus = |sum: Cel, item: &Cel| {
        let added = operators::apply("_+_", &[sum, item.clone()], meter);
        added.unwrap_or_else(|| Err(Failure::no_such_overload()))
    };
    rest.iter().try_fold(first.clone(), plus)
}

/// The largest item, or the smallest. What cannot be compared is passed over.
fn extreme(items: &[Cel], function: &str, wanted: Ordering) -> Outcome {
    let Some((first, rest)) = items.split_first() else {
        return Err(Failure::other(format!("{function} called on empty list")));
    };
    let better = |best: &Cel, item: &Cel| operators::compare(item, best).is_ok_and(|order| order == wanted);
    let best = rest.iter().fold(first, |best, item| if better(best, item) { item } else { best });
    Ok(best.clone())
}

fn slice(items: &[Cel], start: i64, end: i64) -> Outcome {
    let refuse = |why: &str| Err(Failure::other(format!("cannot slice({start}, {end}), {why}")));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return refuse("negative indexes not supported");
    };
    if from > to {
        return refuse("start index must be less than or equal to end index");
    }
    match items.get(from..to) {
        Some(part) => Ok(list(part.to_vec())),
        None => refuse(&format!("list is length {}", items.len())),
    }
}

/// The items of a list in the order of their keys.
fn sort(items: &[Cel], keys: &[Cel]) -> Outcome {
    let mut pairs: Vec<(&Cel, &Cel)> = items.iter().zip(keys).collect();
    if let Some((first, rest)) = keys.split_first() {
        if rest.iter().any(|key| functions::type_name(key) != functions::type_name(first)) {
            return Err(Failure::other("list elements must have the same type"));
        }
        if matches!(first, Cel::List(_) | Cel::Map(_) | Cel::Null | Cel::Opaque(_)) {
            return Err(Failure::other("list elements must be comparable"));
        }
    }
    pairs.sort_by(|(_, first), (_, second)| operators::compare(first, second).unwrap_or(Ordering::Equal));
    Ok(list(pairs.into_iter().map(|(item, _)| item.clone()).collect()))
}

fn range(count: i64, meter: &mut Meter) -> Outcome {
    let Ok(length) = u64::try_from(count) else {
        return Err(Failure::other(format!("lists.range: size must be non-negative, got {count}")));
    };
    // The list is made here, and may be larger than all memory.
    meter.pay(length / 16)?;
    Ok(list((0..count).map(Cel::Int).collect()))
}
