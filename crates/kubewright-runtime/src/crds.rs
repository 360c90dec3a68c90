//! The CustomResourceDefinitions of an operator, as the operator itself knows them.
//!
//! A controller registers the definition of the kind that it is for, so there is no list to keep: `my-operator
//! crd` prints what the controllers of `my-operator` work on, without a cluster. The generator and the tests
//! take the definitions from there.

use std::{
    collections::BTreeMap,
    fmt,
    io::Write,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

use crate::{Error, Result, client::Kind};

/// A Rust type for a kind that the operator itself defines: what `#[derive(CustomResource)]` makes.
///
/// It is implemented for every type that fits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a custom resource of this operator",
    note = "for a controller of a built-in kind, or of one that another operator defines, write \
            `Controller::for_kind::<{Self}>(..)`",
    note = "for a custom resource, name the kind (`Memcached`), not its spec (`MemcachedSpec`)"
)]
pub trait CustomKind: Kind + CustomResourceExt {}

impl<K: Kind + CustomResourceExt> CustomKind for K {}

/// Makes a definition, as `K::crd` of a derived type does.
pub type DefinitionFn = fn() -> CustomResourceDefinition;

/// The definitions that were registered with a manager. Clones share them.
#[derive(Clone, Default)]
pub struct Crds {
    /// Made when they are asked for: a schema takes a moment, and an operator that runs needs none.
    definitions: Arc<Mutex<Vec<DefinitionFn>>>,
}

// === impl Crds ===

impl Crds {
    /// Adds the definition that this function makes, usually `K::crd`.
    pub fn register(&self, definition: DefinitionFn) {
        self.lock().push(definition);
    }

    /// The definitions, in the order of their names. The versions of one kind, each of its own Rust type, are one
    /// definition.
    #[must_use]
    pub fn definitions(&self) -> Vec<CustomResourceDefinition> {
        let registered = self.lock().clone();
        let mut definitions = BTreeMap::<String, CustomResourceDefinition>::new();
        for mut definition in registered.into_iter().map(|definition| definition()) {
            let name = definition.metadata.name.clone().unwrap_or_default();
            let Some(present) = definitions.get_mut(&name) else {
                definitions.insert(name, definition);
                continue;
            };
            let versions = &mut present.spec.versions;
            definition.spec.versions.retain(|new| versions.iter().all(|version| version.name != new.name));
            versions.append(&mut definition.spec.versions);
            versions.sort_by(|one, other| one.name.cmp(&other.name));
        }
        definitions.into_values().collect()
    }

    /// The definitions as YAML documents, each after a `---`, as controller-gen writes them.
    ///
    /// # Errors
    ///
    /// If a definition does not serialize.
    pub fn to_yaml(&self) -> Result<String> {
        let mut yaml = String::new();
        for definition in self.definitions() {
            yaml.push_str("---\n");
            serde_saphyr::to_fmt_writer(&mut yaml, &definition).map_err(Error::other)?;
            if !yaml.ends_with('\n') {
                yaml.push('\n');
            }
        }
        Ok(yaml)
    }

    /// Writes [`to_yaml`](Self::to_yaml) to the standard output.
    pub(crate) fn print(&self) -> Result<()> {
        let yaml = self.to_yaml()?;
        let mut output = std::io::stdout().lock();
        output.write_all(yaml.as_bytes())?;
        output.flush()?;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<DefinitionFn>> {
        self.definitions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Crds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crds").field("registered", &self.lock().len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;

    mod v1alpha1 {
        use super::*;

        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(
            group = "cache.example.com",
            version = "v1alpha1",
            kind = "Memcached",
            namespaced,
            storage = false
        )]
        pub(super) struct MemcachedSpec {
            /// The number of instances.
            pub(super) size: i32,
        }
    }

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced)]
    struct MemcachedSpec {
        size: i32,
    }

    #[test]
    fn a_definition_is_a_yaml_document_in_the_usual_order() {
        let crds = Crds::default();
        crds.register(v1alpha1::Memcached::crd);
        let yaml = crds.to_yaml().expect("yaml");
        assert!(
            yaml.starts_with(
                "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: \
                 memcacheds.cache.example.com\nspec:\n  group: cache.example.com\n"
            ),
            "{yaml}"
        );
        let read: CustomResourceDefinition =
            serde_saphyr::from_str(yaml.trim_start_matches("---\n")).expect("valid yaml");
        assert_eq!(vec![read], crds.definitions());
    }

    #[test]
    fn versions_of_a_kind_share_a_definition() {
        let crds = Crds::default();
        crds.register(v1alpha1::Memcached::crd);
        crds.register(Memcached::crd);
        crds.register(Memcached::crd);
        let definitions = crds.definitions();
        assert_eq!(definitions.len(), 1);
        let versions: Vec<_> = definitions[0]
            .spec
            .versions
            .iter()
            .map(|version| (version.name.as_str(), version.storage))
            .collect();
        assert_eq!(versions, [("v1", true), ("v1alpha1", false)]);
    }
}
