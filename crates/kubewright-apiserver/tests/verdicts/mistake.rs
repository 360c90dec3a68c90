//! Changes to a valid object: those that keep it valid and those with one mistake each.

use std::collections::BTreeMap;

use json_patch::Patch;
use serde_json::{Map, Number, Value, json};

use crate::{
    definition::Definition,
    recorded::{Case, Verdict},
    sample::{self, Fill, properties, tightest},
    text,
};

/// How many cases a schema of ordinary size has, and a large one.
const CASES: usize = 40;
const CASES_OF_LARGE: usize = 90;

/// From how many places on a schema is large.
const LARGE: usize = 25;

/// Changes by their kind.
struct Changes {
    kinds: BTreeMap<&'static str, Vec<Case>>,
    version: String,
    /// Whether what is below the status is changed by an update, because creating drops it.
    has_status: bool,
    places: usize,
}

/// The cases of a version: some of each kind of change, the kinds in turn.
pub(crate) fn cases(definition: &Definition, version: &str, schema: &Value, base: &Value) -> Vec<Case> {
    let mut changes = Changes {
        kinds: BTreeMap::new(),
        version: version.to_owned(),
        has_status: definition.has_status(version),
        places: 0,
    };
    changes.of_metadata();
    changes.of_type(definition);
    for (name, property) in properties(schema) {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            let required = requires(schema, name);
            match base.get(name) {
                Some(value) => changes.of_place(&tightest(property), value, &format!("/{name}"), required, 0),
                None => changes.add(
                    "add a property",
                    &format!("/{name}"),
                    "add",
                    sample::value(property, Fill::Required, 1, 0),
                ),
            }
        }
    }
    changes.of_object(schema, base, "");
    changes.in_turn()
}

fn requires(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|required| required.iter().any(|other| other == name))
}

// === impl Changes ===

impl Changes {
    fn add(&mut self, kind: &'static str, path: &str, operation: &str, value: Value) {
        let mut change = json!({"op": operation, "path": path});
        if operation != "remove" {
            change["value"] = value;
        }
        self.push(kind, path, false, &change);
    }

    fn push(&mut self, kind: &'static str, path: &str, update: bool, change: &Value) {
        let patch: Patch = serde_json::from_value(json!([change])).expect("a patch");
        let update = update || (self.has_status && path.starts_with("/status"));
        let what = format!("{kind} at {}", if path.is_empty() { "/" } else { path });
        let case = Case { version: self.version.clone(), what, update, patch, verdict: Verdict::default() };
        self.kinds.entry(kind).or_default().push(case);
    }

    fn replace(&mut self, kind: &'static str, path: &str, value: Value) {
        self.add(kind, path, "replace", value);
    }

    fn update(&mut self, kind: &'static str, path: &str, value: &Value) {
        self.push(kind, path, true, &json!({"op": "replace", "path": path, "value": value}));
    }

    /// As many as there may be, one of each kind after the other. Of a kind, those in the middle of the object are
    /// not preferred to those at its end.
    fn in_turn(self) -> Vec<Case> {
        let most = if self.places > LARGE { CASES_OF_LARGE } else { CASES };
        let share = most / self.kinds.len().max(1) + 1;
        let mut queues: Vec<Vec<Case>> = self.kinds.into_values().map(|cases| spread(cases, share)).collect();
        let mut chosen = Vec::new();
        while chosen.len() < most && queues.iter().any(|queue| !queue.is_empty()) {
            for queue in &mut queues {
                if !queue.is_empty() && chosen.len() < most {
                    chosen.push(queue.remove(0));
                }
            }
        }
        chosen
    }

    fn of_metadata(&mut self) {
        self.replace("nothing", "/metadata", json!({}));
        self.add("a label", "/metadata/labels", "add", json!({"a.example.com/b": "c"}));
        let names = json!({"name of the object": ["Upper", "-dash", "a..b", "under_score", ""]});
        for name in names["name of the object"].as_array().into_iter().flatten() {
            self.add("name of the object", "/metadata/name", "add", name.clone());
        }
        for labels in [json!({"a b": "c"}), json!({"a": "b c"}), json!({"a": 1}), json!([])] {
            self.add("labels", "/metadata/labels", "add", labels);
        }
        for annotations in [json!({"-a": "b"}), json!({"a": true}), json!("a")] {
            self.add("annotations", "/metadata/annotations", "add", annotations);
        }
        self.add("unknown metadata", "/metadata/unknown", "add", json!("a"));
        self.add("an annotation", "/metadata/annotations", "add", json!({"a": "some text"}));
        self.add("finalizers", "/metadata/finalizers", "add", json!(["a b"]));
        self.add("owner", "/metadata/ownerReferences", "add", json!([{"kind": "A", "name": "a"}]));
        self.add("generated name", "/metadata", "replace", json!({"generateName": "Upper-"}));
    }

