//! The documents of one group or version each, and the two lists of them.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{Catalog, Group};
use crate::registry::{ResourceDefinition, Subresource};

/// The answer of `/api`: the versions of the core group.
pub(super) fn versions(address: &str) -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    })
}

impl Catalog {
    /// The answer of `/apis`.
    pub(super) fn legacy_groups(&self) -> Value {
        let groups = self.groups.iter().filter(|group| !group.name.is_empty());
        let groups: Vec<Value> = groups.map(|group| Value::Object(describe(group))).collect();
        json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    }

    /// The answer of `/apis/<group>`.
    pub(super) fn legacy_group(&self, name: &str) -> Option<Value> {
        let mut group = describe(self.groups.iter().find(|group| group.name == name)?);
        group.insert("kind".to_owned(), json!("APIGroup"));
        group.insert("apiVersion".to_owned(), json!("v1"));
        Some(Value::Object(group))
    }

    /// The answer of `/api/v1` and `/apis/<group>/<version>`.
    pub(super) fn legacy_resources(&self, group: &str, version: &str) -> Option<Value> {
        let mut resources = Vec::new();
        for definition in self.definitions(group, version) {
            resources.push(self.resource(definition));
            resources.extend(definition.subresources.iter().map(|own| subresource(definition, own)));
        }
        if resources.is_empty() {
            return None;
        }
        let mut list = json!({
            "kind": "APIResourceList",
            "groupVersion": group_version(group, version),
            "resources": resources,
        });
        // The core group answers in the form of a release before lists had an `apiVersion`.
        if !group.is_empty() {
            list["apiVersion"] = json!("v1");
        }
        Some(list)
    }

    fn resource(&self, definition: &ResourceDefinition) -> Value {
        let mut resource = entry(&definition.plural, &definition.singular, definition, &definition.kind);
        resource.insert("verbs".to_owned(), json!(definition.verbs));
        if !definition.short_names.is_empty() {
            resource.insert("shortNames".to_owned(), json!(definition.short_names));
        }
        if !definition.categories.is_empty() {
            resource.insert("categories".to_owned(), json!(definition.categories));
        }
        // What can only be created (the reviews) or only read is not stored.
        if definition.answers("create") && definition.answers("get") {
            resource.insert("storageVersionHash".to_owned(), json!(self.storage_version_hash(definition)));
        }
        Value::Object(resource)
    }

    /// The hash that tells that two resources share their storage.
    fn storage_version_hash(&self, definition: &ResourceDefinition) -> String {
        let ResourceDefinition { group, plural, .. } = definition;
        let stored =
            self.resources().iter().find(|own| (&own.group, &own.plural) == (group, plural) && own.storage);
        let ResourceDefinition { group, version, kind, .. } = stored.unwrap_or(definition);
        let elsewhere = STORED_ELSEWHERE.iter().find(|(of, own, ..)| (*of, *own) == (group, plural));
        let (group, version) =
            elsewhere.map_or((group.as_str(), version.as_str()), |(.., group, version)| (*group, *version));
        let digest = Sha256::digest(format!("{group}/{version}/{kind}"));
        STANDARD.encode(&digest[..8])
    }
}

/// Group and plural of the built-in resources that a real server stores in a group and version that it does not
/// list them under. Only their hashes tell of it.
const STORED_ELSEWHERE: [(&str, &str, &str, &str); 6] = [
    ("apiextensions.k8s.io", "customresourcedefinitions", "apiextensions.k8s.io", "v1beta1"),
    ("certificates.k8s.io", "clustertrustbundles", "certificates.k8s.io", "v1beta1"),
    ("certificates.k8s.io", "podcertificaterequests", "certificates.k8s.io", "v1beta1"),
    ("events.k8s.io", "events", "", "v1"),
    ("resource.k8s.io", "devicetaintrules", "resource.k8s.io", "v1beta2"),
    ("storagemigration.k8s.io", "storageversionmigrations", "storagemigration.k8s.io", "v1beta1"),
];

fn describe(group: &Group) -> Map<String, Value> {
    let version =
        |version: &String| json!({"groupVersion": group_version(&group.name, version), "version": version});
    let versions: Vec<Value> = group.versions.iter().map(version).collect();
    Map::from_iter([
        ("name".to_owned(), json!(group.name)),
        ("preferredVersion".to_owned(), versions.first().cloned().unwrap_or_default()),
        ("versions".to_owned(), json!(versions)),
    ])
}

fn subresource(parent: &ResourceDefinition, subresource: &Subresource) -> Value {
    let name = format!("{}/{}", parent.plural, subresource.name);
    let mut resource = entry(&name, "", parent, &subresource.kind);
    if (&subresource.group, &subresource.version) != (&parent.group, &parent.version) {
        if !subresource.group.is_empty() {
            resource.insert("group".to_owned(), json!(subresource.group));
        }
        resource.insert("version".to_owned(), json!(subresource.version));
    }
    resource.insert("verbs".to_owned(), json!(subresource.verbs));
    Value::Object(resource)
}

fn entry(name: &str, singular: &str, parent: &ResourceDefinition, kind: &str) -> Map<String, Value> {
    Map::from_iter([
        ("name".to_owned(), json!(name)),
        ("singularName".to_owned(), json!(singular)),
        ("namespaced".to_owned(), json!(parent.namespaced)),
        ("kind".to_owned(), json!(kind)),
    ])
}

fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
