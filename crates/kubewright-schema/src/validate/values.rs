//! Types, bounds, required fields and value validations, in the order and the words of kube-openapi.
//!
//! A node is checked by aspects (type, combinations, string, format, number, list, enum, object). A count of
//! the aspects that passed tells which alternative of an `anyOf` came closest, whose errors are shown.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::{
    correlate::Correlated,
    numbers::{self, Numeric},
    text_format,
};
use crate::{
    error::{ErrorList, FieldError, FieldPath, go},
    structural::{AdditionalProperties, Format, Schema, SchemaType, Structural, TextFormat},
};

/// How a schema is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// For objects: formats that are not known do not count, and an int-or-string has two types.
    Objects,
    /// For the defaults of a definition, where a real server forgets both.
    Defaults,
}

pub(super) fn validate(
    schema: &Schema,
    value: &Value,
    old: Option<&Value>,
    prefix: &FieldPath,
    reading: Reading,
) -> ErrorList {
    let mut walk = Walk { prefix, name: String::new(), reading };
    walk.node(schema, value, old.map(|old| Correlated { new: value, old, schema })).errors
}

/// What a check of one node found.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) errors: ErrorList,
    /// How many aspects passed, here and below.
    matches: usize,
}

/// A walk over a value. Messages name fields relative to the value that is checked, error paths are below
/// the prefix.
pub(super) struct Walk<'p> {
    prefix: &'p FieldPath,
    pub(super) name: String,
    reading: Reading,
}

impl Outcome {
    fn merge(&mut self, other: Self) {
        self.matches += other.matches;
        self.errors.extend(other.errors);
    }

    fn passed(&mut self) {
        self.matches += 1;
    }

    fn add(&mut self, error: Option<FieldError>) {
        self.errors.extend(error);
    }
}

