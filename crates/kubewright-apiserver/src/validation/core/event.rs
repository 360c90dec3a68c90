//! Events, which come in by two groups. Faults are reported by the names that the core group has for the fields.

use kubewright_schema::names;

use super::super::Field;

const LONGEST_WORD: usize = 128;
const LONGEST_MESSAGE: usize = 1024;

/// The names of fields: of the core group, then of the newer one.
const FIELDS: [(&str, &str); 6] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// A field by its name in the core group, at the place of that name.
fn field<'a>(event: Field<'a>, name: &'static str, is_core: bool) -> Field<'a> {
    let own = FIELDS.iter().find(|(core, _)| *core == name && !is_core).map_or(name, |(_, new)| new);
    event.at(name).with(event.child(own).value())
}

pub(in crate::validation) fn create(event: Field<'_>, is_core: bool) {
    validate(event, is_core);
    if is_core {
        return;
    }
    check_series(event.child("series"));
    event.child("eventTime").require();
    let kind = event.child("type");
    if !matches!(kind.text(), "Normal" | "Warning") {
        kind.invalid("", format!("has invalid value: {}", kind.text()));
    }
    for name in ["firstTimestamp", "lastTimestamp"] {
        let time = field(event, name, is_core);
        if time.is_set() {
            time.invalid("", "needs to be unset");
        }
    }
    let count = field(event, "count", is_core);
    if count.number() != 0 {
        count.invalid("", "needs to be unset");
    }
    let source = field(event, "source", is_core);
    if ["component", "host"].iter().any(|field| !source.child(field).is_empty()) {
        source.invalid("", "needs to be unset");
    }
}

pub(in crate::validation) fn update(new: Field<'_>, old: Field<'_>, is_core: bool) {
    validate(new, is_core);
    if is_core {
        return;
    }
    let series = new.child("series");
    if series.value() != old.child("series").value() {
        check_series(series);
    }
    for name in ["involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count"]
    {
        immutable(field(new, name, is_core), field(old, name, is_core));
    }
    for name in ["type", "eventTime", "action", "related", "reportingController", "reportingInstance"] {
        immutable(new.child(name), old.child(name));
    }
}

/// Checks that a field is as it was. What is no text is shown as Go's internal types show it.
fn immutable(new: Field<'_>, old: Field<'_>) {
    if new.value() == old.value() {
        return;
    }
    let detail = "field is immutable";
    match new.path().as_str() {
        "involvedObject" | "related" => new.invalid_as("*core.ObjectReference", detail),
        "source" => new.invalid_as("core.EventSource", detail),
        "count" => new.invalid(new.number(), detail),
        "firstTimestamp" | "lastTimestamp" | "eventTime" => new.invalid(new.value().clone(), detail),
        _ => new.invalid(new.text(), detail),
    }
}

/// What is checked of all events. Those with a time of their own are of the newer kind.
fn validate(event: Field<'_>, is_core: bool) {
    let about = field(event, "involvedObject", is_core).child("namespace");
    let own = event.child("metadata").child("namespace").text();
    if !event.child("eventTime").is_set() {
        let is_wrong = if about.is_empty() { own != "default" } else { own != about.text() };
        if is_wrong {
            about.invalid(about.text(), "does not match event.namespace");
        }
        return;
    }
    if about.is_empty() && !matches!(own, "default" | "kube-system") {
        about.invalid(about.text(), "does not match event.namespace");
    }
    let controller = event.child(if is_core { "reportingComponent" } else { "reportingController" });
    controller.require();
    controller.check(names::label_key);
    let word = |field: Field<'_>, most: usize| {
        if field.text().len() > most {
            field.invalid("", format!("can have at most {most} characters"));
        }
    };
    for name in ["reportingInstance", "action", "reason"] {
        event.child(name).require();
        word(event.child(name), LONGEST_WORD);
    }
    word(field(event, "message", is_core), LONGEST_MESSAGE);
}

fn check_series(series: Field<'_>) {
    if !series.is_set() {
        return;
    }
    if series.child("count").number() < 2 {
        series.child("count").invalid("", "should be at least 2");
    }
    series.child("lastObservedTime").require();
}
