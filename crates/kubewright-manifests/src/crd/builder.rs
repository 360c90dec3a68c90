use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::{
    CrdOptions,
    conversion::{ConversionWebhook, INJECT_CA_FROM},
    names::Names,
    source::{DerivedKind, Source},
    statement::{Statement, agreed},
    storage,
    version::Version,
};
use crate::{
    Style,
    diagnostic::{Diagnostic, Place, Severity},
    naming,
    schema::Origin,
};

/// Makes the CRD of one kind from the Rust types of its versions.
///
/// ```
/// use kube::CustomResource;
/// use kubewright_manifests::crd::CrdBuilder;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// +kubebuilder:resource:shortName=mc
/// /// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
/// #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
/// #[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced)]
/// struct MemcachedSpec {
///     /// The number of instances.
///     ///
///     /// +kubebuilder:validation:Minimum=1
///     size: i32,
/// }
///
/// let built = CrdBuilder::of::<Memcached>().build();
/// assert!(built.diagnostics.is_empty(), "{:?}", built.diagnostics);
/// assert_eq!(built.document["metadata"]["name"], "memcacheds.cache.example.com");
/// assert_eq!(built.document["spec"]["names"]["shortNames"][0], "mc");
/// ```
///
/// # What comes from where
///
/// Markers about a kind (`+kubebuilder:resource`, `+kubebuilder:printcolumn`, ..) stand on its spec, with the spec's
/// own, or on the root type if that is written by hand. The attributes of `#[kube(..)]` mean the same, and both may be
/// mixed. Names, scope, annotations and labels belong to the kind: whoever says something about them, in a marker
/// or in an attribute of any version, has to say the same as the others, and versions that say nothing follow. Columns and
/// selectable fields of the attributes come after those of the markers.
///
/// The plural name is binding in the attributes, because the clients of the type ask for it; kube's derive has a rule of its
/// own, by which `Index` becomes `indexes`. For a root type written by hand it is that of controller-gen (`indices`)
/// unless the marker has a `path`. [`Style::ControllerGen`] warns where the two differ.
///
/// The versions stand in the order in which Kubernetes prefers them, the most stable first; in controller-gen's style in
/// that of their names. A status field means the status subresource; for controller-gen only the marker does.
#[derive(Clone)]
#[must_use]
pub struct CrdBuilder {
    group: String,
    kind: String,
    sources: Vec<Source>,
    options: CrdOptions,
}

/// A CRD that was made, and what is to be said about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Built {
    /// The document. If there are errors, it is what could be made.
    pub document: Value,
    /// The same as a type.
    pub definition: CustomResourceDefinition,
    /// Where the parts of the document come from. Paths begin at the root of the document.
    pub origins: Vec<Origin>,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// The types that speak for the versions of the kind, as their schemas name them.
    pub(super) kind_types: BTreeSet<String>,
}

// === impl CrdBuilder ===

impl CrdBuilder {
    /// The CRD of a kind that kube's derive made, with `K` as its first version.
    pub fn of<K: DerivedKind>() -> Self {
        Self {
            group: K::group(&()).into_owned(),
            kind: K::kind(&()).into_owned(),
            sources: Vec::new(),
            options: CrdOptions::default(),
        }
        .version::<K>()
    }

