use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::types::{self, Special};

/// The message types of the built-in kinds, with references resolved.
pub(super) struct Messages {
    messages: Vec<Message>,
    kinds: HashMap<(String, String, String), MessageId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageId(usize);

pub(super) struct Message {
    pub(super) special: Option<Special>,
    /// Ordered by number.
    fields: Vec<Field>,
}

pub(super) struct Field {
    pub(super) number: u32,
    /// The name in JSON.
    pub(super) name: String,
    pub(super) shape: Shape,
    /// The fields of the message stand in the parent's JSON object.
    pub(super) inline: bool,
    /// An absent value and a zero differ.
    pub(super) pointer: bool,
    /// JSON leaves out the zero.
    pub(super) omit_empty: bool,
}

pub(super) enum Shape {
    One(Type),
    Repeated(Type),
    /// From strings to values.
    Map(Type),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    String,
    Bytes,
    Bool,
    Int32,
    Int64,
    Double,
    Message(MessageId),
}

static MESSAGES: LazyLock<Messages> = LazyLock::new(|| {
    let types = serde_json::from_str(types::TABLE);
    Messages::new(&types.expect("the generated table of types is valid")) // checked by a test, not by input
});

// === impl Messages ===

impl Messages {
    /// The table of all built-in kinds.
    pub(super) fn built_in() -> &'static Self {
        &MESSAGES
    }

    fn new(types: &BTreeMap<String, TypeData>) -> Self {
        let ids: HashMap<&str, MessageId> =
            types.keys().enumerate().map(|(index, name)| (name.as_str(), MessageId(index))).collect();
        let kinds = types
            .iter()
            .flat_map(|(name, data)| data.kinds.iter().map(|kind| (kind.clone(), ids[name.as_str()])))
            .collect();
        let messages = types.values().map(|data| Message::new(data, &ids)).collect();
        Self { messages, kinds }
    }

    /// The message of a kind. The kinds of apimachinery (`DeleteOptions`, `Status` and so on) belong to every group.
    pub(super) fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<MessageId> {
        let key = |group: &str, version: &str| (group.to_owned(), version.to_owned(), kind.to_owned());
        let found = self.kinds.get(&key(group, version));
        let meta = || self.kinds.get(&key("", "v1")).filter(|_| META_KINDS.contains(&kind));
        found.or_else(meta).copied()
    }

    pub(super) fn get(&self, id: MessageId) -> &Message {
        &self.messages[id.0]
    }
}

const META_KINDS: [&str; 8] = [
    "CreateOptions",
    "DeleteOptions",
    "GetOptions",
    "ListOptions",
    "PatchOptions",
    "Status",
    "UpdateOptions",
    "WatchEvent",
];

// === impl Message ===

impl Message {
    fn new(data: &TypeData, ids: &HashMap<&str, MessageId>) -> Self {
        let mut fields: Vec<Field> = data.fields.iter().filter_map(|field| Field::new(field, ids)).collect();
        fields.sort_by_key(|field| field.number);
        Self { special: data.special, fields }
    }

    pub(super) fn field(&self, number: u32) -> Option<&Field> {
        let index = self.fields.binary_search_by_key(&number, |field| field.number).ok()?;
        self.fields.get(index)
    }

    pub(super) fn fields(&self) -> &[Field] {
        &self.fields
    }
}

// === impl Field ===

impl Field {
    fn new(data: &FieldData, ids: &HashMap<&str, MessageId>) -> Option<Self> {
        let resolve = |proto: &str| match proto {
            "string" => Some(Type::String),
            "bytes" => Some(Type::Bytes),
            "bool" => Some(Type::Bool),
            "int32" => Some(Type::Int32),
            "int64" => Some(Type::Int64),
            "double" => Some(Type::Double),
            "message" => ids.get(data.reference.as_str()).copied().map(Type::Message),
            _ => None,
        };
        let shape = match data.label.as_str() {
            "rep" => Shape::Repeated(resolve(&data.proto)?),
            "map" => Shape::Map(resolve(&data.value)?),
            _ => Shape::One(resolve(&data.proto)?),
        };
        Some(Self {
            number: data.number?,
            name: data.json.clone(),
            shape,
            inline: data.inline == 1,
            pointer: data.pointer == 1,
            omit_empty: data.omit_empty == 1,
        })
    }
}

/// A type as the generated table has it.
#[derive(Deserialize)]
struct TypeData {
    #[serde(default)]
    kinds: Vec<(String, String, String)>,
    special: Option<Special>,
    fields: Vec<FieldData>,
}

#[derive(Deserialize)]
struct FieldData {
    #[serde(rename = "j")]
    json: String,
    #[serde(rename = "n")]
    number: Option<u32>,
    #[serde(rename = "k")]
    label: String,
    #[serde(rename = "t")]
    proto: String,
    #[serde(rename = "v", default)]
    value: String,
    #[serde(rename = "r", default)]
    reference: String,
    #[serde(rename = "i", default)]
    inline: u8,
    #[serde(rename = "p", default)]
    pointer: u8,
    #[serde(rename = "o", default)]
    omit_empty: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_numbered_field_of_the_table_has_a_type() {
        let types: BTreeMap<String, TypeData> = serde_json::from_str(types::TABLE).unwrap();
        let numbered: usize = types
            .values()
            .map(|data| data.fields.iter().filter(|field| field.number.is_some()).count())
            .sum();
        let resolved: usize = Messages::built_in().messages.iter().map(|message| message.fields.len()).sum();
        assert_eq!(resolved, numbered);
        assert!(resolved > 4000, "{resolved}");
    }

    #[test]
    fn kinds_of_apimachinery_belong_to_every_group() {
        let messages = Messages::built_in();
        let options = messages.of_kind("", "v1", "DeleteOptions");
        assert!(options.is_some());
        assert_eq!(messages.of_kind("apps", "v1", "DeleteOptions"), options);
        assert_eq!(messages.of_kind("meta.k8s.io", "v1", "DeleteOptions"), options);
        assert!(messages.of_kind("apps", "v1", "Pod").is_none());
    }
}
