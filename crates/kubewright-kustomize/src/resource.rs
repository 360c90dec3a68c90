//! One object, and what happened to it since it was read.

use std::collections::BTreeMap;

use crate::{
    id::{Gvk, Id},
    node::{Map, Node, Shape},
    origin::Origin,
};

/// An object.
///
/// kustomize keeps what it has to know besides the object in annotations, and takes them away at the end. Here they are
/// fields. What shows of the difference is in [`Resource::has_records`] and [`Resource::finish`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Resource {
    pub(crate) body: Map,
    /// The kinds, scopes and names it had, oldest first.
    former: Vec<Former>,
    pub(crate) prefixes: Vec<String>,
    pub(crate) suffixes: Vec<String>,
    pub(crate) behavior: Behavior,
    /// A hash of its content is added to its name at the end.
    pub(crate) needs_hash: bool,
    /// The names of the variables whose values are in it.
    pub(crate) variables: Vec<String>,
    pub(crate) origin: Option<Origin>,
    pub(crate) transformed_by: Vec<Origin>,
}

#[derive(Clone, Debug)]
struct Former {
    kind: String,
    scope: String,
    name: String,
}

/// What becomes of a generated object if there is one of that name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Behavior {
    #[default]
    Create,
    Replace,
    Merge,
}

/// Annotations that kustomize keeps notes in. They are not part of a result, whoever wrote them.
const NOTES: [&str; 20] = [
    Origin::ANNOTATION,
    Origin::TRANSFORMATIONS,
    "config.k8s.io/id",
    "config.kubernetes.io/index",
    "config.kubernetes.io/path",
    "internal.config.kubernetes.io/allowKindChange",
    "internal.config.kubernetes.io/allowNameChange",
    "internal.config.kubernetes.io/annotations-migration-resource-id",
    "internal.config.kubernetes.io/generatorBehavior",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/needsHashSuffix",
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/prefixes",
    "internal.config.kubernetes.io/previousKinds",
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/previousNamespaces",
    "internal.config.kubernetes.io/refBy",
    "internal.config.kubernetes.io/seqindent",
    "internal.config.kubernetes.io/suffixes",
];

/// An annotation of objects that others refer to and that are not part of the result.
const LOCAL: &str = "config.kubernetes.io/local-config";

impl Resource {
    pub(crate) fn new(body: Map) -> Self {
        Self { body, ..Self::default() }
    }

    fn field(&self, name: &str) -> &str {
        self.body.get(name).map_or("", Node::text)
    }

    fn metadata(&self, name: &str) -> &str {
        self.body
            .get("metadata")
            .and_then(|metadata| metadata.get(name))
            .filter(|value| !value.is_null_or_empty())
            .map_or("", Node::text)
    }

    pub(crate) fn api_version(&self) -> &str {
        self.field("apiVersion")
    }

    pub(crate) fn kind(&self) -> &str {
        self.field("kind")
    }

    pub(crate) fn gvk(&self) -> Gvk {
        Gvk::new(self.api_version(), self.kind())
    }

    pub(crate) fn name(&self) -> &str {
        self.metadata("name")
    }

    pub(crate) fn namespace(&self) -> &str {
        self.metadata("namespace")
    }

    pub(crate) fn id(&self) -> Id {
        Id::current(self.gvk(), self.name(), self.namespace())
    }

    pub(crate) fn former_ids(&self) -> impl Iterator<Item = Id> {
        let api_version = self.api_version();
        self.former
            .iter()
            .map(|Former { kind, scope, name }| Id::former(Gvk::new(api_version, kind), name, scope))
    }

    /// The identity that it had when it was read.
    pub(crate) fn original_id(&self) -> Id {
        self.former_ids().next().unwrap_or_else(|| self.id())
    }

