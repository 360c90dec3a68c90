//! The order of keys.
//!
//! Keys are compared character by character, with runs of digits as numbers and letters after everything else, so
//! that `v2` stands before `v10` and `a-b` before `a1` before `ab`.

use std::cmp::Ordering;

use serde_json::{Map, Value};

/// The entries of `map` in the order in which they are written.
///
/// The comparison of yaml.v2 is not transitive (`v1alpha1 < v2 < v10 < v1alpha1`), and Go's maps have a random order:
/// yaml.v2 writes such keys in random order. Here the entries are put in the order of code points first, and then
/// through a merge sort that always makes the same comparisons. Where the comparison is transitive, the result is the
/// only sorted one; where it is not, it is one of those that yaml.v2 may write, and always the same.
pub(super) fn entries(map: &Map<String, Value>) -> Vec<(&str, &Value)> {
    let mut entries: Vec<(&str, &Value)> = map.iter().map(|(key, value)| (key.as_str(), value)).collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    merge_sort(entries)
}

/// The standard library's sort may panic if the order is not total; this one just ends.
fn merge_sort<V: Copy>(mut entries: Vec<(&str, V)>) -> Vec<(&str, V)> {
    if entries.len() < 2 {
        return entries;
    }
    let mut sorted = Vec::with_capacity(entries.len());
    let right = merge_sort(entries.split_off(entries.len() / 2));
    let mut left = merge_sort(entries).into_iter().peekable();
    let mut right = right.into_iter().peekable();
    while let (Some((a, _)), Some((b, _))) = (left.peek(), right.peek()) {
        sorted.extend(if natural(b, a) == Ordering::Less { right.next() } else { left.next() });
    }
    sorted.extend(left);
    sorted.extend(right);
    sorted
}

/// Compares two keys as yaml.v2 does.
///
/// Go asks Unicode's general category whether a character is a letter, Rust knows the property Alphabetic, which
/// includes combining vowel signs and circled letters besides: keys that first differ in such a character may stand
/// the other way round.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let common = a.chars().zip(b.chars()).take_while(|(x, y)| x == y);
    let (mut at, mut zeros_count) = (0, false);
    for (character, _) in common {
        at += character.len_utf8();
        // A zero after a digit that is not zero belongs to a number that began before the difference.
        zeros_count = match character {
            '0' => zeros_count,
            '1'..='9' => true,
            _ => false,
        };
    }
    let (rest_a, rest_b) = (a.get(at..).unwrap_or_default(), b.get(at..).unwrap_or_default());
    let (Some(first_a), Some(first_b)) = (rest_a.chars().next(), rest_b.chars().next()) else {
        return rest_a.len().cmp(&rest_b.len());
    };
    match (is_letter(first_a), is_letter(first_b)) {
        (true, true) => return first_a.cmp(&first_b),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let seed = i64::from(zeros_count && (first_a == '0' || first_b == '0'));
    let (number_a, digits_a) = leading_number(rest_a, seed);
    let (number_b, digits_b) = leading_number(rest_b, seed);
    number_a.cmp(&number_b).then(digits_a.cmp(&digits_b)).then(first_a.cmp(&first_b))
}

/// Roman numerals are alphabetic, but their category is that of numbers.
fn is_letter(character: char) -> bool {
    character.is_alphabetic() && !character.is_numeric()
}

/// The number that `text` begins with, its first digits being `seed`, and how many digits it has.
fn leading_number(text: &str, seed: i64) -> (i64, usize) {
    text.chars().map_while(|c| c.to_digit(10)).fold((seed, 0), |(number, digits), digit| {
        // Wraps where Go's integers do.
        (number.wrapping_mul(10).wrapping_add(i64::from(digit)), digits + 1)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn sorted(keys: &[&str]) -> Vec<String> {
        let map: Map<String, Value> = keys.iter().map(|key| ((*key).to_owned(), json!(0))).collect();
        entries(&map).into_iter().map(|(key, _)| key.to_owned()).collect()
    }

    #[test]
    fn numbers_count_as_numbers_and_letters_come_last() {
        assert_eq!(sorted(&["v10", "v2", "v1"]), ["v1", "v2", "v10"]);
        assert_eq!(sorted(&["ab", "a1", "a-b", "a"]), ["a", "a-b", "a1", "ab"]);
        assert_eq!(
            sorted(&["apiVersion", "Zeta", "_x", "a.b", "a/b"]),
            ["_x", "Zeta", "a.b", "a/b", "apiVersion"]
        );
        assert_eq!(sorted(&["x-kubernetes-a", "type", "items"]), ["items", "type", "x-kubernetes-a"]);
    }

    #[test]
    fn letters_are_those_of_unicode() {
        assert_eq!(
            sorted(&["ak", "aé", "a\u{4e2d}", "aⅧ", "a²", "a\u{301}"]),
            ["a²", "a\u{301}", "aⅧ", "ak", "aé", "a\u{4e2d}"]
        );
    }

    #[test]
    fn zeros_count_within_a_number_and_not_before_it() {
        assert_eq!(sorted(&["a01", "a1", "a001"]), ["a1", "a01", "a001"]);
        assert_eq!(sorted(&["a10", "a100", "a1"]), ["a1", "a10", "a100"]);
        assert_eq!(sorted(&["a105", "a11"]), ["a11", "a105"]);
    }

    #[test]
    fn an_intransitive_order_is_still_deterministic() {
        assert_eq!(natural("v1alpha1", "v2"), Ordering::Less);
        assert_eq!(natural("v2", "v10"), Ordering::Less);
        assert_eq!(natural("v10", "v1alpha1"), Ordering::Less);
        assert_eq!(sorted(&["v10", "v1alpha1", "v2"]), sorted(&["v2", "v10", "v1alpha1"]));
    }

    proptest! {
        #[test]
        fn two_different_keys_are_never_equal_and_compare_one_way(a in "[a-c0-2.é_-]{0,6}", b in "[a-c0-2.é_-]{0,6}") {
            prop_assert_eq!(natural(&a, &b), natural(&b, &a).reverse());
            prop_assert_eq!(natural(&a, &b) == Ordering::Equal, a == b);
        }

        #[test]
        fn a_transitive_set_of_keys_is_sorted(keys in prop::collection::btree_set("[a-d.-]{0,4}", 0..20)) {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let sorted = sorted(&keys);
            prop_assert_eq!(sorted.len(), keys.len());
            prop_assert!(sorted.windows(2).all(|pair| natural(&pair[0], &pair[1]) == Ordering::Less));
        }
    }
}
