use prometheus_client::{encoding::prometheus_text, registry::Registry};

/// The content type of a scrape: Prometheus' text format, version 0.0.4, which controller-runtime serves too.
pub const CONTENT_TYPE: &str = prometheus_text::CONTENT_TYPE;

/// Encodes the registry with families in the order of their names and series in the order of their labels.
///
/// prometheus-client keeps the series of a family in a hash map. A scrape that reads the same twice is
/// what people compare by eye, and what tests compare at all.
pub(super) fn encode(registry: &Registry) -> String {
    let mut unsorted = String::new();
    if prometheus_text::encode(&mut unsorted, registry).is_err() {
        // Writing into a string fails only if the value of a label or a metric refuses to format itself.
        return String::new();
    }
    let mut families: Vec<Family<'_>> = Vec::new();
    for line in unsorted.lines() {
        if line.starts_with("# HELP ") {
            families.push(Family { help: line, kind: "", series: Vec::new() });
        } else if let Some(family) = families.last_mut() {
            family.add(line);
        }
    }
    families.sort_by_key(|family| family.help);
    let mut sorted = String::with_capacity(unsorted.len());
    for family in &mut families {
        // client_golang leaves out a family that has no series.
        if family.series.is_empty() {
            continue;
        }
        family.series.sort_by_key(|lines| lines.first().copied());
        let header = [family.help, family.kind];
        for line in header.iter().chain(family.series.iter().flatten()) {
            sorted.push_str(line);
            sorted.push('\n');
        }
    }
    sorted
}

struct Family<'a> {
    help: &'a str,
    kind: &'a str,
    /// The lines of each series: one, or those of a histogram, whose last one is its count.
    series: Vec<Vec<&'a str>>,
}

impl<'a> Family<'a> {
    fn add(&mut self, line: &'a str) {
        if line.starts_with("# TYPE ") {
            self.kind = line;
            return;
        }
        let histogram = self.kind.ends_with(" histogram");
        match self.series.last_mut() {
            Some(lines) if histogram && !lines.last().is_some_and(|last| is_count(last)) => lines.push(line),
            _ => self.series.push(vec![line]),
        }
    }
}

/// Whether this is the line `name_count{..} 3`, with which a histogram ends.
fn is_count(line: &str) -> bool {
    let name = line.split(['{', ' ']).next().unwrap_or_default();
    name.ends_with("_count")
}

#[cfg(test)]
mod tests {
    use prometheus_client::metrics::{counter::Counter, family::Family, histogram::Histogram};

    use super::*;

    type Labels = [(&'static str, String); 1];

    #[test]
    fn families_and_series_are_sorted_and_histograms_stay_whole() {
        let mut registry = Registry::default();
        let durations: Family<Labels, Histogram, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new([0.5, 1.0]));
        let requests: Family<Labels, Counter> = Family::default();
        registry.register("requests", "Requests", requests.clone());
        registry.register("duration_seconds", "Durations", durations.clone());
        registry.register("empty", "Nothing yet", Family::<Labels, Counter>::default());
        for name in ["c", "a", "b"] {
            requests.get_or_create(&[("name", name.to_owned())]).inc();
            durations.get_or_create(&[("name", name.to_owned())]).observe(0.7);
        }
        let text = encode(&registry);
        assert!(
            text.starts_with(
                "# HELP duration_seconds Durations.\n\
             # TYPE duration_seconds histogram\n\
             duration_seconds_bucket{name=\"a\",le=\"0.5\"} 0\n\
             duration_seconds_bucket{name=\"a\",le=\"1\"} 1\n\
             duration_seconds_bucket{name=\"a\",le=\"+Inf\"} 1\n\
             duration_seconds_sum{name=\"a\"} 0.7\n\
             duration_seconds_count{name=\"a\"} 1\n\
             duration_seconds_bucket{name=\"b\",le=\"0.5\"} 0\n"
            ),
            "{text}"
        );
        assert!(
            text.ends_with(
                "# HELP requests_total Requests.\n\
             # TYPE requests_total counter\n\
             requests_total{name=\"a\"} 1\n\
             requests_total{name=\"b\"} 1\n\
             requests_total{name=\"c\"} 1\n"
            ),
            "{text}"
        );
        assert!(!text.contains("empty"));
    }
}
