//! The verbs on objects that are right.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Kind;
use crate::case::{Case, PatchType, Step};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

pub(super) fn cases(kind: &Kind) -> Vec<Case> {
    let mut cases = vec![applied(kind)];
    if is_settled_later(kind) {
        cases.push(tried(kind, "minimal", &kind.minimal));
        cases.push(tried(kind, "full", &kind.full));
        return cases;
    }
    cases.push(created(kind, "minimal", &kind.minimal));
    cases.push(changed(kind));
    cases.push(watched(kind));
    if kind.full != kind.minimal {
        cases.push(created(kind, "full", &kind.full));
    }
    if kind.has_subresource("status", "patch") {
        cases.push(status(kind));
    }
    cases
}

/// Whether a real server itself goes on to write the status of new objects, so that what one sees is a matter of time.
fn is_settled_later(kind: &Kind) -> bool {
    matches!(kind.definition.kind.as_str(), "APIService" | "CustomResourceDefinition" | "FlowSchema")
}

fn case(kind: &Kind, what: &str, steps: Vec<Step>) -> Case {
    Case {
        name: format!("{}-{what}", kind.name()),
        why: String::new(),
        more_plugins: false,
        webhooks: BTreeMap::new(),
        managed_fields: false,
        steps,
    }
}

fn send(text: String) -> Step {
    Step { send: Some(text), ..Step::default() }
}

fn with_body(text: String, body: Value) -> Step {
    Step { body: Some(body), ..send(text) }
}

fn patch(path: &str, patch: PatchType, body: Value) -> Step {
    Step { patch: Some(patch), ..with_body(format!("PATCH {path}"), body) }
}

/// Created, read, shown, replaced by itself, labelled and deleted.
fn created(kind: &Kind, what: &str, body: &Value) -> Case {
    let body = kind.body(body, "$ns", what);
    let collection = kind.collection("$ns");
    let path = format!("{collection}/{}", Kind::object_name(&body));
    let create = Step { name: "made".to_owned(), ..with_body(format!("POST {collection}"), body.clone()) };
    let mut table = send(format!("GET {path}"));
    table.headers.insert("Accept".to_owned(), TABLE.to_owned());
    table.show = ["/columnDefinitions", "/rows/0/cells", "/message"].map(ToOwned::to_owned).into();
    let mut again = body;
    again["metadata"]["resourceVersion"] = json!("$(made.metadata.resourceVersion)");
    let short = |step: Step| Step { show: vec!["/metadata".to_owned(), "/message".to_owned()], ..step };
    let steps = vec![
        create,
        table,
        short(with_body(format!("PUT {path}"), again)),
        short(patch(&path, PatchType::Merge, json!({"metadata": {"labels": {"example.com/added": "yes"}}}))),
        send(format!("DELETE {path}?gracePeriodSeconds=0")),
    ];
    case(kind, what, steps)
}

/// Created and shown, but only to see what would be.
fn tried(kind: &Kind, what: &str, body: &Value) -> Case {
    let body = kind.body(body, "default", what);
    let path = format!("POST {}?dryRun=All", kind.collection("default"));
    let mut table = with_body(path.clone(), body.clone());
    table.headers.insert("Accept".to_owned(), TABLE.to_owned());
    table.show = ["/columnDefinitions", "/rows/0/cells", "/message"].map(ToOwned::to_owned).into();
    case(kind, what, vec![with_body(path, body), table])
}

fn applied(kind: &Kind) -> Case {
    let body = kind.body(&kind.minimal, "$ns", "applied");
    let path = format!("{}/{}?fieldManager=one", kind.collection("$ns"), Kind::object_name(&body));
    let show = vec!["/metadata/managedFields".to_owned(), "/message".to_owned()];
    let apply = Step { show, ..patch(&path, PatchType::Apply, body) };
    Case { managed_fields: true, ..case(kind, "applied", vec![apply]) }
}

/// Every field of the object changed in turn: some cannot be.
fn changed(kind: &Kind) -> Case {
    let body = kind.body(&kind.full, "$ns", "changed");
    let collection = kind.collection("$ns");
    let path = format!("{collection}/{}?dryRun=All", Kind::object_name(&body));
    let mut steps = vec![Step {
        show: vec!["/message".to_owned()],
        ..with_body(format!("POST {collection}"), body.clone())
    }];
    for pointer in changeable(&body) {
        let mut change = Value::Null;
        nest(&mut change, &pointer, other(body.pointer(&pointer).unwrap_or(&Value::Null)));
        let show = ["/kind", "/reason", "/message", "/details/causes", "/metadata/generation"];
        let show = show.map(ToOwned::to_owned).into();
        steps.push(Step { show, ..patch(&path, PatchType::Merge, change) });
    }
    case(kind, "changed", steps)
}

fn watched(kind: &Kind) -> Case {
    let body = kind.body(&kind.minimal, "$ns", "watched");
    let collection = kind.collection("$ns");
    let path = format!("{collection}/{}", Kind::object_name(&body));
    let watch = format!("{collection}?fieldSelector=metadata.name={}", Kind::object_name(&body));
    let hidden = |text: String| Step { show: vec!["/message".to_owned()], ..send(text) };
    let steps = vec![
        Step { body: Some(body), ..hidden(format!("POST {collection}")) },
        Step { name: "w".to_owned(), watch: Some(watch), ..Step::default() },
        hidden(format!("DELETE {path}?gracePeriodSeconds=0")),
        Step { events: Some("w".to_owned()), count: Some(2), ..Step::default() },
    ];
    case(kind, "watched", steps)
}

fn status(kind: &Kind) -> Case {
    let body = kind.body(&kind.minimal, "$ns", "status");
    let collection = kind.collection("$ns");
    let path = format!("{collection}/{}/status", Kind::object_name(&body));
    let metadata =
        json!({"metadata": {"labels": {"example.com/l": "l"}, "annotations": {"example.com/a": "a"}}});
    let steps = vec![
        Step { show: vec!["/message".to_owned()], ..with_body(format!("POST {collection}"), body) },
        patch(&path, PatchType::Merge, metadata),
        patch(&path, PatchType::Merge, json!({"status": {"unknown": 1}})),
        patch(&path, PatchType::Merge, json!({"status": "x"})),
        send(format!("GET {path}")),
    ];
    case(kind, "status", steps)
}

/// Pointers to what stands on top of an object and of its spec.
fn changeable(body: &Value) -> Vec<String> {
    let fields = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let mut pointers = Vec::new();
    for (name, value) in fields(body) {
        match name.as_str() {
            "apiVersion" | "kind" | "metadata" => {}
            "spec" => pointers.extend(fields(&value).keys().map(|field| format!("/spec/{field}"))),
            _ => pointers.push(format!("/{name}")),
        }
    }
    pointers
}

/// Another value of the same form.
fn other(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::Bool(value) => json!(!value),
        Value::Number(number) => number.as_i64().map_or(json!(7), |number| json!(number + 1)),
        Value::String(text) => json!(format!("{text}x")),
        Value::Array(items) => items.iter().take(1).map(other).collect(),
        Value::Object(fields) => fields
            .iter()
            .take(1)
            .map(|(name, value)| (name.clone(), other(value)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

/// Puts a value where a pointer of object fields points.
fn nest(into: &mut Value, pointer: &str, value: Value) {
    let mut place = into;
    for field in pointer.split('/').skip(1) {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[field];
    }
    *place = value;
}
