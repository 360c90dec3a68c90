//! A schema while it is worked on: a tree whose references are still names, and that knows where each of its keywords
//! comes from.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// One schema.
///
/// Keywords that hold schemas are fields, so that a pass cannot forget one of them; all others are in `keywords`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    /// The keywords that hold no schemas, in OpenAPI's spelling.
    pub(super) keywords: BTreeMap<String, Value>,
    /// The definition this schema refers to. The other keywords are said in addition to it.
    pub(super) reference: Option<String>,
    pub(super) properties: BTreeMap<String, Node>,
    /// The names in `required`.
    pub(super) required: BTreeSet<String>,
    pub(super) items: Option<Box<Node>>,
    /// `additionalProperties`, if it is a schema.
    pub(super) additional: Option<Box<Node>>,
    /// Whether it refuses properties it does not name. The API server drops them instead, so this tells the variants of an
    /// enum apart and is never written.
    pub(super) closed: bool,
    /// Whether it comes from an `Option`: null decodes. This is not `nullable`, which is in `keywords`.
    pub(super) optional: bool,
    pub(super) all_of: Vec<Node>,
    pub(super) any_of: Vec<Node>,
    pub(super) one_of: Vec<Node>,
    pub(super) not: Option<Box<Node>>,
    /// `x-kubernetes-validations`.
    pub(super) rules: Vec<Rule>,
    /// The longest description from here downward.
    pub(super) description_limit: Option<usize>,
    /// The marker that wants the enum's values sorted.
    pub(super) sorted_enum: Option<Source>,
    /// Whether a type that leads back to itself ends here, with a value of any shape.
    pub(super) opens_recursion: bool,
    /// What the doc comments of an enum's variants say of the values they stand for.
    pub(super) variants: Vec<(String, String)>,
    /// What the schema stands for; none for value validations.
    pub(super) site: Option<Site>,
    /// The markers that set these keywords. A keyword that is not here comes from the Rust type.
    pub(super) markers: BTreeMap<String, Source>,
}

/// A rule of `x-kubernetes-validations`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rule {
    pub(super) value: Value,
    /// None if it comes from a native attribute.
    pub(super) source: Option<Source>,
}

/// A type, or a field of one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Site {
    /// The name of its definition.
    pub(super) type_name: String,
    /// The field's name in JSON.
    pub(super) field: Option<String>,
}

/// A marker and what it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) site: Site,
    /// From its `+`.
    pub(super) marker: String,
}

// === impl Node ===

impl Node {
    /// A schema with this type alone.
    pub(super) fn of_type(name: &str) -> Self {
        let mut node = Self::default();
        node.set("type", name);
        node
    }

    /// Any JSON value.
    pub(super) fn any() -> Self {
        let mut node = Self::default();
        node.set(PRESERVE, true);
        node
    }

    pub(super) fn set(&mut self, keyword: &str, value: impl Into<Value>) {
        self.keywords.insert(keyword.to_owned(), value.into());
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&Value> {
        self.keywords.get(keyword)
    }

    pub(super) fn text(&self, keyword: &str) -> Option<&str> {
        self.get(keyword)?.as_str()
    }

    pub(super) fn is(&self, keyword: &str) -> bool {
        self.get(keyword) == Some(&Value::Bool(true))
    }

    /// The value of `type`.
    pub(super) fn own_type(&self) -> Option<&str> {
        self.text("type")
    }

    /// Whether it says nothing but what is for readers.
    pub(super) fn says_nothing(&self) -> bool {
        self.reference.is_none()
            && self.properties.is_empty()
            && self.required.is_empty()
            && self.items.is_none()
            && self.additional.is_none()
            && self.all_of.is_empty()
            && self.any_of.is_empty()
            && self.one_of.is_empty()
            && self.not.is_none()
            && self.rules.is_empty()
            && self
                .keywords
                .keys()
                .all(|keyword| DOCUMENTATION.contains(&keyword.as_str()) || keyword == "default")
    }

    /// Every schema directly below.
    pub(super) fn children_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        self.properties
            .values_mut()
            .chain(self.items.as_deref_mut())
            .chain(self.additional.as_deref_mut())
            .chain(&mut self.all_of)
            .chain(&mut self.any_of)
            .chain(&mut self.one_of)
            .chain(self.not.as_deref_mut())
    }
}

// === impl Site ===

impl Site {
    pub(super) fn of_type(type_name: &str) -> Self {
        Self { type_name: type_name.to_owned(), field: None }
    }

    pub(super) fn of_field(type_name: &str, field: &str) -> Self {
        Self { type_name: type_name.to_owned(), field: Some(field.to_owned()) }
    }
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{}.{field}", self.type_name),
            None => f.write_str(&self.type_name),
        }
    }
}

/// What a field says for readers replaces what its type says.
pub(super) const DOCUMENTATION: [&str; 4] = ["description", "title", "example", "externalDocs"];

pub(super) const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
pub(super) const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
pub(super) const LIST_TYPE: &str = "x-kubernetes-list-type";
pub(super) const LIST_MAP_KEYS: &str = "x-kubernetes-list-map-keys";
pub(super) const MAP_TYPE: &str = "x-kubernetes-map-type";
pub(super) const VALIDATIONS: &str = "x-kubernetes-validations";
