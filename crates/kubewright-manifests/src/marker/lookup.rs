//! The rows of a name, and what to say when there is none.

use std::ops::Range;

use super::{
    Arguments, Definition, MarkerError,
    nearest::{distance, nearest},
    table,
};

/// The rows that have a name.
#[derive(Debug)]
pub(super) struct Found {
    /// The name as it is written in the text, `items:` included.
    pub(super) written: String,
    /// The name as the table has it.
    pub(super) name: &'static str,
    /// Whether the items of a list are meant.
    pub(super) on_items: bool,
    /// Rows of one name differ in their targets.
    pub(super) rows: Vec<&'static Definition>,
}

/// Looks a name up; with an `=` after it, its last part may be an argument's name.
pub(super) fn find(name: &str, has_equals: bool) -> Option<Found> {
    exact(name).or_else(|| {
        let (shorter, _) = has_equals.then(|| name.rsplit_once(':'))??;
        exact(shorter)
    })
}

/// Whether this is the whole name of a marker.
pub(super) fn is_known(name: &str) -> bool {
    exact(name).is_some()
}

fn exact(written: &str) -> Option<Found> {
    let (plain, on_items) = match written.rsplit_once(":items:") {
        Some((family, last)) => (format!("{family}:{last}"), true),
        None => (written.to_owned(), false),
    };
    let mut name = None;
    let mut rows = Vec::new();
    for row in table::definitions().filter(|row| !on_items || row.on_items) {
        // The name for items is that of the row alone, not of its aliases.
        let same = if on_items {
            (row.name == plain).then_some(row.name)
        } else {
            row.names().find(|n| *n == plain)
        };
        if let Some(same) = same {
            name.get_or_insert(same);
            rows.push(row);
        }
    }
    Some(Found { written: written.to_owned(), name: name?, on_items, rows })
}

/// The error for a name that no row has.
pub(super) fn unknown(name: &str, range: Range<usize>) -> MarkerError {
    let error = MarkerError::new("unknown-marker", format!("there is no marker `{name}`"), range);
    match suggestion(name) {
        Some(right) => error.help(format!("write `{right}`")),
        None => error.help("`kubewright generate --markers` lists all markers"),
    }
}

/// The name that was probably meant.
pub(super) fn suggestion(name: &str) -> Option<String> {
    // `kubebuilder:resource:path` without a value.
    if let Some((shorter, argument)) = name.rsplit_once(':')
        && let Some(found) = exact(shorter)
    {
        let arguments = found.rows.iter().flat_map(|row| row.named_arguments()).map(|argument| argument.name);
        return Some(match nearest(argument, arguments) {
            Some(argument) => format!("{shorter}:{argument}=.."),
            None => shorter.to_owned(),
        });
    }
    let names = all_names();
    let whole = |text: &str| nearest(text, names.iter().map(String::as_str)).map(str::to_owned);
    // The last part is that of a marker under another prefix: `kubebuilder:validation:nullable`.
    let last = last_part(name);
    let same_last = names.iter().find(|known| last_part(known).eq_ignore_ascii_case(last)).cloned();
    let spelling = whole(name).filter(|known| distance(name, known) <= 2);
    spelling.or(same_last).or_else(|| whole(name)).or_else(|| {
        // One slip in the name of a marker with arguments: `kubebuilder:rback:groups=..`.
        let (shorter, argument) = name.rsplit_once(':')?;
        let right = whole(shorter)?;
        takes_names(&right).then(|| format!("{right}:{argument}=.."))
    })
}

fn takes_names(name: &str) -> bool {
    exact(name).is_some_and(|found| found.rows.iter().any(|row| matches!(row.arguments, Arguments::Named(_))))
}

fn last_part(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, last)| last)
}

fn all_names() -> Vec<String> {
    let mut names: Vec<String> =
        table::definitions().flat_map(Definition::names).map(str::to_owned).collect();
    names.extend(table::definitions().filter_map(Definition::items_name));
    names
}
