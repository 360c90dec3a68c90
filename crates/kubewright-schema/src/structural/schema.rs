use std::{collections::BTreeMap, fmt, ops::Deref, sync::Arc};

use serde_json::Value;

use super::{Format, Pattern};
use crate::{
    cel::Compiled,
    error::{ErrorList, FieldPath},
};

/// A structural schema. Clones share one tree.
///
/// ```
/// use kubewright_schema::{SchemaType, Structural};
/// use serde_json::json;
///
/// let schema = Structural::parse(&json!({
///     "type": "object",
///     "properties": {"size": {"type": "integer", "minimum": 1}},
/// }))
/// .unwrap();
/// assert_eq!(schema.properties["size"].schema_type, Some(SchemaType::Integer));
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Structural(Arc<Schema>);

/// One node of a structural schema.
///
/// Field names follow OpenAPI. Nodes under `allOf`, `anyOf`, `oneOf` and `not` are of the same type; the
/// rules of structural schemas, checked by [`Structural::parse`], keep everything but value validations
/// out of them.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Schema {
    /// Free text for readers.
    pub description: String,
    /// Free text for readers.
    pub title: String,
    /// The type of the value. Absent under value validations, for int-or-string and where unknown fields
    /// are preserved.
    pub schema_type: Option<SchemaType>,
    /// Whether `null` is a valid value.
    pub nullable: bool,
    /// The value of an absent field. Never `null`.
    pub default: Option<Value>,
    /// An example for readers.
    pub example: Option<Value>,
    /// `{description, url}` for readers.
    pub external_docs: Option<Value>,

    /// The schemas of the declared fields of an object.
    pub properties: BTreeMap<String, Structural>,
    /// What the undeclared fields of an object may be.
    pub additional_properties: Option<AdditionalProperties>,
    /// The schema of the items of a list.
    pub items: Option<Structural>,

    /// `x-kubernetes-preserve-unknown-fields`: undeclared fields are kept.
    pub preserve_unknown_fields: bool,
    /// `x-kubernetes-embedded-resource`: the object is a Kubernetes object with a meta of its own.
    pub embedded_resource: bool,
    /// `x-kubernetes-int-or-string`: an integer or a string.
    pub int_or_string: bool,
    /// `x-kubernetes-list-type`; absent means atomic.
    pub list_type: Option<ListType>,
    /// `x-kubernetes-list-map-keys`: the fields that identify an item of a list of type map.
    pub list_map_keys: Vec<String>,
    /// `x-kubernetes-map-type`; absent means granular.
    pub map_type: Option<MapType>,
    /// `x-kubernetes-validations`: the CEL rules of this value.
    pub validations: Vec<Rule>,

    /// The format as written, also when it is not one that is checked.
    pub format: String,
    /// The largest number allowed.
    pub maximum: Option<f64>,
    /// Whether the maximum itself is excluded.
    pub exclusive_maximum: bool,
    /// The smallest number allowed.
    pub minimum: Option<f64>,
    /// Whether the minimum itself is excluded.
    pub exclusive_minimum: bool,
    /// The longest string allowed, in characters.
    pub max_length: Option<i64>,
    /// The shortest string allowed, in characters.
    pub min_length: Option<i64>,
    /// The pattern a string must contain.
    pub pattern: Option<Pattern>,
    /// The most items allowed.
    pub max_items: Option<i64>,
    /// The fewest items allowed.
    pub min_items: Option<i64>,
    /// Whether the items must differ. Not allowed in custom resources.
    pub unique_items: bool,
    /// The number that must divide the value.
    pub multiple_of: Option<f64>,
    /// The values allowed; empty means all.
    pub enumeration: Vec<Value>,
    /// The most fields allowed.
    pub max_properties: Option<i64>,
    /// The fewest fields allowed.
    pub min_properties: Option<i64>,
    /// The fields that must be present.
    pub required: Vec<String>,
    /// Schemas that must all hold.
    pub all_of: Vec<Structural>,
    /// Schemas of which at least one must hold.
    pub any_of: Vec<Structural>,
    /// Schemas of which exactly one must hold.
    pub one_of: Vec<Structural>,
    /// A schema that must not hold.
    pub not: Option<Structural>,

    /// The format that validation checks.
    pub(crate) checked_format: Option<Format>,
    /// What this node or a node below it contains, so that walks can stay away from the rest.
    pub(crate) subtree: Subtree,
}

/// The JSON type that a schema asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum SchemaType {
    Array,
    Boolean,
    Integer,
    Number,
    Object,
    String,
}

/// What the undeclared fields of an object may be.
#[derive(Clone, Debug, PartialEq)]
pub enum AdditionalProperties {
    /// Anything, or nothing.
    Allowed(bool),
    /// Values of this schema.
    Schema(Structural),
}

/// How the items of a list relate to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListType {
    /// The list is one value.
    Atomic,
    /// The items are unique.
    Set,
    /// The items are objects, identified by some of their fields.
    Map,
}

