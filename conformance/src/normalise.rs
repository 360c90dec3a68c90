//! Takes out of answers what differs from run to run: uids, versions, times, generated names and addresses.
//!
//! Each gets a stable name, the same wherever the same value stands. Those of versions are numbered in their order, so
//! that order and equality can still be compared. The versions of lists and bookmarks, which other writers of a shared
//! server move on, count as that of the last object of the case that had been written.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use http::HeaderMap;
use jiff::{SignedDuration, Timestamp};
use regex::{Captures, Regex};
use serde_json::{Map, Value};

use crate::{
    answer::Answer,
    case::{Case, Step},
    player::{Exchange, is_usual},
};

/// The headers that matter to a client.
const HEADERS: [&str; 13] = [
    "content-type",
    "cache-control",
    "warning",
    "retry-after",
    "vary",
    "location",
    "etag",
    "expires",
    "content-encoding",
    "x-content-type-options",
    "www-authenticate",
    "allow",
    "content-disposition",
];

/// Texts longer than this that only describe are left out.
const LONGEST_DESCRIPTION: usize = 40;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern")
}

static UID: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"));
static TIME: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"));
static JWT: LazyLock<Regex> = LazyLock::new(|| pattern(r"\beyJ[\w-]+\.[\w-]+\.[\w-]+"));
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b10\.(?:9[6-9]|10\d|11[01])\.\d+\.\d+\b"));
static HASH: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[0-9A-F]{128}\b"));
/// An age in a table: of seconds, or so long that the object says itself since when, and the answer when it was asked.
static AGE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:\d{1,2}s|\d+y(?:\d+d)?|\d{2,}d)$"));
static NODE_PORT: LazyLock<Regex> = LazyLock::new(|| pattern(r":(3[0-2]\d{3})/"));
/// A patched object within a message, quoted.
static PATCHED: LazyLock<Regex> = LazyLock::new(|| pattern(r#""\{\\"(?:[^"\\]|\\.)*\}""#));
static REVISION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(resource version: |revision=|current: |ResourceVersion in the precondition \(|ResourceVersion in record \(|version: \d+ \(|resourceVersion\\*":\\*")(\d+)"#,
    )
});

/// What is known of one case's answers.
struct Names<'a> {
    /// What the case says itself, which stays as it is.
    text: &'a str,
    managed_fields: bool,
    revisions: Vec<u64>,
    uids: BTreeMap<String, usize>,
    addresses: BTreeMap<String, usize>,
    ports: BTreeMap<String, usize>,
    /// Generated names and what they are called.
    generated: Vec<(String, String)>,
}

/// The answers of a case in their stable form.
pub(crate) fn answers(case: &Case, exchanges: Vec<Exchange>) -> Vec<Answer> {
    let text = case.text();
    let mut names = Names {
        text: &text,
        managed_fields: case.managed_fields,
        revisions: Vec::new(),
        uids: BTreeMap::new(),
        addresses: BTreeMap::new(),
        ports: BTreeMap::new(),
        generated: Vec::new(),
    };
    names.collect(&exchanges);
    let steps = case.steps.iter().zip(exchanges);
    steps.map(|(step, exchange)| names.answer(step, exchange)).collect()
}

// === impl Names ===

impl Names<'_> {
    fn collect(&mut self, exchanges: &[Exchange]) {
        let mut revisions = BTreeSet::new();
        for value in exchanges.iter().flat_map(|one| one.body.iter().chain(one.events.iter().flatten())) {
            self.collect_from(value, &mut revisions);
        }
        self.revisions = revisions.into_iter().collect();
    }

    fn collect_from(&mut self, value: &Value, revisions: &mut BTreeSet<u64>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.collect_from(item, revisions)),
            Value::Object(fields) => {
                let text = |field: &str| fields.get(field).and_then(Value::as_str).unwrap_or_default();
                if fields.contains_key("uid")
                    && let Ok(revision) = text("resourceVersion").parse()
                {
                    revisions.insert(revision);
                }
                let (base, name) = (text("generateName"), text("name"));
                if let Some(base) = refused_base(self.text, fields) {
                    self.generated.push((text("name").to_owned(), format!("{base}<refused>")));
                }
                // A long base is cut.
                let base = base.get(..58).unwrap_or(base);
                if !base.is_empty() && name.len() > base.len() && !self.text.contains(name) {
                    let number = self.generated.iter().filter(|(_, own)| own.starts_with(base)).count() + 1;
                    if !self.generated.iter().any(|(own, _)| own == name) {
                        self.generated.push((name.to_owned(), format!("{base}<{number}>")));
                    }
                }
                fields.values().for_each(|value| self.collect_from(value, revisions));
            }
            _ => {}
        }
    }

    fn answer(&mut self, step: &Step, exchange: Exchange) -> Answer {
        let Exchange { at, status, headers, body, events } = exchange;
        let body = body.map(|body| {
            let mut body = self.value("", body, at);
            sort_causes(&mut body);
            shown(step, body)
        });
        let events = events.map(|events| events.into_iter().map(|event| self.value("", event, at)).collect());
        Answer { status, headers: self.headers(&headers, at), body, events }
    }

    fn headers(&mut self, headers: &HeaderMap, at: Timestamp) -> BTreeMap<String, Vec<String>> {
        let mut answer: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for name in HEADERS {
            for value in headers.get_all(name) {
                let text = String::from_utf8_lossy(value.as_bytes());
                if is_usual(name, &text) {
                    continue;
                }
                let text = if name == "expires" { "<time>".to_owned() } else { self.string(&text, at) };
                answer.entry(name.to_owned()).or_default().push(text);
            }
        }
        if !headers.is_empty() && !headers.contains_key("audit-id") {
            // It is always there, and always another one.
            answer.insert("audit-id".to_owned(), vec!["<none>".to_owned()]);
        }
        if let Some(warnings) = answer.get_mut("warning") {
            warnings.sort_unstable();
        }
        answer
    }

    fn value(&mut self, key: &str, value: Value, at: Timestamp) -> Value {
        match value {
            Value::Object(fields) => self.object(fields, at),
            Value::Array(items) if key == "cells" => {
                let cell = |item| match self.value(key, item, at) {
                    Value::String(text) if AGE.is_match(&text) => Value::from("<age>"),
                    other => other,
                };
                items.into_iter().map(cell).collect()
            }
            Value::Array(items) => items.into_iter().map(|item| self.value(key, item, at)).collect(),
            Value::String(text) => match key {
                "resourceVersion" | "initialResourceVersion" => self.revision(&text).into(),
                "continue" => self.token(&text).into(),
                "description" if text.len() > LONGEST_DESCRIPTION => "<text>".into(),
                _ => self.string(&text, at).into(),
            },
            Value::Number(number)
                if matches!(key, "nodePort" | "healthCheckNodePort")
                    && number.as_i64().is_some_and(|port| (30000..=32767).contains(&port)) =>
            {
                self.port(&number.to_string()).map_or(Value::Number(number), Value::from)
            }
            other => other,
        }
    }

    fn object(&mut self, mut fields: Map<String, Value>, at: Timestamp) -> Value {
        if self.managed_fields {
            if let Some(Value::Array(entries)) = fields.get_mut("managedFields") {
                for entry in entries.iter_mut() {
                    if let Some(time) = entry.get_mut("time") {
                        *time = "<time>".into();
                    }
                }
                // Times of a second's resolution make their order one of chance.
                entries.sort_by_key(|entry| {
                    ["operation", "manager", "subresource", "apiVersion"].map(|key| entry[key].to_string())
                });
            }
        } else {
            fields.remove("managedFields");
        }
        // What is numbered as it comes must come in the same order from everybody.
        let mut named: Vec<(String, Value)> = fields.into_iter().collect();
        named.sort_by(|(one, _), (other, _)| one.cmp(other));
        let fields = named.into_iter().map(|(key, value)| {
            let value = self.value(&key, value, at);
            (self.string(&key, at), value)
        });
        Value::Object(fields.collect())
    }

    fn string(&mut self, text: &str, at: Timestamp) -> String {
        let mut text = text.to_owned();
        // Most texts have nothing of it, which is faster seen without the patterns.
        for (name, called) in &self.generated {
            if text.contains(name.as_str()) {
                text = text.replace(name.as_str(), called);
            }
        }
        let said = self.text;
        if text.contains("\"{\\\"") && PATCHED.is_match(&text) {
            text = PATCHED.replace_all(&text, |found: &Captures<'_>| patched(&found[0])).into_owned();
        }
        if text.len() >= 36 && UID.is_match(&text) {
            let uids = &mut self.uids;
            let name = |found: &Captures<'_>| {
                if said.contains(&found[0]) {
                    return found[0].to_owned();
                }
                let next = uids.len() + 1;
                format!("<uid{}>", uids.entry(found[0].to_owned()).or_insert(next))
            };
            text = UID.replace_all(&text, name).into_owned();
        }
        if text.contains("10.") && ADDRESS.is_match(&text) {
            let addresses = &mut self.addresses;
            let name = |found: &Captures<'_>| {
                if said.contains(&found[0]) {
                    return found[0].to_owned();
                }
                let next = addresses.len() + 1;
                format!("<ip{}>", addresses.entry(found[0].to_owned()).or_insert(next))
            };
            text = ADDRESS.replace_all(&text, name).into_owned();
        }
        if text.contains('T') && TIME.is_match(&text) {
            text = TIME.replace_all(&text, |found: &Captures<'_>| time(&found[0], said, at)).into_owned();
        }
        if text.len() >= 128 && HASH.is_match(&text) {
            text = HASH.replace_all(&text, "<hash>").into_owned();
        }
        if text.contains("eyJ") && JWT.is_match(&text) {
            text = JWT.replace_all(&text, "<jwt>").into_owned();
        }
        if text.contains(":3") && NODE_PORT.is_match(&text) {
            let port = |found: &Captures<'_>| {
                self.port(&found[1]).map_or(found[0].to_owned(), |port| format!(":{port}/"))
            };
            text = NODE_PORT.replace_all(&text.clone(), port).into_owned();
        }
        if (text.contains("ersion") || text.contains("revision=") || text.contains("current: "))
            && REVISION.is_match(&text)
        {
            let name = |found: &Captures<'_>| {
                if is_said(said, &found[2]) {
                    found[0].to_owned()
                } else {
                    format!("{}{}", &found[1], self.revision(&found[2]))
                }
            };
            text = REVISION.replace_all(&text, name).into_owned();
        }
        text
    }

    /// The number of the last object of the case that was written by then.
    fn revision(&self, text: &str) -> String {
        match text.parse::<u64>() {
            Ok(0) | Err(_) => text.to_owned(),
            Ok(revision) => format!("<rv{}>", self.revisions.partition_point(|own| *own <= revision)),
        }
    }

    fn port(&mut self, text: &str) -> Option<String> {
        if is_said(self.text, text) {
            return None;
        }
        let next = self.ports.len() + 1;
        Some(format!("<port{}>", self.ports.entry(text.to_owned()).or_insert(next)))
    }

    /// A continue token, decoded.
    fn token(&self, text: &str) -> String {
        let decoded = URL_SAFE_NO_PAD.decode(text).ok();
        let Some(token) = decoded.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok()) else {
            return text.to_owned();
        };
        let revision = match token["rv"].as_i64() {
            Some(revision) if revision > 0 => self.revision(&revision.to_string()),
            _ => token["rv"].to_string(),
        };
        format!("<continue at {revision} from {}>", token["start"])
    }
}