    fn of_type(&mut self, definition: &Definition) {
        self.replace("type of the object", "/kind", json!("Other"));
        self.replace(
            "type of the object",
            "/apiVersion",
            json!(format!("{}/v0", definition.text("/spec/group"))),
        );
        self.add("type of the object", "/kind", "remove", Value::Null);
        self.replace("type of the object", "/apiVersion", json!(1));
    }

    fn of_place(&mut self, schema: &Value, value: &Value, path: &str, required: bool, depth: usize) {
        self.places += 1;
        if depth > 12 {
            return;
        }
        self.add(if required { "required" } else { "optional" }, path, "remove", Value::Null);
        self.replace(if schema["nullable"] == true { "nullable" } else { "null" }, path, Value::Null);
        for other in others(value) {
            self.replace("type", path, other);
        }
        if let Some(values) = schema["enum"].as_array() {
            self.replace("not in the enum", path, changed(value));
            for value in values.iter().skip(1).take(2) {
                self.replace("other of the enum", path, value.clone());
            }
            return;
        }
        if schema["x-kubernetes-int-or-string"] == true {
            self.replace("either", path, json!("50%"));
            self.replace("either", path, json!(7));
        }
        match value {
            Value::String(text) => self.of_text(schema, text, path),
            Value::Number(number) => self.of_number(schema, number, path),
            Value::Array(items) => self.of_list(schema, items, path, depth),
            Value::Object(object) => {
                for (name, value) in object {
                    let property = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
                    if property.is_object() {
                        let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
                        self.of_place(&tightest(property), value, &path, requires(schema, name), depth + 1);
                    }
                }
                self.of_object(schema, value, path);
            }
            _ => {}
        }
        if !value.is_object() && !value.is_array() {
            let rules = schema.get("x-kubernetes-validations").is_some();
            self.update(if rules { "update under a rule" } else { "update" }, path, &changed(value));
        }
    }

    fn of_text(&mut self, schema: &Value, text: &str, path: &str) {
        if let Some(least) = schema["minLength"].as_u64().filter(|least| *least > 0) {
            let shorter: String = text.chars().take(least as usize - 1).collect();
            self.replace("too short", path, json!(shorter));
        }
        if let Some(most) = schema["maxLength"].as_u64().filter(|most| *most < 1000) {
            self.replace("too long", path, json!("x".repeat(most as usize + 1)));
            self.replace("as long as may be", path, json!("x".repeat(most as usize)));
        }
        if schema.get("pattern").is_some() {
            self.replace("pattern", path, json!("\n! no"));
            self.replace("another match", path, json!(text::text(schema, 1)));
        }
        match schema["format"].as_str() {
            Some("date-time") => self.replace("format", path, json!("2030-13-01")),
            Some("byte") => self.replace("format", path, json!("%%%")),
            Some(_) => self.replace("format", path, json!("not: one")),
            None => {}
        }
        self.replace("empty text", path, json!(""));
        self.replace("text with other letters", path, json!("é\u{1F680}"));
    }

    fn of_number(&mut self, schema: &Value, number: &Number, path: &str) {
        let at = |bound: f64| {
            if bound.fract() == 0.0 && bound.abs() < 9e15 { json!(bound as i64) } else { json!(bound) }
        };
        for (keyword, beyond, step) in [("minimum", "below", -1.0), ("maximum", "above", 1.0)] {
            if let Some(bound) = schema[keyword].as_f64() {
                self.replace(beyond, path, at(bound + step));
                self.replace("at the bound", path, at(bound));
            }
        }
        if let Some(step) = schema["multipleOf"].as_f64() {
            let value = number.as_f64().unwrap_or_default();
            self.replace("no multiple", path, at(value + if step > 1.0 { 1.0 } else { step / 2.0 }));
        }
        match schema["format"].as_str() {
            Some("int32") => self.replace("too large", path, json!(i64::from(i32::MAX) + 1)),
            Some("int64") => self.replace("too large", path, json!(1e19)),
            _ => {}
        }
        if schema["type"] == "integer" {
            self.replace("fraction", path, json!(1.5));
            self.replace("whole float", path, json!(3.0));
        }
        self.replace("zero", path, json!(0));
        self.replace("negative", path, json!(-1));
    }

