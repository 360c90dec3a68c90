use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The fields that differ between two states of an object, each with the field managers that had set it in the first one.
///
/// `spec.replicas` or `spec.template.spec.containers[name=web].image`. What the server changes with every write
/// (versions, times, who set what) is left out.
pub(super) fn changed(before: &Value, after: &Value) -> BTreeMap<String, Vec<String>> {
    let mut changed = BTreeMap::new();
    for (object, other) in [(before, after), (after, before)] {
        for entry in managers(object) {
            let manager = entry["manager"].as_str().unwrap_or_default();
            let Some(fields) = entry["fieldsV1"].as_object() else { continue };
            let mut walk = Walk { is_before: std::ptr::eq(object, before), manager, changed: &mut changed };
            walk.compare(fields, Some(object), Some(other), &mut String::new());
        }
    }
    // The server keeps no managers of an object that it does not know from the beginning.
    if changed.is_empty() {
        differences(before, after, &mut String::new(), &mut changed);
    }
    changed
}

/// The fields that differ, without their managers. Lists are looked at as wholes.
fn differences(
    before: &Value,
    after: &Value,
    path: &mut String,
    changed: &mut BTreeMap<String, Vec<String>>,
) {
    if before == after || SERVER_SET.contains(&path.as_str()) {
        return;
    }
    let (Some(one), Some(other)) = (before.as_object(), after.as_object()) else {
        changed.insert(path.clone(), Vec::new());
        return;
    };
    for name in one.keys().chain(other.keys()) {
        let length = path.len();
        follow(&format!("f:{name}"), path);
        let of = |object: &Map<String, Value>| object.get(name).cloned().unwrap_or_default();
        differences(&of(one), &of(other), path, changed);
        path.truncate(length);
    }
}

/// What the server changes with each write.
const SERVER_SET: [&str; 3] = ["metadata.resourceVersion", "metadata.generation", "metadata.managedFields"];

fn managers(object: &Value) -> &[Value] {
    object["metadata"]["managedFields"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A walk over the fields of one manager.
struct Walk<'a> {
    /// Whether the manager had set them in the first state.
    is_before: bool,
    manager: &'a str,
    changed: &'a mut BTreeMap<String, Vec<String>>,
}

impl Walk<'_> {
    fn compare(
        &mut self,
        fields: &Map<String, Value>,
        one: Option<&Value>,
        other: Option<&Value>,
        path: &mut String,
    ) {
        let mut is_leaf = true;
        for (step, below) in fields {
            // The element or the object itself.
            if step == "." {
                continue;
            }
            is_leaf = false;
            let length = path.len();
            let (one, other) = match follow(step, path) {
                Follow::Field(name) => {
                    (one.and_then(|one| one.get(name)), other.and_then(|other| other.get(name)))
                }
                Follow::Element(keys) => (element(one, &keys), element(other, &keys)),
                // The elements of a set: that one is there is all that can be said of it.
                Follow::Whole => (one, other),
            };
            match below.as_object() {
                Some(below) if !matches!(step.get(..2), Some("v:")) => self.compare(below, one, other, path),
                _ => self.found(one, other, path),
            }
            path.truncate(length);
        }
        if is_leaf {
            self.found(one, other, path);
        }
    }

    fn found(&mut self, one: Option<&Value>, other: Option<&Value>, path: &str) {
        if one == other {
            return;
        }
        let managers = self.changed.entry(path.to_owned()).or_default();
        if self.is_before && !managers.iter().any(|manager| manager == self.manager) {
            managers.push(self.manager.to_owned());
        }
    }
}

enum Follow<'a> {
    Field(&'a str),
    Element(Map<String, Value>),
    Whole,
}

/// What a step of the wire form leads to. Appends it to the path.
fn follow<'a>(step: &'a str, path: &mut String) -> Follow<'a> {
    match step.split_at_checked(2) {
        Some(("f:", name)) => {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
            Follow::Field(name)
        }
        Some(("k:", keys)) => {
            let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
            let text = keys.iter().map(|(name, value)| match value.as_str() {
                Some(value) => format!("{name}={value}"),
                None => format!("{name}={value}"),
            });
            let text = text.collect::<Vec<_>>().join(",");
            path.push_str(&format!("[{text}]"));
            Follow::Element(keys)
        }
        _ => Follow::Whole,
    }
}

/// The element of a list that has these keys.
fn element<'a>(list: Option<&'a Value>, keys: &Map<String, Value>) -> Option<&'a Value> {
    list?.as_array()?.iter().find(|element| keys.iter().all(|(name, value)| element.get(name) == Some(value)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_changed_is_named_with_those_who_had_set_it() {
        let object = |replicas: i32, image: &str, managed: Value| {
            json!({
                "metadata": {"name": "cart", "managedFields": managed},
                "spec": {"replicas": replicas, "paused": false, "containers": [{"name": "web", "image": image}]},
            })
        };
        let containers = json!({r#"k:{"name":"web"}"#: {".": {}, "f:name": {}, "f:image": {}}});
        let before = object(
            5,
            "web:1",
            json!([
                {"manager": "operator", "fieldsV1": {"f:spec": {"f:paused": {}, "f:containers": containers}}},
                {"manager": "autoscaler", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
            ]),
        );
        let after = object(
            3,
            "web:2",
            json!([
                {"manager": "operator", "fieldsV1": {"f:spec": {"f:replicas": {}, "f:paused": {}, "f:containers": containers}}},
            ]),
        );
        let changed = changed(&before, &after);
        let expected = [
            ("spec.containers[name=web].image".to_owned(), vec!["operator".to_owned()]),
            ("spec.replicas".to_owned(), vec!["autoscaler".to_owned()]),
        ];
        assert_eq!(changed, expected.into());
    }

    #[test]
    fn a_field_that_is_new_had_no_manager() {
        let before = json!({"metadata": {"managedFields": []}});
        let after = json!({
            "metadata": {"managedFields": [{"manager": "operator", "fieldsV1": {"f:data": {".": {}, "f:time": {}}}}]},
            "data": {"time": "noon"},
        });
        assert_eq!(changed(&before, &after), [("data.time".to_owned(), vec![])].into());
        assert!(changed(&after, &after).is_empty());
        // The same where nobody is known.
        let object = |version: &str, time: &str| json!({"metadata": {"resourceVersion": version}, "data": {"time": time}});
        assert_eq!(
            changed(&object("1", "noon"), &object("2", "later")),
            [("data.time".to_owned(), vec![])].into()
        );
    }
}