/// How the fields of an object relate to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MapType {
    /// The object is one value.
    Atomic,
    /// Every field has an owner of its own.
    Granular,
}

/// One CEL rule of `x-kubernetes-validations`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The CEL expression that must be true.
    pub rule: String,
    /// What to say if it is not.
    pub message: String,
    /// A CEL expression that says it better.
    pub message_expression: String,
    /// The cause of the error; absent means `FieldValueInvalid`.
    pub reason: Option<String>,
    /// The field to blame, relative to the value.
    pub field_path: String,
    /// Whether a rule with `oldSelf` also runs when there is no old value.
    pub optional_old_self: Option<bool>,
    /// The expressions, ready to run.
    pub(crate) compiled: Compiled,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Subtree {
    /// Lists of type set or map.
    pub(crate) lists: bool,
    /// Embedded resources.
    pub(crate) embedded: bool,
    /// CEL rules.
    pub(crate) rules: bool,
    /// Defaults.
    pub(crate) defaults: bool,
}

// === impl Structural ===

impl Structural {
    /// Reads an `openAPIV3Schema` and checks that it is structural. Error paths start at the schema.
    ///
    /// # Errors
    ///
    /// All errors of the shape if it cannot be read, else all breaches of the rules of structural schemas.
    pub fn parse(schema: &Value) -> Result<Self, ErrorList> {
        Self::parse_at(schema, &FieldPath::root())
    }

    /// [`Structural::parse`] with error paths below `path`.
    ///
    /// # Errors
    ///
    /// As for [`Structural::parse`].
    pub fn parse_at(schema: &Value, path: &FieldPath) -> Result<Self, ErrorList> {
        let structural = Self::read_at(schema, path)?;
        structural.check(path).into_result(structural)
    }

    /// Reads a schema without asking that it be structural, as needed for parts of a schema.
    ///
    /// # Errors
    ///
    /// All errors of the shape.
    pub fn read_at(schema: &Value, path: &FieldPath) -> Result<Self, ErrorList> {
        super::parse::read(schema, path)
    }

    /// Breaches of the rules of structural schemas, sorted by text.
    pub fn check(&self, path: &FieldPath) -> ErrorList {
        let mut errors = super::rules::check(self, path);
        errors.extend(super::complete::check(self, path));
        errors.sort_by_text();
        errors
    }

    pub(super) fn new(schema: Schema) -> Self {
        Self(Arc::new(schema))
    }
}

impl Deref for Structural {
    type Target = Schema;

    fn deref(&self) -> &Schema {
        &self.0
    }
}

impl fmt::Debug for Structural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

// === impl Schema ===

impl Schema {
    /// The types a value may have, as error texts list them.
    pub(crate) fn types(&self) -> &'static [SchemaType] {
        if self.int_or_string { &[SchemaType::Integer, SchemaType::String] } else { self.written_types() }
    }

    /// The type as written, as a list.
    pub(crate) fn written_types(&self) -> &'static [SchemaType] {
        match self.schema_type {
            None => &[],
            Some(SchemaType::Array) => &[SchemaType::Array],
            Some(SchemaType::Boolean) => &[SchemaType::Boolean],
            Some(SchemaType::Integer) => &[SchemaType::Integer],
            Some(SchemaType::Number) => &[SchemaType::Number],
            Some(SchemaType::Object) => &[SchemaType::Object],
            Some(SchemaType::String) => &[SchemaType::String],
        }
    }

    /// The schema of the undeclared fields, if they have one.
    pub fn additional_schema(&self) -> Option<&Structural> {
        match &self.additional_properties {
            Some(AdditionalProperties::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// The schema of the field `name`, declared or not.
    pub fn field(&self, name: &str) -> Option<&Structural> {
        self.properties.get(name).or_else(|| self.additional_schema())
    }

    /// Extends `path` by the field `name`, if the field has a schema: a declared field as a field, any other as
    /// the key of a map. Returns the schema and the length of the path before.
    pub(crate) fn enter_field(&self, name: &str, path: &mut FieldPath) -> Option<(&Structural, usize)> {
        match self.properties.get(name) {
            Some(declared) => Some((declared, path.push_child(name))),
            None => self.additional_schema().map(|schema| (schema, path.push_key(name))),
        }
    }

    /// Whether `value` is a `null` that this schema does not allow.
    pub(crate) fn forbids_null(&self, value: &Value) -> bool {
        value.is_null() && !self.nullable
    }
}

// === impl SchemaType ===

impl SchemaType {
    /// All types, in the order that error texts list them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Array, Self::Boolean, Self::Integer, Self::Number, Self::Object, Self::String];

    /// The name in OpenAPI.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }
}

// === impl Rule ===

impl Rule {
    /// Whether the reader of the rule gets the error at a field below the value.
    pub fn has_field_path(&self) -> bool {
        !self.field_path.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_can_be_shared_between_threads() {
        fn is_shareable<T: Send + Sync>() {}
        is_shareable::<Structural>();
    }
}
