//! What is read of a CustomResourceDefinition.

use kubewright_schema::crd;
use serde_json::{Map, Value};

/// Annotations of a definition that say nothing of the kind.
const OF_TOOLS: &[&str] =
    &["controller-gen.kubebuilder.io/", "kubectl.kubernetes.io/", "kubewright.dev/", "meta.helm.sh/"];

/// A kind, as its definition has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name of the definition: `<plural>.<group>`.
    pub name: String,
    /// The group, with its domain.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The plural.
    pub plural: String,
    /// The singular; empty if it is the usual one.
    pub singular: String,
    /// Short names for kubectl.
    pub short_names: Vec<String>,
    /// Groups of kinds for kubectl.
    pub categories: Vec<String>,
    /// Whether the objects are in namespaces.
    pub namespaced: bool,
    /// The annotations that are about the kind.
    pub annotations: Vec<(String, String)>,
    /// The labels.
    pub labels: Vec<(String, String)>,
    /// The versions, in the order of the definition: at least one.
    pub versions: Vec<DefinitionVersion>,
    /// What of it no type can say.
    pub(super) differences: Vec<String>,
}

/// A version of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinitionVersion {
    /// Its name.
    pub name: String,
    /// Whether objects are stored in it.
    pub storage: bool,
    /// Whether API servers offer it.
    pub served: bool,
    /// What those are told who use it, if it is deprecated; an empty text if it is the usual one.
    pub deprecated: Option<String>,
    /// The schema of its objects.
    pub schema: Map<String, Value>,
    pub(super) columns: Vec<Value>,
    pub(super) selectable: Vec<String>,
    pub(super) status: bool,
    pub(super) scale: Option<Value>,
}

/// A document that is not a definition that types can be made of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} cannot be taken over: {reason}")]
#[non_exhaustive]
pub struct DefinitionError {
    /// The document.
    pub what: String,
    /// Why not, and what to do.
    pub reason: String,
}

// === impl Definition ===

impl Definition {
    /// Reads a definition, as `apiextensions.k8s.io/v1` has it.
    ///
    /// # Errors
    ///
    /// If it is none that an API server would take.
    pub fn read(document: &Value) -> Result<Self, DefinitionError> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let name = text(&document["metadata"]["name"]);
        let error = |reason: String| DefinitionError { what: format!("the definition `{name}`"), reason };
        if document["kind"] != "CustomResourceDefinition" {
            return Err(error("it is no CustomResourceDefinition".to_owned()));
        }
        if document["apiVersion"] != "apiextensions.k8s.io/v1" {
            return Err(error(format!(
                "its API version is {}, and API servers know apiextensions.k8s.io/v1 alone",
                document["apiVersion"]
            )));
        }
        let mut whole = document.clone();
        crd::default_crd(&mut whole);
        let errors = crd::validate_crd(&whole);
        if !errors.is_empty() {
            return Err(error(format!("an API server would refuse it: {errors}")));
        }
        let spec = &whole["spec"];
        let names = &spec["names"];
        let kind = text(&names["kind"]);
        let mut differences = Vec::new();
        if names["listKind"] != format!("{kind}List").as_str() {
            differences.push(format!(
                "the kind of its lists is {}List, not {}",
                kind,
                text(&names["listKind"])
            ));
        }
        if spec["conversion"]["strategy"] == "Webhook" {
            differences.push(
                "its versions are converted by a webhook, which stays where it is: `kubewright create webhook --conversion` makes one"
                    .to_owned(),
            );
        }
        let singular = Some(text(&names["singular"])).filter(|singular| *singular != kind.to_lowercase());
        let of_metadata = |member: &str| {
            let entries = document["metadata"][member].as_object().into_iter().flatten();
            let entries = entries.map(|(key, value)| (key.clone(), text(value)));
            entries.filter(|(key, _)| !OF_TOOLS.iter().any(|tool| key.starts_with(tool))).collect()
        };
        Ok(Self {
            group: text(&spec["group"]),
            plural: text(&names["plural"]),
            singular: singular.unwrap_or_default(),
            short_names: texts(&names["shortNames"]),
            categories: texts(&names["categories"]),
            namespaced: spec["scope"] == "Namespaced",
            annotations: of_metadata("annotations"),
            labels: of_metadata("labels"),
            versions: items(&spec["versions"]).map(DefinitionVersion::read).collect(),
            differences,
            name,
            kind,
        })
    }

    /// The version that objects are stored in, which is the one that a controller works with.
    #[must_use]
    pub fn stored(&self) -> &DefinitionVersion {
        // An API server refuses a definition without one.
        self.versions.iter().find(|version| version.storage).unwrap_or(&self.versions[0])
    }
}

// === impl DefinitionVersion ===

impl DefinitionVersion {
    fn read(version: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let schema = version.pointer("/schema/openAPIV3Schema").and_then(Value::as_object);
        Self {
            name: text(&version["name"]),
            storage: version["storage"] == true,
            served: version["served"] == true,
            deprecated: (version["deprecated"] == true).then(|| text(&version["deprecationWarning"])),
            schema: schema.cloned().unwrap_or_default(),
            columns: items(&version["additionalPrinterColumns"]).cloned().collect(),
            selectable: items(&version["selectableFields"]).map(|field| text(&field["jsonPath"])).collect(),
            status: version.pointer("/subresources/status").is_some(),
            scale: version.pointer("/subresources/scale").cloned(),
        }
    }
}

pub(super) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn texts(list: &Value) -> Vec<String> {
    items(list).filter_map(Value::as_str).map(str::to_owned).collect()
}
