//! The model of a project, and its file `PROJECT`.
//!
//! The file is that of Kubebuilder's projects of version 3, so that tools which read those read it too. What Kubewright
//! has to know beyond that stands under `plugins`, in an entry of its own. Keys that are not known are kept.

mod file;
mod resource;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use self::resource::NamedController;
pub use self::resource::{Api, DeployImage, Resource, ResourceKey, Webhooks};
use crate::{ScaffoldError, framework::Framework, license::License, names};

/// The name of the project's file.
pub const FILE: &str = "PROJECT";

/// The layout of the projects that are written here: the key of their plugin.
pub const LAYOUT: &str = "rust.kubewright.dev/v1";

/// The key under which Kubebuilder's deploy-image plugin keeps its options. They mean the same here.
const DEPLOY_IMAGE: &str = "deploy-image.go.kubebuilder.io/v1-alpha";

/// An operator's project, as its `PROJECT` file describes it.
///
/// Two equal projects have the same files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// The version of the command that wrote the file last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cli_version: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    domain: String,
    #[serde(default)]
    layout: Layout,
    #[serde(default, skip_serializing_if = "is_false")]
    multigroup: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    namespaced: bool,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    plugins: Map<String, Value>,
    project_name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    resources: Vec<Resource>,
    version: String,
    /// What this version does not know.
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// One plugin's key, or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Layout {
    One(String),
    Several(Vec<String>),
}

/// What Kubewright keeps under `plugins`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Settings {
    framework: Framework,
    license: License,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// The notice at the top of each file, if it is none of a licence that is known here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notice: Vec<String>,
    #[serde(skip_serializing_if = "is_false")]
    makefile: bool,
    /// The kinds whose types no template made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    own_types: Vec<OwnTypes>,
}

/// What templates have to know of the types that none of them made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnTypes {
    /// The kind.
    pub(crate) kind: String,
    /// Whether the status has conditions that a controller can set.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) conditions: bool,
    /// Whether an API server takes the sample.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) sample: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl Default for Layout {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            framework: Framework::Version(env!("CARGO_PKG_VERSION").to_owned()),
            license: License::default(),
            owner: None,
            notice: Vec::new(),
            makefile: false,
            own_types: Vec::new(),
        }
    }
}

// === impl Project ===

impl Project {
    /// A project without APIs: its groups end with `domain`, and `name` is that of its package.
    ///
    /// # Errors
    ///
    /// If one of them is no such name.
    pub fn new(domain: &str, name: &str) -> Result<Self, ScaffoldError> {
        names::check_domain(domain)?;
        names::check_project(name)?;
        let mut project = Self {
            cli_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            domain: domain.to_owned(),
            layout: Layout::Several(vec![LAYOUT.to_owned()]),
            multigroup: false,
            namespaced: false,
            plugins: Map::new(),
            project_name: name.to_owned(),
            resources: Vec::new(),
            version: "3".to_owned(),
            others: Map::new(),
        };
        project.set_settings(&Settings::default());
        Ok(project)
    }

