//! One kind of a project.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::is_false;
use crate::names;

/// A kind that the project defines, or that it has a controller or webhooks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) api: Option<Api>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) controller: bool,
    /// Controllers that have names of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) controllers: Vec<NamedController>,
    /// Whether it is a kind of Kubernetes itself.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) core: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) domain: String,
    /// Whether its type is in another crate.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) external: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) group: String,
    pub(crate) kind: String,
    /// The crate with its type and the version of it, as `name@version`, if it is external.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) module: Option<String>,
    /// The module in which its type is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// Only where it is not the one that follows from the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) plural: Option<String>,
    pub(crate) version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) webhooks: Option<Webhooks>,
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}

/// A controller with a name of its own, beside others of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamedController {
    pub(crate) name: String,
}

/// How a kind that the project defines is served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Api {
    /// The API version of its definition: `v1`.
    pub crd_version: String,
    /// Whether its objects are in namespaces.
    #[serde(default, skip_serializing_if = "is_false")]
    pub namespaced: bool,
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}

/// The webhooks of a kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Webhooks {
    /// Converts between its versions; this one is the hub.
    #[serde(default, skip_serializing_if = "is_false")]
    pub conversion: bool,
    /// Fills in what the user left out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub defaulting: bool,
    /// Where it does, if that is not the usual path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaulting_path: Option<String>,
    /// The versions that are converted to and from this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spoke: Vec<String>,
    /// Refuses what must not be.
    #[serde(default, skip_serializing_if = "is_false")]
    pub validation: bool,
    /// Where it does, if that is not the usual path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_path: Option<String>,
    /// The API version of the configurations: `v1`.
    pub webhook_version: String,
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}

/// The image that the objects of a kind run. The values are texts, as Kubebuilder has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeployImage {
    /// The image.
    pub image: String,
    /// The words of its command, separated by commas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_command: Option<String>,
    /// The port on which it listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_port: Option<String>,
    /// The user as which it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_as_user: Option<String>,
}

/// What tells one kind of a project from the others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResourceKey {
    /// The group, without the domain.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    pub(crate) domain: String,
}

// === impl Resource ===

impl Resource {
    /// What tells it from the others.
    #[must_use]
    pub fn key(&self) -> ResourceKey {
        ResourceKey {
            group: self.group.clone(),
            version: self.version.clone(),
            kind: self.kind.clone(),
            domain: self.domain.clone(),
        }
    }

    /// The group, without the domain.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The plural.
    #[must_use]
    pub fn plural(&self) -> String {
        self.plural.clone().unwrap_or_else(|| names::plural(&self.kind))
    }

    /// The group as API servers know it: with the domain.
    #[must_use]
    pub fn full_group(&self) -> String {
        match (self.group.is_empty(), self.domain.is_empty()) {
            (true, _) => self.domain.clone(),
            (false, true) => self.group.clone(),
            (false, false) => format!("{}.{}", self.group, self.domain),
        }
    }

    /// How it is served, if the project defines it.
    #[must_use]
    pub fn api(&self) -> Option<&Api> {
        self.api.as_ref()
    }

    /// Whether it has a controller.
    #[must_use]
    pub fn has_controller(&self) -> bool {
        self.controller || !self.controllers.is_empty()
    }

    /// Whether it is a kind of Kubernetes itself.
    #[must_use]
    pub fn is_core(&self) -> bool {
        self.core
    }

    /// Its webhooks.
    #[must_use]
    pub fn webhooks(&self) -> Option<&Webhooks> {
        self.webhooks.as_ref()
    }
}

// === impl Webhooks ===

impl Webhooks {
    /// Whether there are any.
    pub(crate) fn is_some(&self) -> bool {
        self.conversion || self.defaulting || self.validation
    }
}

// === impl ResourceKey ===

impl ResourceKey {
    /// The members that say in an entry of a plugin whose it is.
    pub(super) fn entry(&self) -> Map<String, Value> {
        let members = [
            ("domain", &self.domain),
            ("group", &self.group),
            ("kind", &self.kind),
            ("version", &self.version),
        ];
        let members = members.into_iter().filter(|(_, value)| !value.is_empty());
        members.map(|(name, value)| (name.to_owned(), Value::from(value.as_str()))).collect()
    }

    pub(super) fn is_of(&self, entry: &Value) -> bool {
        let member = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        [member("domain"), member("group"), member("kind"), member("version")]
            == [&self.domain, &self.group, &self.kind, &self.version].map(String::as_str)
    }
}

impl std::fmt::Display for ResourceKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}/{})", self.kind, self.group, self.version)
    }
}
