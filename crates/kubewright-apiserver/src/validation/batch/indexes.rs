//! Lists of the indexes of a job's pods: `1,3-5,7`.

/// How many indexes a list has, all of which are below `completions`.
///
/// # Errors
/// With what is wrong with the list.
pub(super) fn count(list: &str, completions: i64) -> Result<i64, String> {
    let mut total = 0;
    let mut last: Option<i64> = None;
    for interval in list.split(',').filter(|_| !list.is_empty()) {
        let (first, end) = parse(interval, completions)?;
        if let Some(last) = last.filter(|last| *last >= first) {
            return Err(format!("non-increasing order, previous: {last}, current: {first}"));
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

/// The first index that is in both lists. What cannot be read is not looked at.
pub(super) fn overlap(one: &str, other: &str, completions: i64) -> Option<i64> {
    let intervals = |list: &str| -> Vec<(i64, i64)> {
        list.split(',').filter_map(|interval| parse(interval, completions).ok()).collect()
    };
    let (one, other) = (intervals(one), intervals(other));
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    while let (Some((first, last)), Some((other_first, other_last))) = (one.peek(), other.peek()) {
        if first <= other_last && other_first <= last {
            return Some(*first.max(other_first));
        }
        if first <= other_first {
            one.next();
        } else {
            other.next();
        }
    }
    None
}

/// The first and the last index of an interval.
fn parse(interval: &str, completions: i64) -> Result<(i64, i64), String> {
    let index = |text: &str| {
        let number: i64 =
            text.parse().map_err(|_| format!("cannot convert string to integer for index: {text:?}"))?;
        if number >= completions { Err(format!("too large index: {text:?}")) } else { Ok(number) }
    };
    match interval.split('-').collect::<Vec<_>>().as_slice() {
        [one] => index(one).map(|one| (one, one)),
        [first, last] => {
            let (first, last) = (index(first)?, index(last)?);
            if first >= last {
                return Err(format!("non-increasing order, previous: {first}, current: {last}"));
            }
            Ok((first, last))
        }
        _ => Err(format!(
            "the fragment {interval:?} violates the requirement that an index interval can have at most two parts \
             separated by '-'"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_indexes() {
        assert_eq!(count("", 5), Ok(0));
        assert_eq!(count("0,2-4", 5), Ok(4));
        assert_eq!(count("5", 5).unwrap_err(), "too large index: \"5\"");
        assert_eq!(count("1,1", 5).unwrap_err(), "non-increasing order, previous: 1, current: 1");
        assert_eq!(count("x", 5).unwrap_err(), "cannot convert string to integer for index: \"x\"");
        assert!(count("1-2-3", 5).unwrap_err().starts_with("the fragment \"1-2-3\" violates"));
        assert_eq!(overlap("0-2,5", "3,5-6", 10), Some(5));
        assert_eq!(overlap("0-2", "3", 10), None);
    }
}
