use std::{collections::BTreeMap, sync::LazyLock};

use serde::{Deserialize, Serialize};

use crate::status::{GroupKind, GroupResource};

/// A resource that the server serves at one version, as discovery describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceDefinition {
    /// The API group, empty for the core group.
    pub group: String,
    /// The version, e.g. `v1`.
    pub version: String,
    /// The kind of one object.
    pub kind: String,
    /// The kind of a list of objects.
    pub list_kind: String,
    /// The name in paths.
    pub plural: String,
    /// The name of one object on the command line.
    pub singular: String,
    /// Abbreviations for the command line.
    pub short_names: Vec<String>,
    /// Groups of resources for the command line, e.g. `all`.
    pub categories: Vec<String>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// The verbs that the resource itself answers, sorted.
    pub verbs: Vec<String>,
    /// Whether objects are stored in this version.
    pub storage: bool,
    /// What can be reached below an object.
    pub subresources: Vec<Subresource>,
    /// Whether `metadata.generation` is kept: 1 on create, one more with every change of the desired state.
    pub generation: bool,
    /// Whether an update without a `resourceVersion` overwrites what is there.
    pub unconditional_update: bool,
    /// Whether an update of a missing object creates it.
    pub create_on_update: bool,
}

/// An endpoint below an object, e.g. `status` or `scale`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Subresource {
    /// The name in paths.
    pub name: String,
    /// The group of the kind it answers.
    pub group: String,
    /// The version of the kind it answers.
    pub version: String,
    /// The kind it answers.
    pub kind: String,
    /// The verbs it answers, sorted.
    pub verbs: Vec<String>,
}

/// The resources that a server serves at one moment, ordered by group, version and plural.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    table: BTreeMap<ResourceId, ResourceDefinition>,
}

/// What a path says about a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ResourceId {
    group: String,
    version: String,
    plural: String,
}

// === impl ResourceDefinition ===

impl ResourceDefinition {
    /// `group/version`, or `version` for the core group: the `apiVersion` of its objects.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// What to say to who uses the resource, if it should not be used any more.
    pub(crate) fn deprecation(&self) -> Option<&'static str> {
        match (self.group.as_str(), self.plural.as_str()) {
            ("", "componentstatuses") => Some("v1 ComponentStatus is deprecated in v1.19+"),
            ("", "endpoints") => {
                Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")
            }
            _ => None,
        }
    }

    /// The resource as error messages name it.
    #[must_use]
    pub fn group_resource(&self) -> GroupResource {
        GroupResource::new(self.group.as_str(), self.plural.as_str())
    }

    /// The kind as error messages name it.
    #[must_use]
    pub fn group_kind(&self) -> GroupKind {
        GroupKind::new(self.group.as_str(), self.kind.as_str())
    }

    /// The subresource of this name, if there is one.
    #[must_use]
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }

    /// Whether the resource itself answers `verb`.
    #[must_use]
    pub fn answers(&self, verb: &str) -> bool {
        self.verbs.iter().any(|own| own == verb)
    }
}

// === impl Subresource ===

impl Subresource {
    /// Whether the subresource answers `verb`.
    #[must_use]
    pub fn answers(&self, verb: &str) -> bool {
        self.verbs.iter().any(|own| own == verb)
    }
}

// === impl Resources ===

impl Resources {
    /// The resources that a server has before any CRD: those of Kubernetes 1.37.
    #[must_use]
    pub fn built_in() -> &'static Self {
        static BUILT_IN: LazyLock<Resources> = LazyLock::new(|| {
            let definitions: Vec<ResourceDefinition> =
                serde_json::from_str(include_str!("../../data/resources.json"))
                    .expect("the table of built-in resources is part of the crate");
            definitions.into_iter().collect()
        });
        &BUILT_IN
    }

    /// Adds a definition; one with the same group, version and plural is replaced.
    pub fn insert(&mut self, definition: ResourceDefinition) {
        let id = ResourceId {
            group: definition.group.clone(),
            version: definition.version.clone(),
            plural: definition.plural.clone(),
        };
        self.table.insert(id, definition);
    }

    /// The definition that a path names.
    #[must_use]
    pub fn get(&self, group: &str, version: &str, plural: &str) -> Option<&ResourceDefinition> {
        let id =
            ResourceId { group: group.to_owned(), version: version.to_owned(), plural: plural.to_owned() };
        self.table.get(&id)
    }

    /// The definition of a kind, e.g. to find the path of a manifest's object.
    #[must_use]
    pub fn by_kind(&self, group: &str, version: &str, kind: &str) -> Option<&ResourceDefinition> {
        self.iter().find(|own| own.group == group && own.version == version && own.kind == kind)
    }

    /// Every definition, ordered by group, version and plural.
    pub fn iter(&self) -> impl Iterator<Item = &ResourceDefinition> {
        self.table.values()
    }
}

impl Extend<ResourceDefinition> for Resources {
    fn extend<T: IntoIterator<Item = ResourceDefinition>>(&mut self, definitions: T) {
        for definition in definitions {
            self.insert(definition);
        }
    }
}

impl FromIterator<ResourceDefinition> for Resources {
    fn from_iter<T: IntoIterator<Item = ResourceDefinition>>(definitions: T) -> Self {
        let mut resources = Self::default();
        resources.extend(definitions);
        resources
    }
}
