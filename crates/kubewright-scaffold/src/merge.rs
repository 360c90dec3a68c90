//! The three-way merge: what a newer scaffold changes, put into a file that the user has changed too.
//!
//! It is that of version control, by lines, with one liberty: where one side only adds lines, they are added to what the other
//! side made of the place. A module that the user declares beside one that is scaffolded is no conflict.

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// A merged text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The text, with conflict marks where both sides changed the same lines.
    pub text: String,
    /// The places where they did.
    pub conflicts: Vec<Conflict>,
}

/// Lines that both sides changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The first of the user's lines, counted from 1.
    pub line: usize,
    /// The lines as they were scaffolded.
    pub base: String,
    /// The user's.
    pub ours: String,
    /// Those of the new scaffold.
    pub theirs: String,
}

/// Merges into `ours`, which the user made of `base`, what makes `theirs` of it.
///
/// ```
/// use kubewright_scaffold::merge::merge;
///
/// let base = "pub mod api;\n";
/// let ours = "pub mod api;\nmod billing;\n";
/// let theirs = "pub mod api;\npub mod controller;\n";
/// let merged = merge(base, ours, theirs);
/// assert_eq!(merged.text, "pub mod api;\nmod billing;\npub mod controller;\n");
/// assert!(merged.conflicts.is_empty());
/// ```
#[must_use]
pub fn merge(base: &str, ours: &str, theirs: &str) -> Merged {
    let (base, ours, theirs) = (lines(base), lines(ours), lines(theirs));
    let (in_ours, in_theirs) = (counterparts(&base, &ours), counterparts(&base, &theirs));
    let mut merged = Merged { text: String::new(), conflicts: Vec::new() };
    let (mut b, mut o, mut t) = (0, 0, 0);
    loop {
        while b < base.len() && in_ours[b] == Some(o) && in_theirs[b] == Some(t) {
            merged.text.push_str(base[b]);
            (b, o, t) = (b + 1, o + 1, t + 1);
        }
        // Up to the next line that both have kept.
        let next = (b..base.len()).find_map(|at| Some((at, in_ours[at]?, in_theirs[at]?)));
        let (b_end, o_end, t_end) = next.unwrap_or((base.len(), ours.len(), theirs.len()));
        if (b, o, t) == (b_end, o_end, t_end) {
            return merged;
        }
        match resolve(&base[b..b_end], &ours[o..o_end], &theirs[t..t_end]) {
            Some(lines) => merged.text.extend(lines),
            None => conflict(&mut merged, o + 1, &base[b..b_end], &ours[o..o_end], &theirs[t..t_end]),
        }
        (b, o, t) = (b_end, o_end, t_end);
    }
}

/// Lines with their ends.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// For each line of `base` the line of `other` that it became.
fn counterparts(base: &[&str], other: &[&str]) -> Vec<Option<usize>> {
    let mut found = vec![None; base.len()];
    for change in capture_diff_slices(Algorithm::Myers, base, other) {
        if change.tag() == DiffTag::Equal {
            for (from, to) in change.old_range().zip(change.new_range()) {
                found[from] = Some(to);
            }
        }
    }
    found
}

fn resolve<'l>(base: &[&'l str], ours: &[&'l str], theirs: &[&'l str]) -> Option<Vec<&'l str>> {
    if ours == base || ours == theirs {
        return Some(theirs.to_vec());
    }
    if theirs == base {
        return Some(ours.to_vec());
    }
    if base.is_empty() {
        // Both add lines. What the user has copied in by hand is there already.
        let has = ours.windows(theirs.len().max(1)).any(|lines| lines == theirs);
        return Some(if has { ours.to_vec() } else { [ours, theirs].concat() });
    }
    if let Some((before, after)) = around(theirs, base) {
        return Some([before, ours, after].concat());
    }
    around(ours, base).map(|(before, after)| [before, theirs, after].concat())
}