    fn of_list(&mut self, schema: &Value, items: &[Value], path: &str, depth: usize) {
        let item = tightest(&schema["items"]);
        if let Some(first) = items.first() {
            self.of_place(&item, first, &format!("{path}/0"), true, depth + 1);
            let kind = match schema["x-kubernetes-list-type"].as_str() {
                Some("set") => "double in a set",
                Some("map") => "double in a map",
                _ => "double in a list",
            };
            self.add(kind, &format!("{path}/-"), "add", first.clone());
        }
        let next = sample::value(&item, Fill::Required, depth + 1, items.len());
        self.add("one more item", &format!("{path}/-"), "add", next);
        self.replace("no items", path, json!([]));
        if let Some(most) = schema["maxItems"].as_u64().filter(|most| *most < 40) {
            let number = |i: u64| sample::value(&item, Fill::Required, depth + 1, i as usize);
            self.replace("too many items", path, (0..=most).map(number).collect());
        }
        if let Some(least) = schema["minItems"].as_u64().filter(|least| *least > 1) {
            self.replace("too few items", path, items.iter().take(least as usize - 1).cloned().collect());
        }
        for key in
            schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten().filter_map(Value::as_str)
        {
            if items.first().is_some_and(|first| first.get(key).is_some()) {
                self.add("item without its key", &format!("{path}/0/{key}"), "remove", Value::Null);
            }
        }
    }

    fn of_object(&mut self, schema: &Value, value: &Value, path: &str) {
        self.add("unknown field", &format!("{path}/unknownField"), "add", json!({"a": 1}));
        let additional = schema.get("additionalProperties").filter(|additional| additional.is_object());
        if let Some(most) = schema["maxProperties"].as_u64().filter(|most| *most < 40) {
            let mut many = value.as_object().cloned().unwrap_or_default();
            for i in 0..=most {
                if let Some(additional) = additional {
                    many.insert(format!("more{i}"), sample::value(additional, Fill::Required, 3, i as usize));
                }
            }
            for (name, property) in properties(schema) {
                many.entry(name.clone()).or_insert_with(|| sample::value(property, Fill::Required, 3, 0));
            }
            self.replace("too many properties", path, Value::Object(many));
        }
        if schema.get("minProperties").is_some() {
            self.replace("no properties", path, Value::Object(Map::new()));
        }
        if let Some(additional) = additional {
            self.add(
                "one more key",
                &format!("{path}/another key"),
                "add",
                sample::value(additional, Fill::Required, 3, 5),
            );
        }
        if path.is_empty() || schema.get("x-kubernetes-validations").is_none() {
            return;
        }
        // Rules are about which properties are there.
        self.replace("nothing under a rule", path, Value::Object(Map::new()));
        let optional: Vec<_> =
            properties(schema).filter(|(name, _)| !requires(schema, name)).take(6).collect();
        for (name, property) in &optional {
            let sample = sample::value(property, Fill::Required, 3, 0);
            if value.get(name).is_none() {
                self.add("one more under a rule", &format!("{path}/{name}"), "add", sample);
            } else {
                self.push(
                    "gone under a rule",
                    path,
                    true,
                    &json!({"op": "remove", "path": format!("{path}/{name}")}),
                );
            }
        }
        for (name, property) in optional {
            let only = json!({name: sample::value(property, Fill::Required, 3, 0)});
            self.replace("one under a rule", path, only);
        }
    }
}

/// Some of them, from the first to the last in equal steps.
fn spread(mut cases: Vec<Case>, most: usize) -> Vec<Case> {
    if cases.len() > most {
        let count = cases.len();
        let wanted: Vec<usize> = (0..most).map(|i| i * count / most).collect();
        let mut i = 0;
        cases.retain(|_| {
            i += 1;
            wanted.contains(&(i - 1))
        });
    }
    cases
}

/// Values of other types, two of them so that the cases do not become too many.
fn others(value: &Value) -> [Value; 2] {
    match value {
        Value::String(_) => [json!(1), json!(["a"])],
        Value::Number(_) => [json!("1"), json!({})],
        Value::Bool(_) => [json!("true"), json!(0)],
        Value::Array(_) => [json!({}), json!("a")],
        _ => [json!([]), json!("a")],
    }
}

/// A value of the same type that differs.
fn changed(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(format!("{text}-changed")),
        Value::Number(number) => json!(number.as_f64().unwrap_or_default() as i64 + 1),
        Value::Bool(flag) => json!(!flag),
        other => other.clone(),
    }
}
