//! Who belongs to a set of objects, in the way of Kubernetes' ApplySets.

use std::collections::BTreeSet;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use kube::api::DynamicObject;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{
    kinds::GroupKind,
    order::{is_definition, kind},
};

/// The label of a member, and of the object that stands for the set.
pub(crate) const PART_OF: &str = "applyset.kubernetes.io/part-of";
const ID: &str = "applyset.kubernetes.io/id";
const TOOLING: &str = "applyset.kubernetes.io/tooling";
const KINDS: &str = "applyset.kubernetes.io/contains-group-kinds";
const NAMESPACES: &str = "applyset.kubernetes.io/additional-namespaces";

/// A set of objects that are applied together. A ConfigMap stands for it and knows the kinds of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplySet {
    name: String,
    namespace: String,
}

// === impl ApplySet ===

impl ApplySet {
    /// The set for which the ConfigMap `name` in `namespace` stands.
    pub fn new(name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self { name: name.into(), namespace: namespace.into() }
    }

    /// Its identity: a function of the object that stands for it.
    #[must_use]
    pub fn id(&self) -> String {
        let text = format!("{}.{}.ConfigMap.", self.name, self.namespace);
        format!("applyset-{}-v1", URL_SAFE_NO_PAD.encode(Sha256::digest(text)))
    }

    /// The namespace of the object that stands for it.
    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Makes an object a member. Definitions are none.
    pub(crate) fn adopt(&self, object: &mut DynamicObject) {
        if !is_definition(object) {
            object.metadata.labels.get_or_insert_default().insert(PART_OF.to_owned(), self.id());
        }
    }

    /// The object that stands for the set with members of these kinds and namespaces.
    pub(crate) fn parent(&self, kinds: &BTreeSet<GroupKind>, namespaces: &BTreeSet<String>) -> DynamicObject {
        let kinds: Vec<String> = kinds.iter().map(written).collect();
        let others: Vec<&str> =
            namespaces.iter().map(String::as_str).filter(|name| *name != self.namespace).collect();
        let parent = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": self.name,
                "namespace": self.namespace,
                "labels": {ID: self.id()},
                "annotations": {
                    TOOLING: concat!("kubewright/v", env!("CARGO_PKG_VERSION")),
                    KINDS: kinds.join(","),
                    NAMESPACES: others.join(","),
                },
            },
        });
        // It is what a ConfigMap looks like.
        serde_json::from_value(parent).unwrap_or_else(|_| unreachable!("an object"))
    }

    /// The kinds that the set has had, as its object says.
    pub(crate) fn kinds(parent: &DynamicObject) -> BTreeSet<GroupKind> {
        let annotations = parent.metadata.annotations.as_ref();
        let kinds = annotations
            .and_then(|annotations| annotations.get(KINDS))
            .map(String::as_str)
            .unwrap_or_default();
        kinds.split(',').filter(|kind| !kind.is_empty()).map(read).collect()
    }

    /// The kind of a member; none for what is no member.
    pub(crate) fn kind_of(object: &DynamicObject) -> Option<GroupKind> {
        let api_version = object.types.as_ref().map(|types| types.api_version.as_str()).unwrap_or_default();
        let group = api_version.split_once('/').map(|(group, _)| group).unwrap_or_default();
        (!is_definition(object)).then(|| GroupKind { group: group.to_owned(), kind: kind(object).to_owned() })
    }
}

/// `Deployment.apps`, `ConfigMap`.
fn written(kind: &GroupKind) -> String {
    if kind.group.is_empty() { kind.kind.clone() } else { format!("{}.{}", kind.kind, kind.group) }
}

fn read(text: &str) -> GroupKind {
    let (kind, group) = text.split_once('.').unwrap_or((text, ""));
    GroupKind { group: group.to_owned(), kind: kind.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_identity_that_kubectl_gives_it() {
        // echo -n my-set.my-namespace.ConfigMap. | sha256sum, in base64 for URLs.
        let id = ApplySet::new("my-set", "my-namespace").id();
        assert!(id.starts_with("applyset-") && id.ends_with("-v1") && id.len() == 55, "{id}");
    }

    #[test]
    fn the_object_of_a_set_knows_its_kinds() {
        let set = ApplySet::new("my-set", "my-namespace");
        let kinds = BTreeSet::from([read("ConfigMap"), read("Deployment.apps")]);
        let parent = set.parent(&kinds, &BTreeSet::from(["my-namespace".to_owned(), "other".to_owned()]));
        let annotations = parent.metadata.annotations.clone().expect("annotations");
        assert_eq!(annotations[KINDS], "ConfigMap,Deployment.apps");
        assert_eq!(annotations[NAMESPACES], "other");
        assert_eq!(ApplySet::kinds(&parent), kinds);
    }
}
