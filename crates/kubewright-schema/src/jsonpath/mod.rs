//! The JSONPath dialect of kubectl, as far as custom resource definitions use it: printer columns, selectable fields
//! and the paths of the scale subresource.
//!
//! It is older than RFC 9535 and differs from it, so a JSONPath library would not do. `parse.rs` reads a path,
//! `find.rs` applies it, `reach.rs` tells where it leads in a schema, `field.rs` checks the simple paths that CEL rules
//! and selectable fields may use. Start at [`JsonPath`].

mod field;
mod find;
mod parse;
mod reach;

use serde_json::Value;

pub use field::{Brackets, resolve};
pub use reach::{Reach, Unreachable};

/// A parsed path, for instance `.status.conditions[?(@.type=="Ready")].status`.
///
/// ```
/// use kubewright_schema::JsonPath;
/// use serde_json::json;
///
/// let path = JsonPath::parse(r#".status.conditions[?(@.type=="Ready")].status"#).unwrap();
/// let object = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
/// assert_eq!(path.find(&object), [&json!("True")]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    steps: Vec<Step>,
}

/// Why a path cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidJsonPath(String);

#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// `.name`
    Field(String),
    /// `.*`
    Wildcard,
    /// `..`
    Recursive,
    /// `[1]`, `[1:3]`, `[*]`
    Slice(Slice),
    /// `[0,2]`
    Union(Vec<Vec<Step>>),
    /// `[?(..)]`
    Filter(Filter),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice {
    start: Option<i64>,
    end: End,
    step: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// As written.
    At(i64),
    /// One after the start, for a single index.
    AfterStart,
    Open,
}

#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: Operand,
    /// Without a comparison, the left side must exist.
    comparison: Option<(Operator, Operand)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Constant(Value),
    /// A path from the item.
    Path(Vec<Step>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl JsonPath {
    /// Reads a path, written without the braces of a kubectl template.
    ///
    /// # Errors
    ///
    /// If the path is not in the dialect.
    pub fn parse(path: &str) -> Result<Self, InvalidJsonPath> {
        parse::steps(path).map(|steps| Self { steps })
    }

    /// All values the path leads to, in order. None if a step leads nowhere: a field that is absent, an index beyond
    /// the end, a comparison of values that do not compare.
    pub fn find<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        find::all(&self.steps, value).unwrap_or_default()
    }
}
