//! What schemars says of a type.

use std::collections::BTreeMap;

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The prefix of references to definitions.
const DEFINITIONS: &str = "#/$defs/";

/// A type and all it refers to, in JSON schema draft 2020-12.
#[derive(Debug)]
pub(super) struct Generated {
    /// The name of the type's definition.
    pub(super) name: String,
    /// The type's schema and that of every type it refers to, by name.
    pub(super) definitions: Map<String, Value>,
    /// Fields in the order in which they are declared, by definition, as far as that is known.
    pub(super) order: BTreeMap<String, Vec<String>>,
}

/// Types stay behind references: only so a type's doc comment and that of a field with the type are both kept.
pub(super) fn generate<T: JsonSchema + ?Sized>() -> Generated {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    let mut generator: SchemaGenerator = settings.into_generator();
    let schema = generator.subschema_for::<T>().to_value();
    let mut definitions = generator.take_definitions(false);
    let name = match schema.get("$ref").and_then(Value::as_str).map(referenced) {
        Some(name) => name,
        // A type that is always written inline has no definition, so it gets one.
        None => {
            let name = T::schema_name().into_owned();
            definitions.insert(name.clone(), schema);
            name
        }
    };
    Generated { name, definitions, order: BTreeMap::new() }
}

/// The fields of each type in the order of their declaration, but without those that are left out where they are empty.
///
/// Objects of JSON have no order here. What a type always writes is a list, though, and keeps it.
pub(super) fn order<T: JsonSchema + ?Sized>() -> BTreeMap<String, Vec<String>> {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<T>();
    let definitions = generator.take_definitions(false);
    definitions
        .into_iter()
        .map(|(name, schema)| {
            let fields = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            (name, fields.filter_map(Value::as_str).map(str::to_owned).collect())
        })
        .collect()
}

/// The name of the definition that a `$ref` leads to.
pub(super) fn referenced(reference: &str) -> String {
    let encoded = reference.strip_prefix(DEFINITIONS).unwrap_or(reference);
    percent_decoded(encoded).replace("~1", "/").replace("~0", "~")
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = match tail {
            [high, low, ..] if *first == b'%' => {
                std::str::from_utf8(&[*high, *low]).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())
            }
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = tail.get(if code.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_definitions_are_decoded() {
        assert_eq!(referenced("#/$defs/io.k8s.api.core.v1.PodSpec"), "io.k8s.api.core.v1.PodSpec");
        assert_eq!(referenced("#/$defs/Of%3CT%3E~1a~0b"), "Of<T>/a~b");
        assert_eq!(referenced("#/$defs/100%"), "100%");
    }

    #[test]
    fn an_inlined_type_has_a_definition_too() {
        assert_eq!(generate::<String>().definitions["string"], serde_json::json!({"type": "string"}));
    }
}
