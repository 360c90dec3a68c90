//! Events have two views: the core group's, which is stored, and that of `events.k8s.io`.

use serde_json::{Map, Value};

use crate::types::{Types, canonical};

/// The fields that have another name in the other group: core name, then `events.k8s.io` name.
const RENAMED: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// A core event as `events.k8s.io/v1`.
pub(super) fn to_events_group(event: &Value) -> Value {
    convert(event, "events.k8s.io/v1", |name| {
        RENAMED.iter().find(|(core, _)| *core == name).map(|(_, new)| *new)
    })
}

/// An `events.k8s.io/v1` event as the core group stores it.
pub(super) fn to_core_group(event: &Value) -> Value {
    convert(event, "v1", |name| RENAMED.iter().find(|(_, new)| *new == name).map(|(core, _)| *core))
}

fn convert(event: &Value, api_version: &str, rename: impl Fn(&str) -> Option<&'static str>) -> Value {
    let Value::Object(event) = event else { return event.clone() };
    let mut converted = Map::new();
    for (name, value) in event {
        let name = rename(name).unwrap_or(name);
        converted.insert(name.to_owned(), value.clone());
    }
    converted.insert("apiVersion".to_owned(), Value::from(api_version));
    let mut converted = Value::Object(converted);
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    if let Some(ty) = Types::get().kind(group, version, "Event") {
        canonical::canonicalize(ty, &mut converted);
    }
    converted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_the_same_through_both_views() {
        let core = json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "reason": "Created",
            "involvedObject": {"kind": "Pod"}, "message": "hello", "count": 1, "reportingComponent": "x",
        });
        let view = to_events_group(&core);
        assert_eq!(view["regarding"], json!({"kind": "Pod"}));
        assert_eq!((&view["note"], &view["reportingController"]), (&json!("hello"), &json!("x")));
        assert_eq!(view.get("message"), None);
        let mut canonical = core;
        canonical::canonicalize(Types::get().kind("", "v1", "Event").expect("a kind"), &mut canonical);
        assert_eq!(to_core_group(&view), canonical);
    }
}
