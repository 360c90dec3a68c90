//! Doc comments that stand in for those of our types before the generator sees them.
//!
//! What a text looks like in a CRD is decided by what the generator does with the doc comment: markers leave it, lines are kept or
//! dropped, long texts are cut. The words of the goldens are not ours, so that no type here can have them in its doc comments.
//! They are taken from the test data when a test runs, and put where schemars puts a doc comment: into the `description` of the
//! schema that [`Documented`] hands to the generator. From there on everything is as for any other type, and nothing is
//! replaced in what comes out.
//!
//! The comments are of two kinds:
//!
//! * [`go`]: those of the Go types, as they stand in the source with all of their markers. They show that the same
//!   comment makes the same text.
//! * [`recovered`]: the texts of the golden with the markers of our types and with notes for developers around them. They show
//!   that every text comes out in its place, whole and without anything else. How Go's comment was cut is not in them.

pub(crate) mod go;
mod go_source;
mod markers;
pub(crate) mod recovered;

use std::{any::TypeId, borrow::Cow, cell::RefCell, collections::BTreeMap, marker::PhantomData};

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The definitions of Kubernetes' own types.
const KUBERNETES: &str = "io.k8s.";

thread_local! {
    static TEXTS: RefCell<BTreeMap<TypeId, Texts>> = const { RefCell::new(BTreeMap::new()) };
}

/// A type whose doc comments, and those of the types it refers to, are the ones that [`document`] was given.
pub(crate) struct Documented<T>(PhantomData<T>);

/// Doc comments by definition, and by JSON pointer from its root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Texts(BTreeMap<(String, String), String>);

/// What schemars says of a type and of all types it refers to.
pub(crate) struct Schemas {
    /// The name of the type itself.
    name: String,
    definitions: Map<String, Value>,
}

/// Gives `T` these doc comments wherever [`Documented`] is used from now on in this test.
pub(crate) fn document(of: TypeId, texts: Texts) {
    TEXTS.with_borrow_mut(|all| all.insert(of, texts));
}

// === impl Documented ===

impl<T: JsonSchema + 'static> JsonSchema for Documented<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator).to_value();
        TEXTS.with_borrow(|all| {
            let Some(texts) = all.get(&TypeId::of::<T>()) else { return };
            texts.apply(&T::schema_name(), &mut schema, generator.definitions_mut());
        });
        schema.try_into().expect("what was a schema before is one with texts")
    }
}

// === impl Texts ===

impl Texts {
    /// One place has one text.
    #[track_caller]
    fn set(&mut self, definition: &str, pointer: &str, text: &str) {
        let place = (definition.to_owned(), pointer.to_owned());
        if let Some(other) = self.0.insert(place, text.to_owned()) {
            assert_eq!(other, text, "{definition}{pointer} has two texts");
        }
    }

    /// The text, if another one was there before.
    fn replace(&mut self, definition: &str, pointer: &str, text: String) {
        self.0.insert((definition.to_owned(), pointer.to_owned()), text);
    }

    fn apply(&self, root_name: &str, root: &mut Value, definitions: &mut Map<String, Value>) {
        for ((definition, pointer), text) in &self.0 {
            let schema =
                if definition == root_name { Some(&mut *root) } else { definitions.get_mut(definition) };
            let node = schema.and_then(|schema| schema.pointer_mut(pointer));
            let node = node.unwrap_or_else(|| panic!("no schema at {definition}{pointer}"));
            if node.as_bool() == Some(true) {
                *node = Map::new().into();
            }
            let node = node.as_object_mut().unwrap_or_else(|| panic!("no object at {definition}{pointer}"));
            match as_schemars_has_it(text) {
                "" => node.remove("description"),
                text => node.insert("description".to_owned(), text.into()),
            };
        }
    }
}

/// The description that schemars makes of the lines of a doc comment, each without the blank after its slashes.
#[track_caller]
fn as_schemars_has_it(comment: &str) -> &str {
    let text = comment.trim_matches(|c: char| c.is_ascii_whitespace());
    assert!(!text.starts_with('#'), "schemars makes a title of {text:?}");
    text
}

// === impl Schemas ===

impl Schemas {
    pub(crate) fn of<T: JsonSchema>() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
        let mut generator = settings.into_generator();
        generator.subschema_for::<T>();
        Self { name: T::schema_name().into_owned(), definitions: generator.take_definitions(false) }
    }

    fn node(&self, definition: &str, pointer: &str) -> Option<&Value> {
        self.definitions.get(definition)?.pointer(pointer)
    }
}

/// The definition that a schema refers to, be it in an `Option`.
fn referenced(node: &Value) -> Option<&str> {
    let alternatives =
        ["anyOf", "allOf", "oneOf"].into_iter().filter_map(|keyword| node.get(keyword)?.as_array()).flatten();
    std::iter::once(node)
        .chain(alternatives)
        .find_map(|node| node.get("$ref")?.as_str()?.strip_prefix("#/$defs/"))
}

/// The schemas directly below one, each with the rest of its JSON pointer, and what is at the same place of `other`.
fn below<'a>(node: &'a Value, other: &'a Value) -> Vec<(String, &'a Value)> {
    let mut found = Vec::new();
    for name in node["properties"].as_object().into_iter().flat_map(Map::keys) {
        if let Some(other) = other["properties"].get(name) {
            found.push((format!("/properties/{}", name.replace('~', "~0").replace('/', "~1")), other));
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if node[keyword].is_object() && other[keyword].is_object() {
            found.push((format!("/{keyword}"), &other[keyword]));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First.
    ///
    ///   - indented
    ///
    /// Last.
    ///
    /// +optional
    #[derive(JsonSchema)]
    struct Commented;

    #[test]
    fn a_comment_is_what_schemars_makes_of_it() {
        let lines = ["First.", "", "  - indented", "", "Last.", "", "+optional", ""];
        let schemas = Schemas::of::<Commented>();
        let description = schemas.definitions["Commented"]["description"].as_str();
        assert_eq!(description, Some(as_schemars_has_it(&lines.join("\n"))));
    }
}