impl Walk<'_> {
    fn node(&mut self, schema: &Schema, value: &Value, old: Option<Correlated<'_>>) -> Outcome {
        let mut outcome = self.aspects(schema, value, old);
        if !outcome.errors.is_empty() && old.is_some_and(Correlated::is_unchanged) {
            outcome.errors = ErrorList::new();
        }
        outcome
    }

    fn aspects(&mut self, schema: &Schema, value: &Value, old: Option<Correlated<'_>>) -> Outcome {
        let mut outcome = Outcome::default();
        if value.is_null() {
            match self.null_error(schema) {
                Some(error) => outcome.errors.push(error),
                None => outcome.passed(),
            }
            outcome.add(self.enumeration(schema, value));
            return outcome;
        }

        if !self.types(schema).is_empty() || self.has_format(schema) {
            match self.type_error(schema, value) {
                Some(error) => outcome.errors.push(error),
                None => outcome.passed(),
            }
            outcome.passed();
        }
        let combines = schema.not.is_some()
            || !(schema.all_of.is_empty() && schema.any_of.is_empty() && schema.one_of.is_empty());
        outcome.merge(if combines { self.combinations(schema, value) } else { Outcome::default() });
        outcome.matches += 2;
        match value {
            Value::String(text) => {
                outcome.add(self.string(schema, text));
                outcome.passed();
                if let Some(format) = self.text_format(schema) {
                    if !text_format::matches(format, text) {
                        outcome.errors.push(self.wrong_format(&schema.format, text));
                    }
                    outcome.passed();
                }
            }
            Value::Number(number) => {
                outcome.errors.extend(numbers::check(self, schema, Numeric::of(number)));
                outcome.matches += 2;
            }
            Value::Array(items) => {
                outcome.merge(self.list(schema, items, old));
                outcome.matches += 2;
            }
            _ => {}
        }
        outcome.add(self.enumeration(schema, value));
        outcome.passed();
        if let Value::Object(fields) = value {
            outcome.merge(self.object(schema, fields, old));
            outcome.passed();
        }
        outcome.passed();
        if combines {
            outcome.errors.deduplicate();
        }
        outcome
    }

    // === types ===

    pub(super) fn types(&self, schema: &Schema) -> &'static [SchemaType] {
        match self.reading {
            Reading::Objects => schema.types(),
            Reading::Defaults => schema.written_types(),
        }
    }

    fn has_format(&self, schema: &Schema) -> bool {
        match self.reading {
            Reading::Objects => schema.checked_format.is_some(),
            Reading::Defaults => !schema.format.is_empty(),
        }
    }

    fn text_format(&self, schema: &Schema) -> Option<TextFormat> {
        match (self.reading, schema.checked_format) {
            (Reading::Objects, Some(Format::Text(format))) => Some(format),
            (Reading::Objects, _) => None,
            (Reading::Defaults, _) => TextFormat::of(&schema.format),
        }
    }

    fn null_error(&self, schema: &Schema) -> Option<FieldError> {
        let types = self.types(schema);
        (!types.is_empty() && !schema.nullable).then(|| self.wrong_type(&type_names(types), "null"))
    }

    fn type_error(&self, schema: &Schema, value: &Value) -> Option<FieldError> {
        let types = self.types(schema);
        let (found, found_format) = match value {
            Value::Null => return None,
            Value::Bool(_) => (SchemaType::Boolean, ""),
            Value::String(_) => (SchemaType::String, ""),
            Value::Array(_) => (SchemaType::Array, ""),
            Value::Object(_) => (SchemaType::Object, ""),
            Value::Number(number) => match Numeric::of(number) {
                Numeric::Integer(_) => (SchemaType::Integer, "int64"),
                Numeric::Float(_) => (SchemaType::Number, "float64"),
            },
        };
        let is_whole = matches!(value, Value::Number(number) if Numeric::of(number).is_whole());
        let fits = types.contains(&found)
            || (found == SchemaType::Number && is_whole && types.contains(&SchemaType::Integer))
            || (found == SchemaType::Integer && types.contains(&SchemaType::Number));
        let is_text_like = matches!(value, Value::String(_) | Value::Array(_));
        let has_format = self.has_format(schema);
        if !is_text_like && has_format && !fits && found_format != schema.format {
            return Some(self.wrong_type(&schema.format, found_format));
        }
        // Go's validator takes a list for a string as soon as the string has a format.
        let is_numeric = types.contains(&SchemaType::Number) || types.contains(&SchemaType::Integer);
        if (!is_numeric && has_format && is_text_like) || fits {
            return None;
        }
        Some(self.wrong_type(&type_names(types), found.as_str()))
    }

    fn wrong_type(&self, expected: &str, found: &str) -> FieldError {
        let detail = format!("{} in body must be of type {expected}: {}", self.name, go::quote(found));
        FieldError::type_invalid(&self.field(), found, detail)
    }

    fn wrong_format(&self, format: &str, text: &str) -> FieldError {
        self.wrong_type(format, text)
    }

    // === combinations ===

    fn combinations(&mut self, schema: &Schema, value: &Value) -> Outcome {
        let mut outcome = Outcome::default();
        if !schema.any_of.is_empty() {
            outcome.merge(self.any_of(&schema.any_of, value));
        }
        if !schema.one_of.is_empty() {
            outcome.merge(self.one_of(&schema.one_of, value));
        }
        if !schema.all_of.is_empty() {
            let mut valid = 0;
            for alternative in &schema.all_of {
                let result = self.node(alternative, value, None);
                valid += usize::from(result.errors.is_empty());
                outcome.merge(result);
            }
            if valid != schema.all_of.len() {
                let suffix = if valid == 0 { ". None validated" } else { "" };
                outcome.errors.push(self.general(&format!(
                    "{} must validate all the schemas (allOf){suffix}",
                    go::quote(&self.name)
                )));
            }
        }
        if let Some(not) = &schema.not
            && self.node(not, value, None).errors.is_empty()
        {
            outcome
                .errors
                .push(self.general(&format!("{} must not validate the schema (not)", go::quote(&self.name))));
        }
        outcome
    }

    fn any_of(&mut self, alternatives: &[Structural], value: &Value) -> Outcome {
        let mut closest: Option<Outcome> = None;
        for alternative in alternatives {
            let result = self.node(alternative, value, None);
            if result.errors.is_empty() {
                return result;
            }
            if closest.as_ref().is_none_or(|closest| result.matches > closest.matches) {
                closest = Some(result);
            }
        }
        let mut outcome = Outcome::default();
        outcome.errors.push(
            self.general(&format!("{} must validate at least one schema (anyOf)", go::quote(&self.name))),
        );
        outcome.merge(closest.unwrap_or_default());
        outcome
    }

    fn one_of(&mut self, alternatives: &[Structural], value: &Value) -> Outcome {
        let mut closest: Option<Outcome> = None;
        let mut first_valid: Option<Outcome> = None;
        let mut valid = 0;
        for alternative in alternatives {
            let result = self.node(alternative, value, None);
            if result.errors.is_empty() {
                valid += 1;
                first_valid.get_or_insert(result);
            } else if closest.as_ref().is_none_or(|closest| result.matches > closest.matches) {
                closest = Some(result);
            }
        }
        let found = match valid {
            1 => return first_valid.unwrap_or_default(),
            0 => "Found none valid".to_owned(),
            _ => format!("Found {valid} valid alternatives"),
        };
        let mut outcome = Outcome::default();
        outcome.errors.push(self.general(&format!(
            "{} must validate one and only one schema (oneOf). {found}",
            go::quote(&self.name)
        )));
        if valid == 0 {
            outcome.merge(closest.unwrap_or_default());
        }
        outcome
    }

    // === strings ===

    fn string(&self, schema: &Schema, text: &str) -> Option<FieldError> {
        if schema.max_length.is_none() && schema.min_length.is_none() && schema.pattern.is_none() {
            return None;
        }
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(max) = schema.max_length
            && length > max
        {
            return Some(FieldError::too_long(&self.field(), max));
        }
        if let Some(min) = schema.min_length
            && length < min
        {
            return Some(self.invalid(text, &format!("should be at least {min} chars long")));
        }
        let pattern = schema.pattern.as_ref().filter(|pattern| !pattern.is_match(text))?;
        Some(self.invalid(text, &format!("should match '{pattern}'")))
    }

    // === lists ===

    fn list(&mut self, schema: &Schema, items: &[Value], old: Option<Correlated<'_>>) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(item_schema) = &schema.items {
            for (index, item) in items.iter().enumerate() {
                let length = self.name.len();
                // Writing to a string cannot fail.
                let _ = write!(self.name, "[{index}]");
                outcome.merge(self.node(item_schema, item, old.and_then(|old| old.item(index))));
                self.name.truncate(length);
            }
        }
        let size = size(items.len());
        if let Some(min) = schema.min_items
            && size < min
        {
            outcome.errors.push(self.invalid(size, &format!("should have at least {min} items")));
        }
        if let Some(max) = schema.max_items
            && size > max
        {
            outcome.errors.push(FieldError::too_many(&self.field(), size, max));
        }
        if schema.unique_items && (1..items.len()).any(|index| items[..index].contains(&items[index])) {
            outcome.errors.push(self.invalid("", "shouldn't contain duplicates"));
        }
        outcome
    }

    // === enums ===

    fn enumeration(&self, schema: &Schema, value: &Value) -> Option<FieldError> {
        if schema.enumeration.is_empty()
            || schema.enumeration.iter().any(|allowed| enum_allows(allowed, value))
        {
            return None;
        }
        let supported: Vec<String> = schema
            .enumeration
            .iter()
            .map(|allowed| allowed.as_str().map_or_else(|| go::json(allowed), str::to_owned))
            .collect();
        Some(FieldError::not_supported(&self.field(), value.clone(), &supported))
    }

    // === objects ===

    fn object(
        &mut self,
        schema: &Schema,
        fields: &Map<String, Value>,
        old: Option<Correlated<'_>>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let size = size(fields.len());
        if let Some(min) = schema.min_properties
            && size < min
        {
            outcome.errors.push(self.invalid(size, &format!("should have at least {min} properties")));
        }
        if let Some(max) = schema.max_properties
            && size > max
        {
            outcome.errors.push(FieldError::too_many(&self.field(), size, max));
        }
        let additional = fields.iter().filter(|(name, _)| !schema.properties.contains_key(*name));
        match &schema.additional_properties {
            Some(AdditionalProperties::Allowed(false)) => {
                for (name, _) in additional {
                    let detail = format!("{}.{name} in body is a forbidden property", self.name);
                    outcome.errors.push(FieldError::invalid(&self.field(), name.as_str(), detail));
                }
            }
            Some(AdditionalProperties::Schema(schema)) => {
                for (name, field) in additional {
                    let length = self.push(name, true);
                    outcome.merge(self.node(schema, field, old.and_then(|old| old.field(name))));
                    self.name.truncate(length);
                }
            }
            Some(AdditionalProperties::Allowed(true)) | None => {}
        }
        for (name, property) in &schema.properties {
            let Some(field) = fields.get(name) else { continue };
            // Both versions of an object have the type of the endpoint, so it cannot count as unchanged.
            let is_type_of_object = self.name.is_empty() && (name == "kind" || name == "apiVersion");
            let old = old.filter(|_| !is_type_of_object).and_then(|old| old.field(name));
            let length = self.push(name, false);
            outcome.merge(self.node(property, field, old));
            self.name.truncate(length);
        }
        for name in &schema.required {
            if !fields.contains_key(name) {
                let length = self.push(name, true);
                outcome.errors.push(FieldError::required(&self.field(), ""));
                self.name.truncate(length);
            }
        }
        outcome
    }

    // === errors and names ===

    /// Goes one field down. Go puts a dot before a name at the root in some places and not in others; the path of
    /// the error never has it, the message does.
    fn push(&mut self, name: &str, always_dot: bool) -> usize {
        let length = self.name.len();
        if always_dot || length > 0 {
            self.name.push('.');
        }
        self.name.push_str(name);
        length
    }

    pub(super) fn field(&self) -> FieldPath {
        match self.name.strip_prefix('.').unwrap_or(&self.name) {
            "" => self.prefix.clone(),
            name => self.prefix.child(name),
        }
    }

    pub(super) fn invalid(&self, value: impl Into<Value>, what: &str) -> FieldError {
        FieldError::invalid(&self.field(), value, format!("{} in body {what}", self.name))
    }

    /// An error that kube-openapi does not tie to a field; the text names it.
    pub(super) fn general(&self, text: &str) -> FieldError {
        FieldError::invalid(self.prefix, "", text)
    }
}

fn type_names(types: &[SchemaType]) -> String {
    types.iter().map(|schema_type| schema_type.as_str()).collect::<Vec<_>>().join(",")
}

fn size(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// Go converts the value to the type of the allowed one before it compares, so 1.5 passes for 1.
fn enum_allows(allowed: &Value, value: &Value) -> bool {
    match (allowed, value) {
        (Value::Number(allowed), Value::Number(value)) => {
            Numeric::of(value).converts_to(Numeric::of(allowed))
        }
        (Value::Null, _) => false,
        (allowed, value) => allowed == value,
    }
}
