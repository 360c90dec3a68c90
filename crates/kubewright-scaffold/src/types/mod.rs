//! Rust types from a CustomResourceDefinition that is there already.
//!
//! What the definition says and a Rust type does not stands in markers, so that `kubewright generate` makes the same definition of the
//! types. A part of a schema for which there is no marker is kept as it is, in a function that its field names.
//!
//! | file | idea |
//! |---|---|
//! | `definition` | what is read of a definition |
//! | `shape` | from a schema to a type: structs, enums, lists, maps |
//! | `well_known` | schemas of types that Kubernetes' crate has |
//! | `markers` | from a keyword of a schema to the marker that sets it, and from a version to the markers of its kind |
//! | `identifiers` | from names in JSON to names in Rust |
//! | `source` | the text of it all |
//! | `sample` | an object that the schema allows |

mod definition;
mod identifiers;
mod markers;
mod sample;
mod shape;
mod source;
mod well_known;

use serde_json::Value;

pub use self::definition::{Definition, DefinitionError, DefinitionVersion};
use self::{shape::Shapes, source::write};

/// The types of one version of a kind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Types {
    /// The source of the module with them.
    pub text: String,
    /// An object with what has to be in one, and the first value that fits.
    pub sample: Value,
    /// What an API server would not take in the sample: rules that no first value keeps to.
    pub problems: Vec<String>,
    /// Whether the status has conditions that a controller can set.
    pub has_conditions: bool,
    /// What the types cannot say, so that the definition which is generated from them says something else.
    pub differences: Vec<String>,
}

impl Types {
    /// The types of a version of a definition.
    ///
    /// ```
    /// use kubewright_scaffold::types::{Definition, Types};
    /// use serde_json::json;
    ///
    /// let definition = Definition::read(&json!({
    ///     "apiVersion": "apiextensions.k8s.io/v1",
    ///     "kind": "CustomResourceDefinition",
    ///     "metadata": {"name": "mice.zoo.example.com"},
    ///     "spec": {
    ///         "group": "zoo.example.com",
    ///         "names": {"kind": "Mouse", "plural": "mice"},
    ///         "scope": "Namespaced",
    ///         "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
    ///             "type": "object",
    ///             "required": ["spec"],
    ///             "properties": {"spec": {"type": "object", "required": ["size"], "properties": {
    ///                 "size": {"type": "integer", "format": "int32", "minimum": 1},
    ///             }}},
    ///         }}}],
    ///     },
    /// }))?;
    /// let types = Types::of(&definition, &definition.versions[0]);
    /// assert!(types.text.contains("    /// +kubebuilder:validation:Minimum=1\n    pub size: i32,\n"));
    /// # Ok::<(), kubewright_scaffold::types::DefinitionError>(())
    /// ```
    #[must_use]
    pub fn of(definition: &Definition, version: &DefinitionVersion) -> Self {
        let shapes = Shapes::of(definition, version);
        let (sample, problems) = sample::sample(definition, version);
        Self {
            text: write(definition, version, &shapes),
            sample,
            problems,
            has_conditions: shapes.has_conditions(),
            differences: shapes.differences,
        }
    }
}
