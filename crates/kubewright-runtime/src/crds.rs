//! The CustomResourceDefinitions of an operator, as the operator itself knows them.
//!
//! A controller registers the definition of the kind that it is for, so there is no list to keep: `my-operator
//! crd` prints what the controllers of `my-operator` work on, without a cluster. The generator and the tests
//! take the definitions from there. How they are made, of types and markers, is told in
//! [`kubewright_manifests::crd`].

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
pub use kubewright_manifests::crd::{Built, ConversionWebhook, CrdBuilder, CrdOptions, Generated, crd};
use kubewright_manifests::{
    crd::DerivedKind,
    diagnostic::{Diagnostic, Place, Severity},
};

use crate::{Error, Result, client::Kind};

/// A Rust type for a kind that the operator itself defines: what `#[derive(CustomResource)]` makes.
///
/// It is implemented for every type that fits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a custom resource of this operator",
    note = "for a controller of a built-in kind, or of one that another operator defines, write \
            `Controller::for_kind::<{Self}>(..)`",
    note = "for a custom resource, name the kind (`Memcached`), not its spec (`MemcachedSpec`)",
    note = "the types of its spec and status derive `JsonSchema`; with `#[kube(schema = \"disabled\")]` the kind itself \
            needs `derive = \"JsonSchema\"` there"
)]
pub trait CustomKind: Kind + DerivedKind {}

impl<K: Kind + DerivedKind> CustomKind for K {}

/// The definitions that were registered with a manager. Clones share them.
#[derive(Clone, Default)]
pub struct Crds {
    registered: Arc<Mutex<Registered>>,
}

#[derive(Default)]
struct Registered {
    /// By group and kind. They are made when they are asked for: a schema takes a moment, and an operator that runs needs
    /// none.
    kinds: BTreeMap<(String, String), CrdBuilder>,
    options: CrdOptions,
    /// The kinds that the operator's own webhook converts.
    converted: BTreeSet<(String, String)>,
    /// Where it does.
    converter: Option<ConversionWebhook>,
}

// === impl Crds ===

impl Crds {
    /// Adds a definition. If there is one of this kind, its versions are added to that.
    pub fn register(&self, definition: CrdBuilder) {
        let (group, kind) = definition.group_kind();
        let key = (group.to_owned(), kind.to_owned());
        let mut registered = self.lock();
        match registered.kinds.get_mut(&key) {
            Some(present) => present.extend(definition),
            None => {
                registered.kinds.insert(key, definition);
            }
        }
    }

    /// Changes how all definitions are made, wherever they are used: printed, generated or installed by a test.
    ///
    /// ```
    /// use kubewright_runtime::crds::{ConversionWebhook, Crds};
    ///
    /// let crds = Crds::default();
    /// crds.configure(|options| {
    ///     options.schema.max_description_length = Some(200);
    ///     options.conversion = Some(ConversionWebhook::service("memcached-system", "webhook"));
    /// });
    /// assert_eq!(crds.options().schema.max_description_length, Some(200));
    /// ```
    pub fn configure(&self, change: impl FnOnce(&mut CrdOptions)) {
        change(&mut self.lock().options);
    }

    /// How the definitions are made.
    #[must_use]
    pub fn options(&self) -> CrdOptions {
        self.lock().options.clone()
    }

    /// Makes the definitions, in the order of their names, and tells what is wrong with them.
    #[must_use]
    pub fn generate(&self) -> Generated {
        self.generate_with(&self.options())
    }

    /// [`generate`](Self::generate) with other options.
    #[must_use]
    pub fn generate_with(&self, options: &CrdOptions) -> Generated {
        // Not under the lock: the code that makes a schema is the user's.
        let (kinds, converted, converter) = {
            let registered = self.lock();
            (registered.kinds.clone(), registered.converted.clone(), registered.converter.clone())
        };
        let built = kinds.into_iter().map(|(key, kind)| {
            let mut options = options.clone();
            if converter.is_some() && converted.contains(&key) {
                options.conversion.clone_from(&converter);
            }
            kind.options(options).build()
        });
        built.collect()
    }

