use std::{collections::BTreeMap, sync::LazyLock};

use kubewright_apiserver::registry::{ResourceDefinition, Resources};
use serde_json::{Value, json};

/// A built-in kind and bodies of it.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    pub(super) definition: ResourceDefinition,
    /// The least that a server takes.
    pub(super) minimal: Value,
    /// About everything that a user writes; the same as `minimal` where there is nothing more.
    pub(super) full: Value,
}

/// What stands for the case in the bodies of kinds whose objects cannot be named as one likes.
const NAMES: [(&str, &str); 4] = [
    ("sample.example.com", "$case.example.com"),
    ("full.example.com", "$case.example.com"),
    ("widgets.example.com", "widgets.$case.example.com"),
    ("\"example.com\"", "\"$case.example.com\""),
];

/// All kinds that have a sample, ordered by group, version and plural.
pub(super) fn all() -> &'static [Kind] {
    static ALL: LazyLock<Vec<Kind>> = LazyLock::new(|| {
        let samples = by_kind(include_str!("../../samples.yaml"));
        let full = by_kind(include_str!("../../full.yaml"));
        let kinds = Resources::built_in().iter().filter_map(|definition| {
            let key = (definition.api_version(), definition.kind.clone());
            let minimal = samples.get(&key)?.clone();
            let full = full.get(&key).unwrap_or(&minimal).clone();
            Some(Kind { definition: definition.clone(), minimal, full })
        });
        kinds.collect()
    });
    &ALL
}

fn by_kind(text: &str) -> BTreeMap<(String, String), Value> {
    let options = serde_saphyr::options! { strict_booleans: true };
    let objects: Vec<Value> =
        serde_saphyr::from_multiple_with_options(text, options).expect("YAML documents");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    objects.into_iter().map(|object| ((text(&object["apiVersion"]), text(&object["kind"])), object)).collect()
}

// === impl Kind ===

impl Kind {
    /// The name of the kind in names of cases.
    pub(super) fn name(&self) -> String {
        let ResourceDefinition { group, version, plural, .. } = &self.definition;
        match (group.as_str(), version.as_str()) {
            ("events.k8s.io", _) => format!("{plural}-new"),
            ("autoscaling", "v1") => format!("{plural}-old"),
            _ => plural.clone(),
        }
    }

    /// Whether objects live in namespaces.
    pub(super) fn namespaced(&self) -> bool {
        self.definition.namespaced
    }

    /// The path of the collection, in the namespace if there is one.
    pub(super) fn collection(&self, namespace: &str) -> String {
        let definition = &self.definition;
        let root = if definition.group.is_empty() { "/api" } else { "/apis" };
        let version = definition.api_version();
        if definition.namespaced {
            format!("{root}/{version}/namespaces/{namespace}/{}", definition.plural)
        } else {
            format!("{root}/{version}/{}", definition.plural)
        }
    }

    /// A body with a name of the case and in a namespace. What the case is for keeps addresses apart.
    pub(super) fn body(&self, body: &Value, namespace: &str, what: &str) -> Value {
        let mut text = body.to_string().replace("$ns", namespace);
        let is_address = self.definition.kind == "IPAddress";
        let is_free = !matches!(self.definition.kind.as_str(), "APIService" | "CustomResourceDefinition");
        if is_address {
            text = text
                .replace("10.96.7.", &format!("10.96.{}.", what.bytes().map(u32::from).sum::<u32>() % 200));
        } else if !is_free {
            text = NAMES.iter().fold(text, |text, (from, to)| text.replace(from, to));
        }
        let mut body: Value = serde_json::from_str(&text).unwrap_or_default();
        if let Some(metadata) = body["metadata"].as_object_mut() {
            metadata.remove("namespace");
            if self.namespaced() {
                metadata.insert("namespace".to_owned(), json!(namespace));
            } else if is_free && !is_address {
                metadata.insert("name".to_owned(), json!("$case"));
            }
        }
        // What an event is about is where the event is.
        for about in ["involvedObject", "regarding"] {
            if body[about]["namespace"].is_string() {
                body[about]["namespace"] = json!(namespace);
            }
        }
        body
    }

    /// The name that an object has in its path.
    pub(super) fn object_name(body: &Value) -> String {
        body["metadata"]["name"].as_str().unwrap_or_default().to_owned()
    }

    /// Whether the kind has a subresource that answers to a verb.
    pub(super) fn has_subresource(&self, name: &str, verb: &str) -> bool {
        self.definition.subresource(name).is_some_and(|own| own.answers(verb))
    }
}
