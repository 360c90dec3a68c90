//! What a change from one CRD to another breaks.
//!
//! A CRD outlives the operator that brought it: objects are stored under it, and clients that nobody rebuilt go on
//! using it. [`compare`] finds every difference between two states of CRDs and sorts it into a [`Class`]: safe, needs
//! conversion, or unsafe, with the path, the values and the reason. The promise behind *safe*: whatever was valid under
//! the old definition, stored or requested, is valid under the new one, and keeps all of its fields.
//!
//! | file | idea |
//! |---|---|
//! | `rule.rs` | the one table: what may change, how bad it is, and why |
//! | `change.rs` | one change, exceptions, and what all changes come to |
//! | `definition.rs` | a CRD, read |
//! | `names.rs`, `versions.rs`, `subresources.rs` | the changes of a definition besides its schemas |
//! | `schema/` | the changes from one schema to another |
//! | `between_versions.rs` | what is lost between versions that are not converted |
//!
//! Where it cannot be decided whether a change loosens or tightens (a pattern, a CEL rule), it counts as unsafe.
//! Descriptions, titles and examples are not compared.

mod between_versions;
mod change;
mod definition;
mod names;
mod rule;
mod schema;
mod subresources;
mod versions;

use std::collections::BTreeMap;

use serde_json::Value;

pub use self::{
    change::{Change, Exception, Report, UnknownRule},
    definition::NotADefinition,
    rule::{Class, RULES, Rule, find},
};
use self::{definition::Definition, rule::CRD_ADDED};

/// Compares two sets of CRDs (`apiextensions.k8s.io/v1`), as they stand in files or come from a cluster.
///
/// CRDs are matched by name, those that remain by kind if that is unique. `status.storedVersions` is taken into
/// account where it is present; else only the storage version is stored.
///
/// ```
/// use kubewright_manifests::compatibility::{Class, compare};
/// use serde_json::json;
///
/// let crd = |spec: serde_json::Value| json!({
///     "apiVersion": "apiextensions.k8s.io/v1",
///     "kind": "CustomResourceDefinition",
///     "metadata": {"name": "memcacheds.cache.example.com"},
///     "spec": {
///         "group": "cache.example.com",
///         "scope": "Namespaced",
///         "names": {"plural": "memcacheds", "kind": "Memcached"},
///         "versions": [{
///             "name": "v1", "served": true, "storage": true,
///             "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
///         }],
///     },
/// });
/// let old = crd(json!({"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}}));
/// let new = crd(json!({"type": "object", "properties": {"size": {"type": "integer", "minimum": 2}}}));
/// let report = compare(&[old], &[new])?;
/// assert_eq!(report.worst(), Some(Class::Unsafe));
/// assert_eq!(
///     report.changes[0].to_string(),
///     "unsafe memcacheds.cache.example.com v1 .spec.size: bound added or tightened (minimum): 1 -> 2 [bound-tightened]",
/// );
/// # Ok::<(), kubewright_manifests::compatibility::NotADefinition>(())
/// ```
///
/// # Errors
///
/// If a document is no CRD of `apiextensions.k8s.io/v1`, or a schema is not structural.
pub fn compare(old: &[Value], new: &[Value]) -> Result<Report, NotADefinition> {
    let mut old = by_name(old)?;
    let mut new = by_name(new)?;
    let mut changes = Vec::new();
    for (old, new) in pairs(&mut old, &mut new) {
        let mut found = Vec::new();
        names::compare(&old, &new, &mut found);
        versions::compare(&old, &new, &mut found);
        between_versions::compare(&old, &new, &mut found);
        changes.extend(found);
    }
    changes.extend(old.keys().map(|name| Change::new(rule::CRD_REMOVED, name, "$")));
    changes.extend(new.keys().map(|name| Change::new(CRD_ADDED, name, "$")));
    Ok(Report::of(changes))
}

fn by_name(documents: &[Value]) -> Result<BTreeMap<String, Definition>, NotADefinition> {
    let mut definitions = BTreeMap::new();
    for document in documents {
        let definition = Definition::read(document)?;
        let name = definition.name.clone();
        if definitions.insert(name.clone(), definition).is_some() {
            return Err(NotADefinition::Twice { name });
        }
    }
    Ok(definitions)
}

/// Takes the definitions that belong together out of both maps.
fn pairs(
    old: &mut BTreeMap<String, Definition>,
    new: &mut BTreeMap<String, Definition>,
) -> Vec<(Definition, Definition)> {
    let mut pairs = Vec::new();
    let names: Vec<String> = old.keys().filter(|name| new.contains_key(*name)).cloned().collect();
    for name in names {
        pairs.extend(old.remove(&name).zip(new.remove(&name)));
    }
    // Of two that were renamed, neither is the successor of the other for sure.
    let kinds: Vec<String> = old.values().map(|definition| definition.kind().to_owned()).collect();
    for kind in kinds {
        let of_kind = |definitions: &BTreeMap<String, Definition>| {
            let mut names =
                definitions.iter().filter(|(_, found)| found.kind() == kind).map(|(name, _)| name.clone());
            names.next().filter(|_| names.next().is_none())
        };
        if let (Some(old_name), Some(new_name)) = (of_kind(old), of_kind(new)) {
            pairs.extend(old.remove(&old_name).zip(new.remove(&new_name)));
        }
    }
    // One definition against one is a comparison of the two, whatever they are called.
    if pairs.is_empty() && old.len() == 1 && new.len() == 1 {
        pairs.extend(old.pop_first().map(|(_, old)| old).zip(new.pop_first().map(|(_, new)| new)));
    }
    pairs
}

#[cfg(test)]
mod tests;
