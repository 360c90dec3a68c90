//! What kustomize knows of built-in kinds: how strategic merge patches merge their lists, and which of them are in no
//! namespace.
//!
//! It is what kustomize has built in, which is an old OpenAPI document of Kubernetes. Kinds and fields that are newer
//! are merged like custom resources: lists are replaced. `conformance/kustomize/tables` makes the table.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use serde::Deserialize;

use crate::id::Gvk;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    // It is a part of the program, and a test reads it.
    serde_json::from_str(include_str!("../data/kinds.json")).unwrap_or_default()
});

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Table {
    kinds: BTreeMap<String, String>,
    cluster_scoped: BTreeSet<String>,
    types: BTreeMap<String, Type>,
}

/// A type or a field. One that has no merged list in it is not in the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Type {
    #[serde(rename = "ref")]
    reference: Option<String>,
    #[serde(default)]
    fields: BTreeMap<String, Type>,
    values: Option<Box<Type>>,
    items: Option<Box<Type>>,
    #[serde(default)]
    strategy: String,
    #[serde(default)]
    keys: Vec<String>,
}

impl Type {
    /// The type of the objects of a kind.
    pub(crate) fn of(api_version: &str, kind: &str) -> Option<&'static Self> {
        TABLE.types.get(TABLE.kinds.get(&format!("{api_version} {kind}"))?)
    }

    fn resolved(&'static self) -> Option<&'static Self> {
        match &self.reference {
            Some(name) => TABLE.types.get(name),
            None => Some(self),
        }
    }

    pub(crate) fn field(&'static self, name: &str) -> Option<&'static Self> {
        self.fields.get(name).or(self.values.as_deref())?.resolved()
    }

    pub(crate) fn items(&'static self) -> Option<&'static Self> {
        self.items.as_deref()?.resolved()
    }

    /// The keys by which the items of a list are merged, none for a list of scalars; nothing if the list is replaced.
    pub(crate) fn merged_by(&self) -> Option<&[String]> {
        self.strategy.split(',').any(|strategy| strategy == "merge").then_some(&self.keys)
    }
}

pub(crate) fn is_cluster_scoped(gvk: &Gvk) -> bool {
    TABLE.cluster_scoped.contains(&format!("{} {}", gvk.api_version(), gvk.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let table: Table = serde_json::from_str(include_str!("../data/kinds.json")).unwrap();
        assert!(table.types.len() > 100);
        let containers = ["spec", "template", "spec", "containers"]
            .into_iter()
            .try_fold(Type::of("apps/v1", "Deployment").unwrap(), Type::field)
            .unwrap();
        assert_eq!(containers.merged_by(), Some(["name".to_owned()].as_slice()));
        let ports = containers.items().and_then(|container| container.field("ports")).unwrap();
        assert_eq!(ports.merged_by().unwrap(), ["containerPort", "protocol"]);
        assert!(is_cluster_scoped(&Gvk::new("v1", "Namespace")));
        assert!(!is_cluster_scoped(&Gvk::new("example.com/v1", "Namespace")));
    }
}
