//! What changed between two texts, line by line, as messages about immutable fields show it.

use std::{collections::BTreeMap, fmt::Write, ops::Range};

/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 3;
/// From how many lines on, lines that are there often do not count as landmarks.
const MANY_LINES: usize = 200;

/// Lines that both texts have: where they begin in the one and in the other, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Common {
    old: usize,
    new: usize,
    lines: usize,
}

/// A run of lines of the old text that became a run of lines of the new one.
#[derive(Clone, Debug)]
struct Run {
    old: Range<usize>,
    new: Range<usize>,
    is_same: bool,
}

/// The unified diff of two texts, without a head.
pub(super) fn unified(old: &str, new: &str) -> String {
    let lines = |text: &str| -> Vec<String> { text.split('\n').map(|line| format!("{line}\n")).collect() };
    let (old, new) = (lines(old), lines(new));
    let mut text = String::new();
    for hunk in hunks(&runs(&old, &new)) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let span = |start: usize, end: usize| match end - start {
            0 => format!("{start},0"),
            1 => format!("{}", start + 1),
            lines => format!("{},{lines}", start + 1),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "@@ -{} +{} @@",
            span(first.old.start, last.old.end),
            span(first.new.start, last.new.end)
        );
        for run in hunk {
            let mut write = |sign: char, lines: &[String]| {
                for line in lines {
                    text.push(sign);
                    text.push_str(line);
                }
            };
            let of =
                |lines: &'_ [String], range: &Range<usize>| lines.get(range.clone()).map(<[String]>::to_vec);
            if run.is_same {
                write(' ', &of(&old, &run.old).unwrap_or_default());
            } else {
                write('-', &of(&old, &run.old).unwrap_or_default());
                write('+', &of(&new, &run.new).unwrap_or_default());
            }
        }
    }
    text
}

/// The runs grouped by changes that are near one another.
fn hunks(runs: &[Run]) -> Vec<Vec<Run>> {
    let mut hunks: Vec<Vec<Run>> = Vec::new();
    let mut hunk: Vec<Run> = Vec::new();
    let head = |run: &Run| {
        let lines = run.old.len().min(CONTEXT);
        let (old, new) = (run.old.start, run.new.start);
        Run { old: old..old + lines, new: new..new + lines, is_same: true }
    };
    let tail = |run: &Run| {
        let lines = run.old.len().min(CONTEXT);
        let (old, new) = (run.old.end, run.new.end);
        Run { old: old - lines..old, new: new - lines..new, is_same: true }
    };
    for (index, run) in runs.iter().enumerate() {
        let (is_first, is_last) = (index == 0, index + 1 == runs.len());
        if !run.is_same {
            hunk.push(run.clone());
        } else if is_first {
            hunk.push(tail(run));
        } else if is_last {
            hunk.push(head(run));
        } else if run.old.len() > 2 * CONTEXT {
            hunk.push(head(run));
            hunks.push(std::mem::take(&mut hunk));
            hunk.push(tail(run));
        } else {
            hunk.push(run.clone());
        }
    }
    hunks.push(hunk);
    hunks.retain(|hunk| hunk.iter().any(|run| !run.is_same));
    hunks
}

fn runs(old: &[String], new: &[String]) -> Vec<Run> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, line) in new.iter().enumerate() {
        places.entry(line).or_default().push(index);
    }
    if new.len() >= MANY_LINES {
        places.retain(|_, places| places.len() <= new.len() / 100 + 1);
    }
    let mut common = Vec::new();
    find_common(old, new, &places, &(0..old.len(), 0..new.len()), &mut common);
    common.push(Common { old: old.len(), new: new.len(), lines: 0 });
    let mut runs: Vec<Run> = Vec::new();
    let (mut old, mut new) = (0, 0);
    for block in common {
        if old < block.old || new < block.new {
            runs.push(Run { old: old..block.old, new: new..block.new, is_same: false });
        }
        (old, new) = (block.old + block.lines, block.new + block.lines);
        match runs.last_mut() {
            Some(last) if last.is_same && last.old.end == block.old && last.new.end == block.new => {
                last.old.end = old;
                last.new.end = new;
            }
            _ if block.lines == 0 => {}
            _ => runs.push(Run { old: block.old..old, new: block.new..new, is_same: true }),
        }
    }
    runs
}

/// Finds the longest run of common lines, then those before and those after it.
fn find_common(
    old: &[String],
    new: &[String],
    places: &BTreeMap<&str, Vec<usize>>,
    within: &(Range<usize>, Range<usize>),
    found: &mut Vec<Common>,
) {
    let longest = longest(old, new, places, within);
    if longest.lines == 0 {
        return;
    }
    let (before, after) = (
        (within.0.start..longest.old, within.1.start..longest.new),
        (longest.old + longest.lines..within.0.end, longest.new + longest.lines..within.1.end),
    );
    let is_open = |(old, new): &(Range<usize>, Range<usize>)| !old.is_empty() && !new.is_empty();
    if is_open(&before) {
        find_common(old, new, places, &before, found);
    }
    found.push(longest);
    if is_open(&after) {
        find_common(old, new, places, &after, found);
    }
}

fn longest(
    old: &[String],
    new: &[String],
    places: &BTreeMap<&str, Vec<usize>>,
    within: &(Range<usize>, Range<usize>),
) -> Common {
    let (in_old, in_new) = within;
    let mut best = Common { old: in_old.start, new: in_new.start, lines: 0 };
    // How many common lines end at a line of the new text, for the line of the old text before.
    let mut ends: BTreeMap<usize, usize> = BTreeMap::new();
    for index in in_old.clone() {
        let mut next = BTreeMap::new();
        let same = old.get(index).and_then(|line| places.get(line.as_str()));
        for &place in same.into_iter().flatten().filter(|place| in_new.contains(place)) {
            let lines = place.checked_sub(1).and_then(|before| ends.get(&before)).unwrap_or(&0) + 1;
            next.insert(place, lines);
            if lines > best.lines {
                best = Common { old: index + 1 - lines, new: place + 1 - lines, lines };
            }
        }
        ends = next;
    }
    // Lines that are no landmarks belong to it where they stand beside it.
    while best.old > in_old.start && best.new > in_new.start && old.get(best.old - 1) == new.get(best.new - 1)
    {
        best = Common { old: best.old - 1, new: best.new - 1, lines: best.lines + 1 };
    }
    while best.old + best.lines < in_old.end
        && best.new + best.lines < in_new.end
        && old.get(best.old + best.lines) == new.get(best.new + best.lines)
    {
        best.lines += 1;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_what_is_around_them() {
        let old = "{\n 1,\n 2,\n 3,\n 4,\n 5\n}";
        assert_eq!(
            unified(old, &old.replace(" 4", " four")),
            "@@ -2,6 +2,6 @@\n  1,\n  2,\n  3,\n- 4,\n+ four,\n  5\n }\n"
        );
        assert_eq!(unified(old, old), "");
        let long: String = (0..20).map(|line| format!("{line}\n")).collect();
        let changed = long.replace("2\n3\n", "2\n").replace("\n17\n", "\n17\nx\n");
        assert_eq!(unified(&long, &changed).matches("@@ -").count(), 2);
    }
}
