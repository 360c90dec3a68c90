//! Path elements and paths: how one field inside an object is named.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use kubewright_schema::error::go;
use serde_json::{Map, Value};

use super::value;

/// One step from a container to something inside it.
///
/// The order is the one of `fieldsV1`: fields, then keyed items, values and indices.
#[derive(Clone, Debug)]
pub enum PathElement {
    /// A field of a struct or an entry of a map.
    Field(Arc<str>),
    /// The item of a map list that has these values in its key fields.
    Key(Arc<[KeyField]>),
    /// The item of a set that equals this value.
    Value(Arc<Value>),
    /// The item of an atomic list at this position.
    Index(i64),
}

/// One key field of a map-list item and its value.
#[derive(Clone, Debug)]
pub struct KeyField {
    /// Name of the key field, as in `x-kubernetes-list-map-keys`.
    pub name: Arc<str>,
    /// Value of the key field in this item, or its schema default when the item omits it.
    pub value: Value,
}

/// Steps from the root of an object to one field. The empty path is the object itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(Vec<PathElement>);

/// Why the text of a path element in `fieldsV1` could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathElementError {
    /// The text does not start with a letter and a colon.
    #[error("path element {0:?} must start with a letter and a colon")]
    Prefix(String),
    /// The JSON after `k:` or `v:` is not valid.
    #[error("path element {text:?} does not hold valid JSON: {source}")]
    Json {
        /// The whole text of the element.
        text: String,
        /// What is wrong with the JSON.
        source: serde_json::Error,
    },
    /// The text after `i:` is not an integer.
    #[error("path element {0:?} does not hold an integer")]
    Index(String),
}

// === impl PathElement ===

impl PathElement {
    /// The element of a field.
    pub fn field(name: impl Into<Arc<str>>) -> Self {
        Self::Field(name.into())
    }

    /// The element of a map-list item; the fields may come in any order.
    pub fn key<N: Into<Arc<str>>>(fields: impl IntoIterator<Item = (N, Value)>) -> Self {
        let mut fields: Vec<KeyField> =
            fields.into_iter().map(|(name, value)| KeyField { name: name.into(), value }).collect();
        fields.sort_by(|a, b| a.name.cmp(&b.name));
        Self::Key(fields.into())
    }

    /// The element of a set item.
    pub fn value(value: Value) -> Self {
        Self::Value(Arc::new(value))
    }

    /// The text that stands for this element in `fieldsV1`, such as `f:spec` or `k:{"name":"web"}`.
    pub fn encode(&self) -> String {
        let mut out = String::new();
        match self {
            Self::Field(name) => {
                out.push_str("f:");
                out.push_str(name);
            }
            Self::Key(fields) => {
                out.push_str("k:{");
                for (i, field) in fields.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    out.push_str(&Value::from(&*field.name).to_string());
                    out.push(':');
                    go::write_json(&field.value, &mut out);
                }
                out.push('}');
            }
            Self::Value(value) => {
                out.push_str("v:");
                go::write_json(value, &mut out);
            }
            Self::Index(index) => {
                out.push_str("i:");
                out.push_str(&index.to_string());
            }
        }
        out
    }

    /// Reads the text of a path element in `fieldsV1`. `None` means a kind this version does not
    /// know: such elements are ignored, so that a newer server may write them.
    pub fn decode(text: &str) -> Result<Option<Self>, PathElementError> {
        let json_error = |source| PathElementError::Json { text: text.to_owned(), source };
        let Some((kind, content)) = text.split_at_checked(2).filter(|(kind, _)| kind.ends_with(':')) else {
            return Err(PathElementError::Prefix(text.to_owned()));
        };
        Ok(Some(match kind {
            "f:" => Self::field(content),
            "k:" => {
                let fields: Map<String, Value> = serde_json::from_str(content).map_err(json_error)?;
                Self::key(fields)
            }
            "v:" => Self::value(serde_json::from_str(content).map_err(json_error)?),
            "i:" => Self::Index(content.parse().map_err(|_| PathElementError::Index(text.to_owned()))?),
            _ => return Ok(None),
        }))
    }
}

impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(l), Self::Field(r)) => l.cmp(r),
            (Self::Key(l), Self::Key(r)) => l.cmp(r),
            (Self::Value(l), Self::Value(r)) => value::compare(l, r),
            (Self::Index(l), Self::Index(r)) => l.cmp(r),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

fn rank(element: &PathElement) -> u8 {
    match element {
        PathElement::Field(_) => 0,
        PathElement::Key(_) => 1,
        PathElement::Value(_) => 2,
        PathElement::Index(_) => 3,
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PathElement {}

/// The form that conflicts and errors print: `.spec`, `[name="web"]`, `[="a"]`, `[0]`.
impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        match self {
            Self::Field(name) => return write!(f, ".{name}"),
            Self::Index(index) => return write!(f, "[{index}]"),
            Self::Value(value) => {
                out.push('=');
                value::write_readable(&mut out, value);
            }
            Self::Key(fields) => {
                for (i, field) in fields.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    out.push_str(&field.name);
                    out.push('=');
                    value::write_readable(&mut out, &field.value);
                }
            }
        }
        write!(f, "[{out}]")
    }
}

// === impl KeyField ===

impl Ord for KeyField {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name.cmp(&other.name).then_with(|| value::compare(&self.value, &other.value))
    }
}

impl PartialOrd for KeyField {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for KeyField {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for KeyField {}

// === impl Path ===

impl Path {
    /// A path of fields only, such as `["metadata", "name"]`.
    pub fn fields<const N: usize>(names: [&str; N]) -> Self {
        names.into_iter().map(PathElement::field).collect()
    }
}

impl Deref for Path {
    type Target = [PathElement];

    fn deref(&self) -> &[PathElement] {
        &self.0
    }
}

impl From<Vec<PathElement>> for Path {
    fn from(elements: Vec<PathElement>) -> Self {
        Self(elements)
    }
}

impl FromIterator<PathElement> for Path {
    fn from_iter<I: IntoIterator<Item = PathElement>>(elements: I) -> Self {
        Self(elements.into_iter().collect())
    }
}

/// The elements one after another: `.spec.containers[name="web"].image`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|element| write!(f, "{element}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_print_as_conflicts_show_them() {
        let path: Path = [
            PathElement::field("spec"),
            PathElement::key([("protocol", json!("TCP")), ("port", json!(80))]),
            PathElement::value(json!("a")),
            PathElement::Index(3),
        ]
        .into_iter()
        .collect();
        assert_eq!(path.to_string(), r#".spec[port=80,protocol="TCP"][="a"][3]"#);
    }

    #[test]
    fn kinds_order_as_fields_v1_does() {
        let ordered = [
            PathElement::field("z"),
            PathElement::key([("name", json!("a"))]),
            PathElement::key([("name", json!("b"))]),
            PathElement::value(json!(1)),
            PathElement::value(json!("a")),
            PathElement::Index(2),
            PathElement::Index(10),
        ];
        assert!(ordered.is_sorted());
    }

    #[test]
    fn an_unknown_kind_is_ignored_and_a_broken_one_refused() {
        assert!(PathElement::decode("x:1").unwrap().is_none());
        for broken in ["", "f", "nothing", "i:a", "v:", "v:{", "k:1", "é:"] {
            assert!(PathElement::decode(broken).is_err(), "{broken}");
        }
    }
}
