//! YAML as kustomize works on it: values, and of scalars also how they were written.
//!
//! kustomize changes YAML nodes, not values, and this shows. A number that replaces a quoted one stays quoted and is a
//! string; a text that gets into a plain number becomes a number; `0777` is read as a number only at the end. A
//! [`Node`] has as much of a node as these effects need.
//!
//! | file | idea |
//! |---|---|
//! | `reader.rs` | text to nodes |
//! | `scalar.rs` | what a scalar means |
//! | `timestamp.rs` | scalars that are points in time |
//! | `lookup.rs` | finding the nodes at a path |

mod lookup;
mod reader;
mod scalar;
mod timestamp;

use serde_json::Value;

pub(crate) use lookup::{Path, split_path, split_smart};
pub(crate) use reader::{Dialect, MAX_DEPTH, MAX_NODES, read, read_once, read_stream};
pub(crate) use scalar::{Kind, Scalar};

/// A node of a YAML document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Map),
}

/// What a node that does not exist yet is made as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Scalar,
    List,
    Map,
}

/// A mapping, in the order of its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Map {
    entries: Vec<(String, Node)>,
}

/// A node that is not what an operation can work on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
pub(crate) struct WrongShape {
    pub(crate) expected: &'static str,
    pub(crate) found: &'static str,
}

// === impl Node ===

impl Node {
    pub(crate) fn empty(shape: Shape) -> Self {
        match shape {
            Shape::Scalar => Self::Scalar(Scalar::default()),
            Shape::List => Self::List(Vec::new()),
            Shape::Map => Self::Map(Map::default()),
        }
    }

    /// A scalar that is a string, whatever its text looks like.
    pub(crate) fn string(text: impl Into<String>) -> Self {
        Self::Scalar(Scalar::string(text))
    }

    /// A scalar whose text says what it is.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::Scalar(Scalar::plain(text))
    }

    pub(crate) fn shape(&self) -> Shape {
        match self {
            Self::Scalar(_) => Shape::Scalar,
            Self::List(_) => Shape::List,
            Self::Map(_) => Shape::Map,
        }
    }

    fn found(&self) -> &'static str {
        match self {
            Self::Scalar(_) => "a scalar",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Scalar(scalar) if scalar.is_null())
    }

    /// Null, or a collection with nothing in it.
    pub(crate) fn is_null_or_empty(&self) -> bool {
        match self {
            Self::Scalar(scalar) => scalar.is_null(),
            Self::List(items) => items.is_empty(),
            Self::Map(map) => map.is_empty(),
        }
    }

    pub(crate) fn as_scalar(&self) -> Option<&Scalar> {
        match self {
            Self::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    pub(crate) fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    pub(crate) fn as_map_mut(&mut self) -> Option<&mut Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    pub(crate) fn as_list(&self) -> Option<&[Node]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The text of a scalar, and an empty one for everything else.
    pub(crate) fn text(&self) -> &str {
        self.as_scalar().map_or("", Scalar::text)
    }

    /// The field of a map; nothing of anything else.
    pub(crate) fn get(&self, field: &str) -> Option<&Node> {
        self.as_map()?.get(field)
    }

    pub(crate) fn get_mut(&mut self, field: &str) -> Option<&mut Node> {
        self.as_map_mut()?.get_mut(field)
    }

    pub(crate) fn expect_map_mut(&mut self) -> Result<&mut Map, WrongShape> {
        let found = self.found();
        self.as_map_mut().ok_or(WrongShape { expected: "a map", found })
    }

    pub(crate) fn wrong_shape(&self, expected: &'static str) -> WrongShape {
        WrongShape { expected, found: self.found() }
    }

    /// Puts another scalar in place of a scalar (or null), which is written as the one before: what is in quotes stays
    /// in quotes.
    pub(crate) fn set_scalar(&mut self, scalar: Scalar) -> Result<(), WrongShape> {
        match self {
            Self::Scalar(old) => {
                let quoted = old.quoted;
                *old = Scalar { quoted, ..scalar };
                Ok(())
            }
            _ => Err(self.wrong_shape("a scalar")),
        }
    }

    /// Whether it is as large as what can be read. Copies of a part into itself double it.
    pub(crate) fn fits(&self) -> bool {
        fn count(node: &Node, depth: usize, left: &mut usize) -> bool {
            if depth > MAX_DEPTH || *left == 0 {
                return false;
            }
            *left -= 1;
            match node {
                Node::Scalar(_) => true,
                Node::List(items) => items.iter().all(|item| count(item, depth + 1, left)),
                Node::Map(map) => map.iter().all(|(_, value)| count(value, depth + 1, left)),
            }
        }
        count(self, 0, &mut { MAX_NODES })
    }

    /// The value as JSON.
    pub(crate) fn to_json(&self, dialect: Dialect) -> Result<Value, String> {
        match self {
            Self::Scalar(scalar) => scalar.to_json(dialect),
            Self::List(items) => items.iter().map(|item| item.to_json(dialect)).collect(),
            Self::Map(map) => {
                map.iter().map(|(key, value)| Ok((key.to_owned(), value.to_json(dialect)?))).collect()
            }
        }
    }

    /// What comes of writing a value as YAML and reading it.
    pub(crate) fn from_json(value: &Value) -> Self {
        match value {
            Value::Array(items) => Self::List(items.iter().map(Self::from_json).collect()),
            Value::Object(map) => {
                let entries = map.iter().map(|(key, value)| (key.clone(), Self::from_json(value))).collect();
                Self::Map(Map { entries })
            }
            scalar => Self::Scalar(Scalar::from_json(scalar)),
        }
    }
}

// === impl Map ===

impl Map {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Node)> {
        self.entries.iter_mut().map(|(key, value)| (key.as_str(), value))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(key, _)| key.as_str())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.iter().find_map(|(k, value)| (k == key).then_some(value))
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.iter_mut().find_map(|(k, value)| (k == key).then_some(value))
    }

    pub(crate) fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Puts `value` at `key`, at the end if there is none.
    pub(crate) fn insert(&mut self, key: impl Into<String> + AsRef<str>, value: Node) {
        match self.get_mut(key.as_ref()) {
            Some(old) => *old = value,
            None => self.entries.push((key.into(), value)),
        }
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Node> {
        let at = self.entries.iter().position(|(k, _)| k == key)?;
        Some(self.entries.remove(at).1)
    }

    /// The node at `key`, which is made if it is not there.
    pub(crate) fn get_or_insert(&mut self, key: &str, shape: Shape) -> &mut Node {
        let at = self.entries.iter().position(|(k, _)| k == key).unwrap_or_else(|| {
            self.entries.push((key.to_owned(), Node::empty(shape)));
            self.entries.len() - 1
        });
        &mut self.entries[at].1
    }

    /// Puts a string at `key`. It is written as what was there before.
    pub(crate) fn set_string(&mut self, key: &str, text: &str) {
        let scalar = Scalar::string(text);
        match self.get_mut(key) {
            Some(Node::Scalar(old)) => *old = Scalar { quoted: old.quoted, ..scalar },
            _ => self.insert(key, Node::Scalar(scalar)),
        }
    }
}

impl FromIterator<(String, Node)> for Map {
    fn from_iter<T: IntoIterator<Item = (String, Node)>>(entries: T) -> Self {
        Self { entries: entries.into_iter().collect() }
    }
}
