use serde_json::Value;

use super::{Cells, Object, row};

pub(super) fn cells(kind: &str) -> Option<Cells> {
    (kind == "Event").then_some(event)
}

/// The two forms of events name the same things differently; this reads either.
fn event(object: Object<'_>) -> Vec<Value> {
    let either =
        |core: &str, other: &str| if object.has(core) { object.get(core) } else { object.get(other) };
    let text = |core: &str, other: &str| either(core, other).map_or_else(String::new, Object::to_text);
    let since = |core: &str, other: &str| either(core, other).map(|time| time.since(""));

    let first =
        since("/firstTimestamp", "/deprecatedFirstTimestamp").unwrap_or_else(|| object.since("/eventTime"));
    let mut last = since("/lastTimestamp", "/deprecatedLastTimestamp").unwrap_or_else(|| first.clone());
    let mut count = either("/count", "/deprecatedCount").map_or(0, |count| count.int(""));
    if let Some(series) = object.get("/series") {
        last = series.since("/lastObservedTime");
        count = series.int("/count");
    } else if count == 0 {
        count = 1; // an event that happened once has no count in the newer form
    }

    let mut target = text("/involvedObject/kind", "/regarding/kind").to_lowercase();
    let name = text("/involvedObject/name", "/regarding/name");
    if !name.is_empty() {
        target = format!("{target}/{name}");
    }
    let component = non_empty_of(
        text("/source/component", "/deprecatedSource/component"),
        text("/reportingComponent", "/reportingController"),
    );
    let host = non_empty_of(
        text("/source/host", "/deprecatedSource/host"),
        object.text("/reportingInstance").into(),
    );
    let source = if host.is_empty() { component } else { format!("{component}, {host}") };
    row![
        last,
        object.text("/type"),
        object.text("/reason"),
        target,
        text("/involvedObject/fieldPath", "/regarding/fieldPath"),
        source,
        text("/message", "/note").trim(),
        first,
        count,
        object.name(),
    ]
}

fn non_empty_of(first: String, second: String) -> String {
    if first.is_empty() { second } else { first }
}
