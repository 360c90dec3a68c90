//! From a Rust type to the structural schema of a CRD, with the effect of the markers in its doc comments.
//!
//! [`compile`] runs the passes in this order, each a file or folder:
//!
//! 1. `generate`: what schemars says of the type and of all types it refers to,
//! 2. `dialect`: from JSON schema to OpenAPI 3.0, with the `known` types of Kubernetes, and what is `embedded` completed,
//! 3. `docs`, `effect`: doc comments are taken apart, and markers change the schema they stand on,
//! 4. `resolve`: definitions take the place of references, a type and a field's word on it are joined (`merge`), and enums get
//!    one structure (`union`),
//! 5. `describe`, `emit`: descriptions are cut, and JSON is written.
//!
//! Everything that is wrong is collected; no fault hides another.
//!
//! # What a compiled type does not tell
//!
//! * The order in which fields are declared: the rules that `k8s:immutable` adds to the type around follow the names of the
//!   fields. In controller-gen's style they follow the declaration, except for fields with `skip_serializing_if`, which come
//!   after the others.
//! * What is said of the package: `+kubebuilder:validation:Optional` for all of its fields. In Rust, `Option` says it.
//! * What is said of a type that is flattened into another one (`#[serde(flatten)]`): its fields keep their doc comments, the
//!   type loses its own, with the markers in it, to the type around.
//! * A heading (`#`) at the start of a doc comment is taken for a title.
//!
//! Rust's unknown fields need no word: where a type denies them, an API server drops them before it is asked.

mod cel;
mod check;
mod describe;
mod description_limits;
mod dialect;
mod docs;
mod effect;
mod embedded;
mod emit;
mod faults;
mod generate;
mod kind;
mod known;
mod merge;
mod node;
mod resolve;
mod sentence;
mod union;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Style, diagnostic::Diagnostic, marker::Marker};

use dialect::Dialect;
use effect::Effects;
use emit::Emitter;
use faults::Faults;
use generate::Generated;
use node::Node;
use resolve::Resolver;

pub use describe::shorten;
pub use description_limits::DescriptionLimits;
pub use known::{any_value, byte_string, embedded_resource};

/// How schemas are compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whose conventions the schema follows.
    pub style: Style,
    /// The longest description, in bytes; longer ones are cut by [`shorten`], and 0 drops them all. None keeps them whole.
    pub max_description_length: Option<usize>,
    /// The longest descriptions of some types, whatever the one above says.
    pub description_limits: DescriptionLimits,
    /// Whether the metadata of an object inside another one may carry name, namespace, labels, annotations and finalizers.
    /// If not, an API server drops all of it. By default it may in our style, and may not in controller-gen's.
    pub generate_embedded_object_meta: Option<bool>,
    /// Whether floats are allowed in controller-gen's style. Ours allows them anyway.
    pub allow_dangerous_types: bool,
}

/// The code of a marker about a custom resource on a type that is none, as far as one kind shows.
pub(crate) const MARKER_OF_KIND: &str = "marker-of-kind";

/// A compiled type.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// Its structural schema. There is no reference in it.
    pub schema: Value,
    /// Where the parts of the schema come from, sorted by path and keyword.
    pub origins: Vec<Origin>,
    /// What is wrong with it. If none of it is an error, an API server takes the schema.
    pub diagnostics: Vec<Diagnostic>,
    /// The markers that are about the kind: of the type itself and, if it has a field `spec`, of that field's type, in this order.
    pub kind_markers: Vec<KindMarker>,
}

/// A marker about the kind, and the type it stands on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KindMarker {
    /// The name of the type as its schema has it.
    pub type_name: String,
    /// The marker.
    pub marker: Marker,
}

/// Where a part of a schema comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Origin {
    /// The path from the root of the schema to the node, such as `properties[spec].properties[ports].items`; empty for the root.
    pub path: String,
    /// The keyword, with an index for a rule (`x-kubernetes-validations[0]`); empty for the node itself.
    pub keyword: String,
    /// The type it comes from, by the name its schema has.
    pub type_name: String,
    /// The field of that type, by its name in JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The marker that set the keyword, from its `+`; empty if the Rust type says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub marker: String,
}

/// Compiles a type and everything it contains to one structural schema.
///
/// ```
/// use kubewright_manifests::schema::{Options, compile};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// What is wanted.
/// #[derive(Deserialize, Serialize, JsonSchema)]
/// struct CacheSpec {
///     /// How many there are.
///     size: Option<i32>,
/// }
///
/// let compiled = compile::<CacheSpec>(&Options::default());
/// assert_eq!(
///     compiled.schema,
///     serde_json::json!({
///         "description": "What is wanted.",
///         "type": "object",
///         "properties": {
///             "size": {"description": "How many there are.", "type": "integer", "format": "int32"},
///         },
///     })
/// );
/// ```
#[must_use]
pub fn compile<T: JsonSchema + ?Sized>(options: &Options) -> Compiled {
    let mut generated = generate::generate::<T>();
    if options.style == Style::ControllerGen {
        generated.order = generate::order::<T>();
    }
    compile_generated(&generated, options)
}

/// What schemars says of a type and of every type below, by name.
pub(crate) fn definitions<T: JsonSchema + ?Sized>() -> serde_json::Map<String, Value> {
    generate::generate::<T>().definitions
}

fn compile_generated(generated: &Generated, options: &Options) -> Compiled {
    let mut faults = Faults::default();
    let mut dialect = Dialect {
        style: options.style,
        allow_dangerous_types: options.allow_dangerous_types,
        faults: &mut faults,
    };
    let mut definitions: BTreeMap<String, Node> = generated
        .definitions
        .iter()
        .map(|(name, schema)| {
            let node = known::known(name, options).unwrap_or_else(|| {
                let mut node = dialect.definition(name, schema);
                embedded::complete(name, &mut node, options.style);
                node
            });
            (name.clone(), node)
        })
        .collect();
    let kind_markers = Effects::apply(&mut definitions, generated, options, &mut faults);
    for (name, node) in &mut definitions {
        if let Some(limit) = options.description_limits.of(name) {
            describe::limit(node, limit);
        }
    }
    let mut root = Resolver::new(&definitions, options, &mut faults).definition(&generated.name, None);
    describe::describe(&mut root, options, options.max_description_length);
    check::check(&root, &mut faults);
    let (schema, origins) = Emitter::default().emit(root);
    Compiled { schema, origins, diagnostics: faults.into_diagnostics(), kind_markers }
}

#[cfg(test)]
mod tests;