/// The lines before and after `inner`, if that is all that `outer` has more.
fn around<'a, 'l>(outer: &'a [&'l str], inner: &[&'l str]) -> Option<(&'a [&'l str], &'a [&'l str])> {
    let at = outer.windows(inner.len()).position(|lines| lines == inner)?;
    Some((&outer[..at], &outer[at + inner.len()..]))
}

fn conflict(merged: &mut Merged, line: usize, base: &[&str], ours: &[&str], theirs: &[&str]) {
    let mut part = |mark: &str, lines: &[&str]| {
        if !merged.text.is_empty() && !merged.text.ends_with('\n') {
            merged.text.push('\n');
        }
        merged.text.push_str(mark);
        merged.text.push('\n');
        merged.text.extend(lines.iter().copied());
    };
    part("<<<<<<< yours", ours);
    part("||||||| as it was scaffolded", base);
    part("=======", theirs);
    part(">>>>>>> the new scaffold", &[]);
    merged.conflicts.push(Conflict {
        line,
        base: base.concat(),
        ours: ours.concat(),
        theirs: theirs.concat(),
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clean(base: &str, ours: &str, theirs: &str) -> String {
        let merged = merge(base, ours, theirs);
        assert_eq!(merged.conflicts, [], "{}", merged.text);
        merged.text
    }

    #[test]
    fn changes_in_different_places_are_both_there() {
        let base = "one\ntwo\nthree\nfour\nfive\n";
        let ours = "ONE\ntwo\nthree\nfour\nfive\n";
        let theirs = "one\ntwo\nthree\nfour\nFIVE\nsix\n";
        assert_eq!(clean(base, ours, theirs), "ONE\ntwo\nthree\nfour\nFIVE\nsix\n");
    }

    #[test]
    fn lines_that_are_added_beside_a_change_are_no_conflict() {
        let base = "let manager;\nmanager.start().await\n";
        let ours = "let manager;\nmanager.start_until(stop).await\n";
        let theirs = "let manager;\nregister(&manager);\nmanager.start().await\n";
        assert_eq!(
            clean(base, ours, theirs),
            "let manager;\nregister(&manager);\nmanager.start_until(stop).await\n"
        );
        let ours = "let manager;\nprepare(&manager);\nmanager.start().await\n";
        assert_eq!(
            clean(base, ours, theirs),
            "let manager;\nprepare(&manager);\nregister(&manager);\nmanager.start().await\n"
        );
    }

    #[test]
    fn what_was_copied_in_by_hand_is_not_added_again() {
        let base = "a\nz\n";
        let theirs = "a\nm\nz\n";
        assert_eq!(clean(base, "a\nl\nm\nz\n", theirs), "a\nl\nm\nz\n");
        assert_eq!(clean(base, theirs, theirs), theirs);
    }

    #[test]
    fn two_changes_of_a_line_are_a_conflict_with_the_usual_marks() {
        let merged = merge("a\nb\nc\n", "a\nours\nc\n", "a\ntheirs\nc\n");
        assert_eq!(
            merged.text,
            "a\n<<<<<<< yours\nours\n||||||| as it was scaffolded\nb\n=======\ntheirs\n>>>>>>> the new scaffold\nc\n"
        );
        let conflict = &merged.conflicts[0];
        assert_eq!(
            (conflict.line, &*conflict.base, &*conflict.ours, &*conflict.theirs),
            (2, "b\n", "ours\n", "theirs\n")
        );
        // A last line without an end keeps its marks on lines of their own.
        assert!(merge("b", "ours", "theirs").text.contains("ours\n|||||||"));
    }

    fn text() -> impl Strategy<Value = String> {
        proptest::collection::vec("[abc]\n", 0..8).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn a_side_that_changed_nothing_gives_way(base in text(), other in text()) {
            prop_assert_eq!(clean(&base, &base, &other), other.clone());
            prop_assert_eq!(clean(&base, &other, &base), other.clone());
            prop_assert_eq!(clean(&base, &other, &other), other);
        }

        #[test]
        fn merging_again_changes_nothing(base in text(), ours in text(), theirs in text()) {
            let merged = merge(&base, &ours, &theirs);
            if merged.conflicts.is_empty() {
                prop_assert_eq!(&clean(&theirs, &merged.text, &theirs), &merged.text);
            }
        }

        #[test]
        fn no_texts_are_a_panic(base in ".*", ours in ".*", theirs in ".*") {
            let _ = merge(&base, &ours, &theirs);
        }
    }
}