    /// The domain of its groups.
    #[must_use]
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.project_name
    }

    /// Its crate: the name with underscores.
    #[must_use]
    pub fn crate_name(&self) -> String {
        self.project_name.replace('-', "_")
    }

    /// Whether it may have several groups, each in a folder of its own.
    #[must_use]
    pub fn multigroup(&self) -> bool {
        self.multigroup
    }

    /// Whether the operator watches the namespace alone in which it runs.
    #[must_use]
    pub fn namespaced(&self) -> bool {
        self.namespaced
    }

    /// The kinds, in the order in which they came.
    #[must_use]
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// The version of the command that wrote it last.
    #[must_use]
    pub fn cli_version(&self) -> Option<&str> {
        self.cli_version.as_deref()
    }

    /// Where it takes the framework from.
    #[must_use]
    pub fn framework(&self) -> Framework {
        self.settings().framework
    }

    /// Its licence.
    #[must_use]
    pub fn license(&self) -> License {
        self.settings().license
    }

    /// Who has the copyright: what was said, or the project's authors.
    #[must_use]
    pub fn owner(&self) -> String {
        self.settings().owner.unwrap_or_else(|| format!("the authors of {}", self.project_name))
    }

    /// The lines at the top of each source file, without comment signs.
    #[must_use]
    pub fn notice(&self) -> Vec<String> {
        let own = self.settings().notice;
        if own.is_empty() { self.license().notice(&self.owner()) } else { own }
    }

    /// Whether it has a `Makefile` with Kubebuilder's targets.
    #[must_use]
    pub fn makefile(&self) -> bool {
        self.settings().makefile
    }

    /// Lets it have several groups, or one alone.
    ///
    /// # Errors
    ///
    /// If it has several and is to have one.
    pub fn set_multigroup(&mut self, multigroup: bool) -> Result<(), ScaffoldError> {
        let mut groups: Vec<&str> = self.resources.iter().map(Resource::group).collect();
        groups.sort_unstable();
        groups.dedup();
        if !multigroup && groups.len() > 1 {
            return Err(ScaffoldError::Refused(format!(
                "the project has several groups ({}), which need --multigroup",
                groups.join(", ")
            )));
        }
        self.multigroup = multigroup;
        Ok(())
    }

    /// Lets the operator watch its own namespace alone, or all.
    pub fn set_namespaced(&mut self, namespaced: bool) {
        self.namespaced = namespaced;
    }

    /// Sets where it takes the framework from.
    pub fn set_framework(&mut self, framework: Framework) {
        self.update_settings(|settings| settings.framework = framework);
    }

    /// Sets its licence, which brings a notice with it.
    pub fn set_license(&mut self, license: License) {
        self.update_settings(|settings| {
            settings.license = license;
            settings.notice = Vec::new();
        });
    }

    /// Lets each source file begin with these lines, in place of the notice of a licence that is known here.
    pub fn set_notice(&mut self, notice: Vec<String>) {
        self.update_settings(|settings| {
            settings.license = License::None;
            settings.notice = notice;
        });
    }

    /// Sets who has the copyright.
    pub fn set_owner(&mut self, owner: impl Into<String>) {
        let owner = owner.into();
        self.update_settings(|settings| settings.owner = (!owner.is_empty()).then_some(owner));
    }

    /// Gives it a `Makefile`, or none.
    pub fn set_makefile(&mut self, makefile: bool) {
        self.update_settings(|settings| settings.makefile = makefile);
    }

    /// Notes that this version of the command wrote it last.
    pub fn set_current_version(&mut self) {
        self.cli_version = Some(env!("CARGO_PKG_VERSION").to_owned());
    }

    /// The kind with this key.
    #[must_use]
    pub fn resource(&self, key: &ResourceKey) -> Option<&Resource> {
        self.resources.iter().find(|resource| resource.key() == *key)
    }

    /// Puts a kind to the others, or in the place of the one with its key.
    pub(crate) fn put(&mut self, resource: Resource) {
        match self.resources.iter_mut().find(|present| present.key() == resource.key()) {
            Some(present) => *present = resource,
            None => self.resources.push(resource),
        }
    }

    /// Takes a kind away, and what plugins keep of it.
    pub(crate) fn take(&mut self, key: &ResourceKey) -> Option<Resource> {
        let at = self.resources.iter().position(|resource| resource.key() == *key)?;
        self.set_deploy_image(key, None);
        self.set_own_types(key, None);
        Some(self.resources.remove(at))
    }

    /// The image that the objects of a kind run, if it was scaffolded for one.
    #[must_use]
    pub fn deploy_image(&self, key: &ResourceKey) -> Option<DeployImage> {
        let entry = self.deploy_image_entries().into_iter().find(|entry| key.is_of(entry))?;
        serde_json::from_value(entry.get("options")?.clone()).ok()
    }

    pub(crate) fn set_deploy_image(&mut self, key: &ResourceKey, image: Option<&DeployImage>) {
        let mut entries = self.deploy_image_entries();
        entries.retain(|entry| !key.is_of(entry));
        if let Some(image) = image {
            let mut entry = key.entry();
            entry.insert("options".to_owned(), serde_json::to_value(image).unwrap_or_default());
            entries.push(Value::Object(entry));
        }
        if entries.is_empty() {
            self.plugins.remove(DEPLOY_IMAGE);
        } else {
            self.plugins.insert(DEPLOY_IMAGE.to_owned(), serde_json::json!({ "resources": entries }));
        }
    }

    /// Whether the type of a kind was made from a definition, or written by hand: no template knows it.
    #[must_use]
    pub fn has_own_types(&self, key: &ResourceKey) -> bool {
        self.own_types(key).is_some()
    }

    pub(crate) fn own_types(&self, key: &ResourceKey) -> Option<OwnTypes> {
        let key = key.to_string();
        self.settings().own_types.into_iter().find(|own| own.kind == key)
    }

    pub(crate) fn set_own_types(&mut self, key: &ResourceKey, own: Option<OwnTypes>) {
        let key = key.to_string();
        self.update_settings(|settings| {
            settings.own_types.retain(|known| known.kind != key);
            settings.own_types.extend(own.map(|own| OwnTypes { kind: key, ..own }));
        });
    }

    fn deploy_image_entries(&self) -> Vec<Value> {
        let entries = self.plugins.get(DEPLOY_IMAGE).and_then(|plugin| plugin.get("resources"));
        entries.and_then(Value::as_array).cloned().unwrap_or_default()
    }

    fn settings(&self) -> Settings {
        self.plugins
            .get(LAYOUT)
            .and_then(|value| serde_json::from_value(value.clone()).ok())
            .unwrap_or_default()
    }

    fn set_settings(&mut self, settings: &Settings) {
        self.plugins.insert(LAYOUT.to_owned(), serde_json::to_value(settings).unwrap_or_default());
    }

    fn update_settings(&mut self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.settings();
        change(&mut settings);
        self.set_settings(&settings);
    }
}