    /// The CRD of a kind whose root type is written by hand, with `T` as its first version: for kinds with fields beside
    /// `spec` and `status`. The schemas of `apiVersion`, `kind` and `metadata` are always the same, whether `T` has fields
    /// for them or not.
    ///
    /// ```
    /// use kubewright_manifests::crd::CrdBuilder;
    ///
    /// /// PriorityClass is the Schema for the priority class API.
    /// ///
    /// /// +kubebuilder:resource:scope=Cluster
    /// #[derive(schemars::JsonSchema)]
    /// struct PriorityClass {
    ///     /// The higher, the sooner.
    ///     value: i32,
    /// }
    ///
    /// let built = CrdBuilder::of_root::<PriorityClass>("example.com", "v1", "PriorityClass").build();
    /// assert_eq!(built.document["metadata"]["name"], "priorityclasses.example.com");
    /// assert_eq!(built.document["spec"]["scope"], "Cluster");
    /// ```
    pub fn of_root<T: JsonSchema + 'static>(
        group: impl Into<String>,
        version: impl Into<String>,
        kind: impl Into<String>,
    ) -> Self {
        Self { group: group.into(), kind: kind.into(), sources: Vec::new(), options: CrdOptions::default() }
            .root_version::<T>(version)
    }

    /// Adds another version. A type that is already there is not added again.
    pub fn version<K: DerivedKind>(mut self) -> Self {
        self.add(Source::derived::<K>());
        self
    }

    /// Adds another version, whose root type is written by hand.
    pub fn root_version<T: JsonSchema + 'static>(mut self, version: impl Into<String>) -> Self {
        let source = Source::root::<T>(&self.group, version.into(), &self.kind);
        self.add(source);
        self
    }

    /// Sets how the document is made.
    pub fn options(mut self, options: CrdOptions) -> Self {
        self.options = options;
        self
    }

    /// Adds the versions of another builder. Its options are not taken over.
    pub fn extend(&mut self, other: Self) {
        for source in other.sources {
            self.add(source);
        }
    }

    /// The group and the kind.
    #[must_use]
    pub fn group_kind(&self) -> (&str, &str) {
        (&self.group, &self.kind)
    }

    /// The versions, in the order in which they were added.
    pub fn versions(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|source| source.version.as_str())
    }

    /// Makes the document.
    #[must_use]
    pub fn build(&self) -> Built {
        let mut diagnostics = Vec::new();
        let mut conversion = Vec::new();
        let mut compiled = Vec::new();
        for source in &self.sources {
            let (version, origins) = source.read(&self.options, &mut conversion, &mut diagnostics);
            compiled.push((version, origins));
        }
        self.check_versions(&compiled, &mut diagnostics);
        compiled.retain(|(version, _)| !version.skipped);
        let style = self.options.schema.style;
        match style {
            Style::Kubewright => {
                compiled.sort_by_cached_key(|(version, _)| {
                    Reverse(kube_core::Version::parse(&version.name).priority())
                });
            }
            Style::ControllerGen => compiled.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name)),
        }
        if conversion.is_empty() && compiled.len() > 1 {
            conversion.extend(self.usual_conversion());
        }
        let kind_types = compiled.iter().map(|(version, _)| version.type_name.clone()).collect();
        let (versions, origins): (Vec<_>, Vec<_>) = compiled.into_iter().unzip();
        let document = self.document(&versions, &conversion, &mut diagnostics);
        let definition = serde_json::from_value(document.clone()).unwrap_or_else(|error| {
            diagnostics.push(Diagnostic {
                severity: Severity::Error,
                code: "invalid-definition".to_owned(),
                message: format!("the definition of {} cannot be read: {error}", self.kind),
                place: Place::Document { document: self.shown(), path: String::new() },
                help: Vec::new(),
            });
            CustomResourceDefinition::default()
        });
        let of_kind = versions.first().map(|first| said_of_kind(&versions).origins(&first.type_name));
        let of_versions = versions
            .iter()
            .zip(origins)
            .enumerate()
            .flat_map(|(index, (version, origins))| version.origins(index, origins));
        let origins = of_kind.into_iter().flatten().chain(of_versions).collect();
        // What the types of several versions share is found in each of them.
        let mut seen = BTreeSet::new();
        diagnostics.retain(|found| seen.insert(format!("{found:?}")));
        Built { document, definition, origins, diagnostics, kind_types }
    }

    fn add(&mut self, source: Source) {
        let is_there =
            |other: &Source| other.rust_type == source.rust_type && other.version == source.version;
        if !self.sources.iter().any(is_there) {
            self.sources.push(source);
        }
    }

    /// The kind as it is named in messages while its document is not made.
    fn shown(&self) -> String {
        format!("the CustomResourceDefinition of {}", self.kind)
    }

    fn usual_conversion(&self) -> Option<Statement<ConversionWebhook>> {
        let webhook = self.options.conversion.clone()?;
        let place = Place::Document { document: self.shown(), path: "spec.conversion".to_owned() };
        Some(Statement::new(webhook, place))
    }

    fn check_versions(&self, compiled: &[(Version, Vec<Origin>)], diagnostics: &mut Vec<Diagnostic>) {
        let mut types = BTreeMap::<&str, &str>::new();
        for ((version, _), source) in compiled.iter().zip(&self.sources) {
            if (&version.group, &version.kind) != (&self.group, &self.kind) {
                diagnostics.push(Diagnostic {
                    severity: Severity::Error,
                    code: "other-kind".to_owned(),
                    message: format!(
                        "`{}` is {} of the group {:?}, not a version of {} of {:?}",
                        source.rust_name, version.kind, version.group, self.kind, self.group
                    ),
                    place: version.place(),
                    help: vec!["the versions of a kind have one group and one kind".to_owned()],
                });
            }
            if let Some(other) = types.insert(&version.name, source.rust_name) {
                diagnostics.push(Diagnostic {
                    severity: Severity::Error,
                    code: "duplicate-version".to_owned(),
                    message: format!(
                        "`{}` and `{other}` are both version {} of {}",
                        source.rust_name, version.name, self.kind
                    ),
                    place: version.place(),
                    help: vec!["register one type for each version".to_owned()],
                });
            }
        }
        let is_there = |wanted: fn(&Version) -> bool| compiled.iter().any(|(version, _)| wanted(version));
        let place = compiled.first().map(|(version, _)| version.place());
        let mut fail = |code: &str, message: String, help: &str| {
            diagnostics.push(Diagnostic {
                severity: Severity::Error,
                code: code.to_owned(),
                message,
                place: place.clone().unwrap_or_else(|| Place::Document {
                    document: self.shown(),
                    path: "spec.versions".to_owned(),
                }),
                help: vec![help.to_owned()],
            });
        };
        if !is_there(|version| !version.skipped) {
            let help = "take away a `+kubebuilder:skipversion`, or do not register the kind";
            fail("no-version", format!("every version of {} is skipped", self.kind), help);
        } else if !is_there(|version| !version.skipped && !version.unserved) {
            let help = "serve one of them: take away a `+kubebuilder:unservedversion` or `served = false`";
            fail("no-served-version", format!("no version of {} is served", self.kind), help);
        }
    }

    fn document(
        &self,
        versions: &[Version],
        conversion: &[Statement<ConversionWebhook>],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Value {
        let style = self.options.schema.style;
        let mut names = said_of_kind(versions);
        let shown = |webhook: &ConversionWebhook| webhook.to_value().to_string();
        let webhook = agreed("the conversion", conversion, shown, diagnostics);
        if let Some(certificate) = webhook.as_ref().and_then(ConversionWebhook::injected_from) {
            let place = conversion.first().map(|said| said.place.clone());
            names
                .annotations
                .entry(INJECT_CA_FROM.to_owned())
                .or_default()
                .extend(place.map(|place| Statement::new(certificate.to_owned(), place)));
        }
        let mut agreed = names.agree(&self.kind, diagnostics);
        if style == Style::ControllerGen {
            if let Some(version) = self.options.tool_version.as_deref() {
                agreed.annotations.insert("controller-gen.kubebuilder.io/version".to_owned(), version.into());
            }
            self.warn_of_plural(&agreed.plural, versions, diagnostics);
        }
        let stored = storage::stored(versions, &self.kind, diagnostics);
        let versions: Vec<_> = versions
            .iter()
            .enumerate()
            .map(|(index, version)| version.to_value(index == stored, style, diagnostics))
            .collect();
        let mut spec = Map::new();
        spec.insert("group".to_owned(), self.group.as_str().into());
        spec.insert("names".to_owned(), agreed.names.clone());
        spec.insert("scope".to_owned(), agreed.scope.as_str().into());
        spec.insert("versions".to_owned(), versions.into());
        if let Some(preserve) = self.options.preserve_unknown_fields
            && style == Style::ControllerGen
        {
            spec.insert("preserveUnknownFields".to_owned(), preserve.into());
        }
        if let Some(webhook) = webhook {
            spec.insert("conversion".to_owned(), webhook.to_value());
        }
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": agreed.metadata(&self.group),
            "spec": spec,
        })
    }

    fn warn_of_plural(&self, plural: &str, versions: &[Version], diagnostics: &mut Vec<Diagnostic>) {
        let usual = naming::plural(&self.kind);
        let said_by_marker = versions.iter().any(|version| {
            version
                .names
                .plural
                .iter()
                .any(|said| matches!(&said.place, Place::Doc { marker, .. } if !marker.is_empty()))
        });
        if usual == plural || said_by_marker {
            return;
        }
        let Some(version) = versions.first() else { return };
        diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            code: "other-plural".to_owned(),
            message: format!("the plural of {} is `{plural}`; controller-gen makes it `{usual}`", self.kind),
            place: version.place(),
            help: vec![
                format!("for the CRD of a Go project write `plural = \"{usual}\"` in `#[kube(..)]`"),
                format!("to keep it, write `+kubebuilder:resource:path={plural}`"),
            ],
        });
    }
}

/// What the versions say of their kind.
fn said_of_kind(versions: &[Version]) -> Names {
    let mut names = Names::default();
    for version in versions {
        names.extend(&version.names);
    }
    names
}

impl fmt::Debug for CrdBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let versions: Vec<_> =
            self.sources.iter().map(|source| (&source.version, source.rust_name)).collect();
        f.debug_struct("CrdBuilder")
            .field("group", &self.group)
            .field("kind", &self.kind)
            .field("versions", &versions)
            .field("options", &self.options)
            .finish()
    }
}

// === impl Built ===

impl Built {
    /// How the document is named in messages, such as `CustomResourceDefinition memcacheds.cache.example.com`.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.document["metadata"]["name"].as_str().unwrap_or_default();
        format!("CustomResourceDefinition {name}")
    }

    /// Whether something is wrong that forbids to use the document.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}
