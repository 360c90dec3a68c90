//! A kind that is defined already, taken over with its types.

use kubewright_yaml as yaml;
use serde_json::Map;

use crate::{
    Project, ScaffoldError, names,
    project::{Api, OwnTypes, Resource, ResourceKey},
    render::{notice, own_files},
    tree::Files,
    types::{Definition, Types},
};

/// How a kind is taken over.
#[derive(Clone, Debug)]
#[must_use]
pub struct TakeOver {
    version: Option<String>,
    controller: bool,
    force: bool,
}

/// A kind that was taken over.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TakenOver {
    /// Its versions.
    pub keys: Vec<ResourceKey>,
    /// The files that no template makes, for [`Change::file`](crate::Change::file).
    pub files: Files,
    /// In what the definition that is generated from the types will differ from the one that was taken over.
    pub differences: Vec<String>,
    /// Samples that an API server would refuse, and why.
    pub problems: Vec<String>,
}

// === impl TakeOver ===

impl TakeOver {
    /// All versions, with a controller for the one that is stored.
    pub fn new() -> Self {
        Self { version: None, controller: true, force: false }
    }

    /// This version alone, which is then the stored one.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Whether it gets a controller. Default: it does.
    pub fn controller(mut self, controller: bool) -> Self {
        self.controller = controller;
        self
    }

    /// Whether one that is there already is written anew. Default: it is an error.
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }
}

impl Default for TakeOver {
    fn default() -> Self {
        Self::new()
    }
}

// === impl Project ===

impl Project {
    /// Adds a kind that is defined already. Its types are made from the definition.
    ///
    /// # Errors
    ///
    /// If a name of it cannot be used here, or it is there already: the text says what to do.
    pub fn take_over(&mut self, definition: &Definition, how: &TakeOver) -> Result<TakenOver, ScaffoldError> {
        let mut definition = definition.clone();
        if let Some(version) = &how.version {
            let all: Vec<String> = definition.versions.iter().map(|version| version.name.clone()).collect();
            definition.versions.retain(|known| known.name == *version);
            let [only] = definition.versions.as_mut_slice() else {
                return Err(ScaffoldError::Refused(format!(
                    "the definition `{}` has no version `{version}`; it has {}",
                    definition.name,
                    all.join(", ")
                )));
            };
            only.storage = true;
        }
        names::check_kind(&definition.kind)?;
        let stored = definition.stored().name.clone();
        let mut taken = TakenOver {
            keys: Vec::new(),
            files: Files::new(),
            differences: Vec::new(),
            problems: Vec::new(),
        };
        let mut written = Vec::new();
        for version in &definition.versions {
            names::check_version(&version.name)?;
            let resource =
                self.resource_of(&definition, &version.name, how.controller && version.name == stored);
            self.check_fits(&resource, how.force)?;
            let key = resource.key();
            self.put(resource);
            self.set_deploy_image(&key, None);
            let types = Types::of(&definition, version);
            let own = OwnTypes {
                conditions: types.has_conditions,
                sample: types.problems.is_empty(),
                ..OwnTypes::default()
            };
            self.set_own_types(&key, Some(own));
            for difference in &types.differences {
                if !taken.differences.contains(difference) {
                    taken.differences.push(difference.clone());
                }
            }
            written.push((key, types));
        }
        let notice = notice(self);
        for (key, [source, sample]) in own_files(self) {
            let Some((_, types)) = written.iter().find(|(written, _)| *written == key) else { continue };
            let note = if types.problems.is_empty() {
                String::new()
            } else {
                let problems: String = types
                    .problems
                    .iter()
                    .map(|problem| format!("#   {}\n", problem.replace('\n', " ")))
                    .collect();
                format!("# Fill in what the kind needs. An API server would say of this object:\n{problems}")
            };
            if !types.problems.is_empty() {
                taken.problems.push(format!("{}: {}", sample.display(), types.problems.join("; ")));
            }
            taken.files.insert(source, format!("{notice}{}", types.text));
            taken.files.insert(sample, format!("{note}{}", yaml::to_string(&types.sample)));
            taken.keys.push(key);
        }
        Ok(taken)
    }

    fn resource_of(&self, definition: &Definition, version: &str, controller: bool) -> Resource {
        // A group of the project's domain is named without it, as those of other kinds are.
        let below = definition.group.strip_suffix(self.domain()).and_then(|group| group.strip_suffix('.'));
        let (group, domain) = match below {
            Some(group) if !group.is_empty() => (group.to_owned(), self.domain().to_owned()),
            _ => (definition.group.clone(), String::new()),
        };
        let path = self.api_module(&group, version).join("::");
        Resource {
            api: Some(Api {
                crd_version: "v1".to_owned(),
                namespaced: definition.namespaced,
                others: Map::new(),
            }),
            controller,
            controllers: Vec::new(),
            core: false,
            domain,
            external: false,
            kind: definition.kind.clone(),
            module: None,
            path: Some(format!("{}::{path}", self.crate_name())),
            plural: Some(definition.plural.clone())
                .filter(|plural| *plural != names::plural(&definition.kind)),
            version: version.to_owned(),
            webhooks: None,
            others: Map::new(),
            group,
        }
    }
}
