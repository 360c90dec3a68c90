//! The table that the measurements end in.

use std::fmt::Write;

use crate::peers::Framework;

/// One measured figure, beside those of the peers that ran.
#[derive(Debug)]
pub(crate) struct Row {
    what: String,
    /// One figure of each round.
    ours: Vec<f64>,
    /// The same of each peer.
    peers: Vec<(String, Vec<f64>)>,
    unit: Unit,
}

/// What a figure counts, which also says whether more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    PerSecond,
    Milliseconds,
    Seconds,
    Kibibytes,
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
        Self { what: what.into(), ours, peers: Vec::new(), unit }
    }

    pub(crate) fn beside(self, peer: impl Into<String>, figure: f64) -> Self {
        let figures = vec![figure; self.ours.len()];
        self.beside_rounds(peer, figures)
    }

    /// Beside the figures of a peer in the same rounds.
    pub(crate) fn beside_rounds(mut self, peer: impl Into<String>, figures: Vec<f64>) -> Self {
        self.peers.push((peer.into(), figures));
        self
    }

    /// Our figures beside those of the other runtimes. `None` if there are none of ours.
    pub(crate) fn of_runtimes(
        what: impl Into<String>,
        figures: impl IntoIterator<Item = (Framework, Vec<f64>)>,
        unit: Unit,
    ) -> Option<Self> {
        let mut figures = figures.into_iter();
        // Ours is the first of the order.
        let (Framework::Kubewright, ours) = figures.next()? else { return None };
        let row = Self::of_rounds(what, ours, unit);
        Some(figures.fold(row, |row, (runtime, figures)| row.beside_rounds(runtime.name(), figures)))
    }

    /// How many times better ours is than a peer in each round, the lowest first; below 1 it is worse.
    fn ratios(&self, peer: &[f64]) -> Vec<f64> {
        let mut ratios: Vec<f64> = self
            .ours
            .iter()
            .zip(peer)
            .map(|(ours, peer)| match self.unit {
                Unit::PerSecond => ours / peer,
                Unit::Milliseconds | Unit::Seconds | Unit::Kibibytes | Unit::Mebibytes | Unit::Times => {
                    peer / ours
                }
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    }

    /// The median of the ratios to a peer, and how far they go.
    fn format_ratio(&self, peer: &[f64]) -> String {
        match self.ratios(peer).as_slice() {
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

/// The rows as a Markdown table: a line for each peer, of which the first has our figure.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text =
        String::from("| measure | ours | peer | peer's figure | times better |\n|---|---:|---|---:|---:|\n");
    for row in rows {
        let mut lead = (row.what.as_str(), format_rounds(&row.ours, row.unit));
        if row.peers.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {} | {} | | | |", lead.0, lead.1);
        }
        for (peer, figures) in &row.peers {
            let (figure, ratio) = (format_rounds(figures, row.unit), row.format_ratio(figures));
            let _ = writeln!(text, "| {} | {} | {peer} | {figure} | {ratio} |", lead.0, lead.1);
            lead = ("", String::new());
        }
    }
    text
}

/// The median of the rounds, and how far they go.
fn format_rounds(rounds: &[f64], unit: Unit) -> String {
    let figure = |share| format_figure(percentile(rounds, share), unit);
    if figure(0.0) == figure(1.0) {
        return figure(0.5);
    }
    format!("{} ({} to {})", figure(0.5), figure(0.0), figure(1.0))
}

fn format_figure(figure: f64, unit: Unit) -> String {
    match unit {
        Unit::PerSecond if figure >= 10_000.0 => format!("{:.0} k/s", figure / 1000.0),
        Unit::PerSecond if figure < 100.0 => format!("{figure:.1}/s"),
        Unit::PerSecond => format!("{figure:.0}/s"),
        Unit::Milliseconds => format!("{figure:.2} ms"),
        Unit::Seconds => format!("{figure:.2} s"),
        Unit::Kibibytes => format!("{figure:.2} KiB"),
        Unit::Mebibytes => format!("{figure:.1} MiB"),
        Unit::Times => format!("{figure:.2} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_says_how_many_times_better_ours_is() {
        let ratio = |row: Row| row.format_ratio(&[100.0]);
        assert_eq!(ratio(Row::new("a", 300.0, Unit::PerSecond)), "3.00");
        assert_eq!(ratio(Row::new("a", 300.0, Unit::Milliseconds)), "0.33");
    }

    #[test]
    fn rounds_show_how_far_their_ratios_go() {
        let row = Row::of_rounds("a", vec![10.0, 40.0, 20.0], Unit::PerSecond);
        let row = row.beside_rounds("p", vec![10.0, 10.0, 5.0]);
        assert_eq!(
            table(&[row]).lines().last(),
            Some("| a | 20.0/s (10.0/s to 40.0/s) | p | 10.0/s (5.0/s to 10.0/s) | 4.00 (1.00 to 4.00) |")
        );
    }

    #[test]
    fn each_peer_has_a_line() {
        let figures =
            [(Framework::Kubewright, 2.0), (Framework::ControllerRuntime, 8.0), (Framework::KubeRs, 1.0)];
        let figures = figures.map(|(runtime, figure)| (runtime, vec![figure]));
        let row = Row::of_runtimes("a", figures, Unit::Seconds).expect("ours is there");
        let text = table(&[row]);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            lines,
            ["| a | 2.00 s | controller-runtime | 8.00 s | 4.00 |", "|  |  | kube-rs | 1.00 s | 0.50 |"]
        );
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