/// A patched object in a message, ordered: which parts of it the real server writes in the order of Go's fields depends
/// on where the patch has looked.
fn patched(quoted: &str) -> String {
    let object =
        serde_json::from_str::<String>(quoted).ok().and_then(|text| serde_json::from_str(&text).ok());
    let Some(mut object) = object else { return quoted.to_owned() };
    if let Some(Value::Object(metadata)) = Value::get_mut(&mut object, "metadata") {
        metadata.remove("managedFields");
    }
    Value::from(object.to_string()).to_string()
}

/// The base of a generated name that a refusal is about.
fn refused_base<'a>(said: &'a str, details: &Map<String, Value>) -> Option<&'a str> {
    let name = details.get("name").and_then(Value::as_str).filter(|_| details.contains_key("causes"))?;
    let base = said.split("\"generateName\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    base.into_iter().find(|base| name.len() == base.len() + 5 && name.starts_with(*base))
}

/// Whether the case says this number itself.
fn is_said(text: &str, number: &str) -> bool {
    text.match_indices(number).any(|(at, _)| {
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        let bytes = text.as_bytes();
        !is_digit(at.checked_sub(1).and_then(|before| bytes.get(before)))
            && !is_digit(bytes.get(at + number.len()))
    })
}

/// A time of the server's clock: about now, or some seconds later.
fn time(text: &str, said: &str, at: Timestamp) -> String {
    let Ok(time) = text.parse::<Timestamp>() else { return text.to_owned() };
    if said.contains(text) {
        return text.to_owned();
    }
    let resolution = if text.contains('.') { "microtime" } else { "time" };
    let ahead = time.duration_since(at);
    if ahead.abs() > SignedDuration::from_hours(30 * 24) {
        return text.to_owned();
    }
    match (ahead.as_secs() + 2).div_euclid(5) * 5 {
        seconds if seconds <= 0 => format!("<{resolution}>"),
        seconds => format!("<{resolution}+{seconds}s>"),
    }
}