    /// Lets the definitions of the kinds that this operator converts name its webhook, which is not done otherwise: where it
    /// is depends on how the operator is run. A deployed one has a patch for that in its kustomization; this is for tests
    /// and for `kubewright dev`.
    pub fn convert_at(&self, webhook: ConversionWebhook) {
        self.lock().converter = Some(webhook);
    }

    /// The operator converts the objects of this kind.
    pub(crate) fn converts(&self, group: &str, kind: &str) {
        self.lock().converted.insert((group.to_owned(), kind.to_owned()));
    }

    /// The definitions, in the order of their names.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    pub fn definitions(&self) -> Result<Vec<CustomResourceDefinition>> {
        let generated = self.generate();
        let errors: Vec<_> = generated
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == Severity::Error)
            .map(shown)
            .collect();
        if errors.is_empty() { Ok(generated.definitions()?) } else { Err(Error::setup(errors.join("\n"))) }
    }

    /// The versions of a kind that were registered.
    pub(crate) fn versions(&self, group: &str, kind: &str) -> BTreeSet<String> {
        let registered = self.lock();
        let definition = registered.kinds.get(&(group.to_owned(), kind.to_owned()));
        definition.into_iter().flat_map(CrdBuilder::versions).map(str::to_owned).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Registered> {
        self.registered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A diagnostic as it is shown where the source is not at hand.
pub(crate) fn shown(diagnostic: &Diagnostic) -> String {
    let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
    let mut text = format!("{severity}[{}]: {}", diagnostic.code, diagnostic.message);
    let place = match &diagnostic.place {
        Place::Doc { type_name, field, marker, .. } => {
            let field = field.as_ref().map_or_else(String::new, |field| format!(".{field}"));
            let marker = if marker.is_empty() { String::new() } else { format!(": {marker}") };
            format!("{type_name}{field}{marker}")
        }
        Place::File { file, .. } => file.display().to_string(),
        Place::Document { document, path } => format!("{document}: {path}"),
        _ => String::new(),
    };
    if !place.is_empty() {
        text.push_str("\n  at ");
        text.push_str(&place);
    }
    for help in &diagnostic.help {
        text.push_str("\n  help: ");
        text.push_str(help);
    }
    text
}

impl fmt::Debug for Crds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registered = self.lock();
        f.debug_struct("Crds")
            .field("kinds", &registered.kinds.values())
            .field("options", &registered.options)
            .finish()
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

    /// +kubebuilder:resource:shortName=mc
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced)]
    struct MemcachedSpec {
        /// The number of instances.
        ///
        /// +kubebuilder:validation:Minimum=1
        size: i32,
    }

    #[test]
    fn versions_of_a_kind_share_a_definition() {
        let crds = Crds::default();
        crds.register(CrdBuilder::of::<v1alpha1::Memcached>());
        crds.register(CrdBuilder::of::<Memcached>());
        crds.register(CrdBuilder::of::<Memcached>());
        let definitions = crds.definitions().expect("they are right");
        assert_eq!(definitions.len(), 1);
        let versions: Vec<_> = definitions[0]
            .spec
            .versions
            .iter()
            .map(|version| (version.name.as_str(), version.storage))
            .collect();
        assert_eq!(versions, [("v1", true), ("v1alpha1", false)]);
    }

    #[test]
    fn markers_and_options_have_their_effect() {
        let crds = Crds::default();
        crds.register(CrdBuilder::of::<Memcached>());
        crds.configure(|options| options.schema.max_description_length = Some(0));
        let generated = crds.generate();
        let document = &generated.documents[0];
        assert_eq!(document["spec"]["names"]["shortNames"], serde_json::json!(["mc"]));
        let schema = &document["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let size = &schema["properties"]["spec"]["properties"]["size"];
        assert_eq!(*size, serde_json::json!({"type": "integer", "format": "int32", "minimum": 1}));
    }
}
