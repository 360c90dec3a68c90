//! The name that was probably meant.

/// The candidate that is closest to `text`, if one is close enough to be what was meant. Case does not count; among
/// equals the first is taken.
pub(crate) fn nearest<'c>(text: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    candidates
        .into_iter()
        // Most candidates are too long or too short, which is cheap to see.
        .filter(|candidate| text.len().abs_diff(candidate.len()) <= 3 + non_ascii(text))
        .filter_map(|candidate| {
            let distance = distance(text, candidate);
            (distance <= tolerance(text, candidate)).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many bytes more than characters a text may have.
fn non_ascii(text: &str) -> usize {
    text.bytes().filter(|byte| !byte.is_ascii()).count()
}

/// How many slips are forgiven: one in three letters of the shorter word, and not more than three.
fn tolerance(left: &str, right: &str) -> usize {
    (left.chars().count().min(right.chars().count()) / 3).min(3)
}

/// How many letters have to be inserted, removed, replaced or swapped with their neighbour (optimal string alignment).
pub(crate) fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().map(|c| c.to_ascii_lowercase()).collect();
    let right: Vec<char> = right.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.iter().enumerate() {
        let mut row = vec![i + 1; right.len() + 1];
        for (j, r) in right.iter().enumerate() {
            let replaced = last[j] + usize::from(l != r);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *l == right[j - 1] && left[i - 1] == *r {
                row[j + 1] = row[j + 1].min(before_last[j - 1] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(left.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted_without_case() {
        assert_eq!(distance("Maximum", "maximum"), 0);
        assert_eq!(distance("maxmium", "maximum"), 1);
        assert_eq!(distance("maximm", "maximum"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("é", "e"), 1);
    }

    #[test]
    fn what_is_too_far_is_not_suggested() {
        assert_eq!(nearest("lsitType", ["listType", "mapType"]), Some("listType"));
        assert_eq!(nearest("protobuf", ["listType", "optional"]), None);
        assert_eq!(nearest("to", ["no"]), None);
        assert_eq!(nearest("atomc", ["granular", "atomic"]), Some("atomic"));
    }
}