/// Orders the causes, and the message that is made of them: the real server collects them in an order of chance wherever
/// it walks a map.
fn sort_causes(body: &mut Value) {
    let Some(causes) = body.pointer_mut("/details/causes").and_then(Value::as_array_mut) else { return };
    causes.sort_by_key(Value::to_string);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut parts: Vec<String> = causes
        .iter()
        .map(|cause| match text(&cause["field"]) {
            field if field.is_empty() => text(&cause["message"]),
            field => format!("{field}: {}", text(&cause["message"])),
        })
        .collect();
    parts.dedup();
    let message = text(&body["message"]);
    if let Some((start, rest)) = message.split_once(" is invalid: ")
        && parts.len() > 1
        && parts.iter().all(|part| rest.contains(part.as_str()))
        && rest.len() == parts.iter().map(|part| part.len() + 2).sum::<usize>()
    {
        body["message"] = format!("{start} is invalid: [{}]", parts.join(", ")).into();
    } else if let Some((start, rest)) = message.split_once(": conflict") {
        let mut parts: Vec<&str> = rest.split("\nconflict").collect();
        parts.sort_unstable();
        body["message"] = format!("{start}: conflict{}", parts.join("\nconflict")).into();
    }
}

/// The part of the body that the step wants to see.
fn shown(step: &Step, mut body: Value) -> Value {
    for pointer in &step.hide {
        if let Some((parent, field)) = pointer.rsplit_once('/')
            && let Some(Value::Object(fields)) = body.pointer_mut(parent)
        {
            fields.remove(field);
        }
    }
    if step.show.is_empty() {
        return body;
    }
    let parts =
        step.show.iter().filter_map(|pointer| Some((pointer.clone(), body.pointer(pointer)?.clone())));
    Value::Object(parts.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn exchange(body: Value) -> Exchange {
        Exchange {
            at: "2030-01-01T00:00:01Z".parse().expect("a time"),
            status: Some(200),
            headers: HeaderMap::new(),
            body: Some(body),
            events: None,
        }
    }

    fn bodies(steps: &Value, values: &[Value]) -> Vec<Value> {
        let case = json!({"name": "one", "steps": steps});
        let case: Case = serde_json::from_value(case).expect("a case");
        let answers = answers(&case, values.iter().cloned().map(exchange).collect());
        answers.into_iter().filter_map(|answer| answer.body).collect()
    }

    #[test]
    fn versions_and_uids_keep_their_order_and_equality() {
        let uid = |n: u8| format!("00000000-0000-4000-8000-00000000000{n}");
        let object = |n, rv: &str| json!({"metadata": {"uid": uid(n), "resourceVersion": rv}});
        let list = json!({"metadata": {"resourceVersion": "900"}, "items": [object(2, "120")]});
        let got = bodies(
            &json!([{"send": "GET /"}, {"send": "GET /"}, {"send": "GET /"}]),
            &[object(1, "210"), object(2, "120"), list],
        );
        let uids = ["<uid1>", "<uid2>"];
        let named = |n: usize, rv: &str| json!({"metadata": {"uid": uids[n], "resourceVersion": rv}});
        let list = json!({"metadata": {"resourceVersion": "<rv2>"}, "items": [named(1, "<rv1>")]});
        assert_eq!(got, [named(0, "<rv2>"), named(1, "<rv1>"), list]);
    }

    #[test]
    fn times_are_now_or_later_and_what_the_case_says_stays() {
        let got = bodies(
            &json!([{"send": "GET /", "body": {"at": "2030-01-01T00:00:00Z"}}]),
            &[json!({
                "a": "2030-01-01T00:00:00Z", "b": "2030-01-01T00:00:02Z", "c": "2030-01-01T00:00:31Z",
                "d": "2001-01-01T00:00:00Z", "cells": ["3s", "30s ago"],
            })],
        );
        let expected = json!({
            "a": "2030-01-01T00:00:00Z", "b": "<time>", "c": "<time+30s>",
            "d": "2001-01-01T00:00:00Z", "cells": ["<age>", "30s ago"],
        });
        assert_eq!(got, [expected]);
    }

    #[test]
    fn causes_of_custom_resources_are_a_set() {
        let status = |first: &str, second: &str| {
            json!({
                "kind": "Status", "message": format!("W \"a\" is invalid: [{first}: no, {second}: no]"),
                "details": {"group": "example.com", "causes": [
                    {"field": first, "message": "no"}, {"field": second, "message": "no"}]},
            })
        };
        let steps = json!([{"send": "GET /"}]);
        assert_eq!(bodies(&steps, &[status("x", "y")]), bodies(&steps, &[status("y", "x")]));
    }
}