    /// Every identity that it had, and the present one last.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Id> {
        self.former_ids().chain([self.id()])
    }

    /// Whether it has or had this name.
    pub(crate) fn had_name(&self, name: &str) -> bool {
        self.name() == name || self.former.iter().any(|former| former.name == name)
    }

    /// Remembers the present identity, before it changes.
    pub(crate) fn remember_id(&mut self) {
        let id = self.id();
        self.former.push(Former { kind: id.gvk.kind.clone(), scope: id.scope().to_owned(), name: id.name });
    }

    /// Takes over who another object was.
    pub(crate) fn take_history(&mut self, other: &Self) {
        self.former.clone_from(&other.former);
        self.prefixes.clone_from(&other.prefixes);
        self.suffixes.clone_from(&other.suffixes);
        self.behavior = other.behavior;
        self.variables.clone_from(&other.variables);
        self.needs_hash &= other.needs_hash;
    }

    /// Whether kustomize would have annotations of its own on it, so that there are annotations for a patch to add to.
    pub(crate) fn has_records(&self) -> bool {
        !self.former.is_empty()
            || self.needs_hash
            || self.origin.is_some()
            || self.behavior != Behavior::Create
    }

    /// The metadata, which are made if they are not there.
    fn metadata_mut(&mut self) -> Option<&mut Map> {
        if self.body.get("metadata").and_then(Node::as_map).is_none() {
            self.body.insert("metadata", Node::empty(Shape::Map));
        }
        self.body.get_mut("metadata").and_then(Node::as_map_mut)
    }

    pub(crate) fn set_kind(&mut self, kind: &str) {
        self.body.insert("kind", Node::plain(kind));
    }

    pub(crate) fn set_gvk(&mut self, gvk: &Gvk) {
        self.body.insert("apiVersion", Node::plain(gvk.api_version()));
        self.set_kind(&gvk.kind);
    }

    pub(crate) fn set_name(&mut self, name: &str) {
        if let Some(metadata) = self.metadata_mut() {
            metadata.set_string("name", name);
        }
    }

    pub(crate) fn set_namespace(&mut self, namespace: &str) {
        match self.metadata_mut() {
            Some(metadata) if namespace.is_empty() => drop(metadata.remove("namespace")),
            Some(metadata) => metadata.set_string("namespace", namespace),
            None => {}
        }
    }

    pub(crate) fn labels(&self) -> BTreeMap<String, String> {
        self.texts("labels")
    }

    pub(crate) fn annotations(&self) -> BTreeMap<String, String> {
        self.texts("annotations")
    }

    pub(crate) fn set_labels(&mut self, labels: &BTreeMap<String, String>) {
        self.set_texts("labels", labels);
    }

    pub(crate) fn set_annotations(&mut self, annotations: &BTreeMap<String, String>) {
        self.set_texts("annotations", annotations);
    }

    /// Values that are no strings count as the text that they are written as.
    fn texts(&self, field: &str) -> BTreeMap<String, String> {
        let map = self.body.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Node::as_map);
        map.map(texts_of).unwrap_or_default()
    }

    fn set_texts(&mut self, field: &str, texts: &BTreeMap<String, String>) {
        let Some(metadata) = self.metadata_mut() else { return };
        metadata.remove(field);
        if !texts.is_empty() {
            metadata
                .insert(field, Node::Map(texts.iter().map(|(k, v)| (k.clone(), Node::string(v))).collect()));
        }
    }

    /// Puts another text of `data` or `binaryData` in.
    pub(crate) fn set_data(&mut self, field: &str, texts: &BTreeMap<String, String>) {
        self.body.remove(field);
        if !texts.is_empty() {
            self.body
                .insert(field, Node::Map(texts.iter().map(|(k, v)| (k.clone(), Node::string(v))).collect()));
        }
    }

    pub(crate) fn data(&self, field: &str) -> BTreeMap<String, String> {
        self.body.get(field).and_then(Node::as_map).map(texts_of).unwrap_or_default()
    }

    /// Whether it is there for others to refer to, and not part of the result.
    pub(crate) fn is_local(&self) -> bool {
        self.annotations().get(LOCAL).is_some_and(|value| value != "false")
    }

    /// Leaves the annotations as kustomize does after it took its own away: all of them strings, and none if there are
    /// none.
    pub(crate) fn finish(&mut self, origin: bool, transformations: bool) {
        let mut annotations = self.annotations();
        annotations.retain(|key, _| !NOTES.contains(&key.as_str()));
        if let Some(from) = self.origin.as_ref().filter(|_| origin) {
            annotations.insert(Origin::ANNOTATION.to_owned(), from.text());
        }
        if transformations && !self.transformed_by.is_empty() {
            annotations.insert(Origin::TRANSFORMATIONS.to_owned(), Origin::list_text(&self.transformed_by));
        }
        self.set_annotations(&annotations);
    }
}

fn texts_of(map: &Map) -> BTreeMap<String, String> {
    map.iter().map(|(key, value)| (key.to_owned(), value.text().to_owned())).collect()
}
