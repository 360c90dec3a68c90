//! Objects with one mistake each.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Kind;
use crate::case::{Case, Step};

/// How many cases a kind has at most that are made of its fields. They are spread over the object evenly.
const MOST: usize = 26;

/// The same for pods, which every operator makes.
const MOST_OF_PODS: usize = 260;

/// One way to spoil a field: another value, or none.
struct Spoil {
    name: String,
    at: String,
    new: Option<Value>,
}

/// A spoilt body.
struct Mistake {
    name: String,
    body: Value,
    /// Where the body differs.
    at: String,
}

pub(super) fn cases(kind: &Kind) -> Vec<Case> {
    let good = kind.body(&kind.full, "default", "mistake");
    let most = if kind.definition.plural == "pods" { MOST_OF_PODS } else { MOST };
    let fields = fields(&good);
    let step = fields.len().div_ceil(most).max(1);
    let fields = fields.into_iter().step_by(step).map(|spoil| spoil.apply(&good));
    let mistakes = general(kind, &good).into_iter().chain(fields);
    mistakes.map(|mistake| case(kind, mistake)).collect()
}

fn case(kind: &Kind, mistake: Mistake) -> Case {
    let path = kind.collection("default");
    let mut show: Vec<String> =
        ["/kind", "/code", "/reason", "/message", "/details"].map(ToOwned::to_owned).into();
    // Of what is accepted, the surroundings of the change are enough.
    let around = mistake.at.rsplit_once('/').map_or("", |(parent, _)| parent);
    show.push(if around.is_empty() { mistake.at } else { around.to_owned() });
    let step = Step {
        send: Some(format!("POST {path}?dryRun=All&fieldValidation=Strict")),
        body: Some(mistake.body),
        show,
        ..Step::default()
    };
    Case {
        name: format!("{}-{}", kind.name(), mistake.name).to_lowercase(),
        why: String::new(),
        more_plugins: false,
        webhooks: BTreeMap::new(),
        managed_fields: false,
        steps: vec![step],
    }
}

/// The mistakes that one can make with any kind.
fn general(kind: &Kind, good: &Value) -> Vec<Mistake> {
    let mistake = |name: &str, at: &str, change: &dyn Fn(&mut Value)| {
        let mut body = good.clone();
        change(&mut body);
        Mistake { name: name.to_owned(), body, at: at.to_owned() }
    };
    let mut mistakes = vec![
        mistake("no-name", "/metadata/name", &|body| {
            if let Some(metadata) = body["metadata"].as_object_mut() {
                metadata.remove("name");
            }
        }),
        mistake("odd-name", "/metadata/name", &|body| body["metadata"]["name"] = json!("Not_Valid!")),
        mistake("odd-labels", "/metadata/labels", &|body| {
            body["metadata"]["labels"] = json!({"not valid": "x", "ok": "not valid", "a/b/c": ""});
        }),
        mistake("odd-owner", "/metadata/ownerReferences", &|body| {
            body["metadata"]["ownerReferences"] =
                json!([{"apiVersion": "", "kind": "K", "name": "", "uid": "u"}]);
        }),
        mistake("other-version", "/apiVersion", &|body| body["apiVersion"] = json!("other.example.com/v1")),
        mistake("other-kind", "/kind", &|body| body["kind"] = json!("Nothing")),
        mistake("unknown-field", "/nothing", &|body| body["nothing"] = json!({"a": 1})),
    ];
    if kind.namespaced() {
        mistakes.push(mistake("other-namespace", "/metadata/namespace", &|body| {
            body["metadata"]["namespace"] = json!("other");
        }));
    }
    if good["spec"].is_object() {
        mistakes.push(mistake("no-spec", "/spec", &|body| {
            if let Some(fields) = body.as_object_mut() {
                fields.remove("spec");
            }
        }));
        mistakes.push(mistake("spec-is-text", "/spec", &|body| body["spec"] = json!("text")));
        mistakes.push(mistake("unknown-field-of-spec", "/spec/nothing", &|body| {
            body["spec"]["nothing"] = json!(1);
        }));
    }
    mistakes
}

/// Every field of the object, spoilt in the ways that its value allows.
fn fields(good: &Value) -> Vec<Spoil> {
    let mut spoils = Vec::new();
    for (name, value) in good.as_object().into_iter().flatten() {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            spoil(&format!("/{}", escape(name)), value, &mut spoils);
        }
    }
    spoils
}

fn spoil(at: &str, value: &Value, spoils: &mut Vec<Spoil>) {
    let place = at.trim_start_matches('/').replace("~1", "-").replace(['/', '.'], "-");
    let mut push = |what: &str, new: Option<Value>| {
        spoils.push(Spoil { name: format!("{what}-{place}"), at: at.to_owned(), new });
    };
    push("without", None);
    match value {
        Value::Null | Value::Bool(_) => push("text-for", Some(json!("text"))),
        Value::Number(_) => {
            push("negative", Some(json!(-1)));
            push("zero", Some(json!(0)));
            push("huge", Some(json!(1_000_000_000)));
            push("text-for", Some(json!("text")));
        }
        Value::String(_) => {
            push("empty", Some(json!("")));
            push("odd", Some(json!("Not Valid!")));
            push("number-for", Some(json!(5)));
        }
        Value::Array(items) => {
            push("empty", Some(json!([])));
            let twice = items.iter().chain(items.first()).cloned().collect();
            push("twice", Some(twice));
            for (index, item) in items.iter().enumerate() {
                spoil(&format!("{at}/{index}"), item, spoils);
            }
        }
        Value::Object(fields) => {
            push("empty", Some(json!({})));
            push("list-for", Some(json!([])));
            for (name, value) in fields {
                spoil(&format!("{at}/{}", escape(name)), value, spoils);
            }
        }
    }
}

// === impl Spoil ===

impl Spoil {
    fn apply(self, good: &Value) -> Mistake {
        let Self { name, at, new } = self;
        let mut body = good.clone();
        match new {
            Some(new) => {
                if let Some(place) = body.pointer_mut(&at) {
                    *place = new;
                }
            }
            None => remove(&mut body, &at),
        }
        Mistake { name, body, at }
    }
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn remove(body: &mut Value, at: &str) {
    let Some((parent, last)) = at.rsplit_once('/') else { return };
    match body.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            fields.remove(&last.replace("~1", "/").replace("~0", "~"));
        }
        Some(Value::Array(items)) => {
            if let Ok(index) = last.parse::<usize>() {
                items.remove(index);
            }
        }
        _ => {}
    }
}
