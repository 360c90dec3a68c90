//! The table that the measurements end in.

use std::fmt::Write;

/// One measured figure, beside that of a peer where one ran.
#[derive(Debug)]
pub(crate) struct Row {
    what: String,
    /// One figure of each round.
    ours: Vec<f64>,
    peer: Option<(String, Vec<f64>)>,
    unit: Unit,
}

/// What a figure counts, which also says whether more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    PerSecond,
    Milliseconds,
    Seconds,
    Mebibytes,
    /// How many times as much as something else.
    Times,
}

impl Row {
    pub(crate) fn new(what: impl Into<String>, ours: f64, unit: Unit) -> Self {
        Self::of_rounds(what, vec![ours], unit)
    }

    /// A figure that was measured several times, in turn with the peer if there is one.
    pub(crate) fn of_rounds(what: impl Into<String>, ours: Vec<f64>, unit: Unit) -> Self {
        Self { what: what.into(), ours, peer: None, unit }
    }

    pub(crate) fn beside(self, peer: impl Into<String>, figure: f64) -> Self {
        let figures = vec![figure; self.ours.len()];
        self.beside_rounds(peer, figures)
    }

    /// Beside the figures of a peer in the same rounds.
    pub(crate) fn beside_rounds(mut self, peer: impl Into<String>, figures: Vec<f64>) -> Self {
        self.peer = Some((peer.into(), figures));
        self
    }

    /// How many times better ours is in each round, the lowest first; below 1 it is worse.
    fn ratios(&self) -> Vec<f64> {
        let Some((_, peer)) = &self.peer else { return Vec::new() };
        let mut ratios: Vec<f64> = self
            .ours
            .iter()
            .zip(peer)
            .map(|(ours, peer)| match self.unit {
                Unit::PerSecond => ours / peer,
                Unit::Milliseconds | Unit::Seconds | Unit::Mebibytes | Unit::Times => peer / ours,
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    }

    /// The median of the ratios, and how far they go.
    fn format_ratio(&self) -> String {
        match self.ratios().as_slice() {
            [] => String::new(),
            [one] => format!("{one:.2}"),
            all @ [lowest, .., highest] => format!("{:.2} ({lowest:.2} to {highest:.2})", median(all)),
        }
    }
}

/// The middle one of some figures, of which there is one at least.
pub(crate) fn median(figures: &[f64]) -> f64 {
    percentile(figures, 0.5)
}

/// The figure that a share of all does not exceed.
pub(crate) fn percentile(figures: &[f64], share: f64) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let index = ((sorted.len().saturating_sub(1)) as f64 * share).round() as usize;
    sorted.get(index).copied().unwrap_or(f64::NAN)
}

/// The rows as a Markdown table.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text =
        String::from("| measure | ours | peer | peer's figure | times better |\n|---|---:|---|---:|---:|\n");
    for row in rows {
        let (peer, figure) = match &row.peer {
            Some((peer, figures)) => (peer.as_str(), format_figure(median(figures), row.unit)),
            None => ("", String::new()),
        };
        let ours = format_figure(median(&row.ours), row.unit);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {ours} | {peer} | {figure} | {} |", row.what, row.format_ratio());
    }
    text
}

fn format_figure(figure: f64, unit: Unit) -> String {
    match unit {
        Unit::PerSecond if figure >= 10_000.0 => format!("{:.0} k/s", figure / 1000.0),
        Unit::PerSecond if figure < 100.0 => format!("{figure:.1}/s"),
        Unit::PerSecond => format!("{figure:.0}/s"),
        Unit::Milliseconds => format!("{figure:.2} ms"),
        Unit::Seconds => format!("{figure:.2} s"),
        Unit::Mebibytes => format!("{figure:.1} MiB"),
        Unit::Times => format!("{figure:.2} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_says_how_many_times_better_ours_is() {
        let ratio = |row: Row| row.beside("p", 100.0).format_ratio();
        assert_eq!(ratio(Row::new("a", 300.0, Unit::PerSecond)), "3.00");
        assert_eq!(ratio(Row::new("a", 300.0, Unit::Milliseconds)), "0.33");
        assert_eq!(Row::new("a", 300.0, Unit::Mebibytes).format_ratio(), "");
    }

    #[test]
    fn rounds_show_how_far_their_ratios_go() {
        let row = Row::of_rounds("a", vec![10.0, 40.0, 20.0], Unit::PerSecond);
        let row = row.beside_rounds("p", vec![10.0, 10.0, 5.0]);
        assert_eq!(row.format_ratio(), "4.00 (1.00 to 4.00)");
        assert_eq!(table(&[row]).lines().last(), Some("| a | 20.0/s | p | 10.0/s | 4.00 (1.00 to 4.00) |"));
    }

    #[test]
    fn percentiles_are_figures_that_were_seen() {
        let figures = [5.0, 1.0, 4.0, 2.0, 3.0];
        assert_eq!(
            (median(&figures), percentile(&figures, 0.99), percentile(&figures, 0.0)),
            (3.0, 5.0, 1.0)
        );
    }
}
