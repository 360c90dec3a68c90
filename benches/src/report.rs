//! The table that the measurements end in.

use std::fmt::Write;

/// One measured figure, beside that of a peer where one ran.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) ours: f64,
    pub(crate) peer: Option<(String, f64)>,
    pub(crate) unit: Unit,
}

/// What a figure counts, which also says whether more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    PerSecond,
    Milliseconds,
    Seconds,
    Mebibytes,
}

impl Row {
    pub(crate) fn new(what: impl Into<String>, ours: f64, unit: Unit) -> Self {
        Self { what: what.into(), ours, peer: None, unit }
    }

    pub(crate) fn beside(mut self, peer: impl Into<String>, figure: f64) -> Self {
        self.peer = Some((peer.into(), figure));
        self
    }

    /// How many times better ours is; below 1 it is worse.
    fn ratio(&self) -> Option<f64> {
        let (_, peer) = self.peer.as_ref()?;
        Some(match self.unit {
            Unit::PerSecond => self.ours / peer,
            Unit::Milliseconds | Unit::Seconds | Unit::Mebibytes => peer / self.ours,
        })
    }
}

/// The rows as a Markdown table.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text =
        String::from("| measure | ours | peer | peer's figure | times better |\n|---|---:|---|---:|---:|\n");
    for row in rows {
        let (peer, figure) = match &row.peer {
            Some((peer, figure)) => (peer.as_str(), format_figure(*figure, row.unit)),
            None => ("", String::new()),
        };
        let ratio = row.ratio().map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
        let ours = format_figure(row.ours, row.unit);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {ours} | {peer} | {figure} | {ratio} |", row.what);
    }
    text
}

fn format_figure(figure: f64, unit: Unit) -> String {
    match unit {
        Unit::PerSecond if figure >= 10_000.0 => format!("{:.0} k/s", figure / 1000.0),
        Unit::PerSecond => format!("{figure:.0}/s"),
        Unit::Milliseconds => format!("{figure:.2} ms"),
        Unit::Seconds => format!("{figure:.2} s"),
        Unit::Mebibytes => format!("{figure:.1} MiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_says_how_many_times_better_ours_is() {
        assert_eq!(Row::new("a", 300.0, Unit::PerSecond).beside("p", 100.0).ratio(), Some(3.0));
        assert_eq!(Row::new("a", 300.0, Unit::Milliseconds).beside("p", 100.0).ratio(), Some(1.0 / 3.0));
        assert_eq!(Row::new("a", 300.0, Unit::Mebibytes).ratio(), None);
    }
}
