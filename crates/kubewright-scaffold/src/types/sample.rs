//! An object that a schema allows: what has to be there, with the first value that fits.

use kubewright_schema::{
    error::FieldPath,
    structural::{Pattern, Structural},
};
use serde_json::{Map, Value, json};

use super::definition::{Definition, DefinitionVersion, items};

/// Texts of which one mostly matches a pattern.
const TEXTS: &[&str] = &[
    "sample",
    "example.com",
    "sample/sample",
    "example.com/sample",
    "1",
    "v1",
    "100m",
    "1Gi",
    "30s",
    "/",
    "/sample",
    "https://example.com",
    "10.0.0.0/8",
    "10.0.0.1",
    "10:00",
    "SAMPLE",
    "Sample",
    "*",
    "sample=sample",
    "a",
    "A",
    "#",
];

/// A text of a format.
const FORMATS: &[(&str, &str)] = &[
    ("date-time", "2030-01-01T00:00:00Z"),
    ("date", "2030-01-01"),
    ("duration", "30s"),
    ("byte", "c2FtcGxl"),
    ("email", "sample@example.com"),
    ("hostname", "example.com"),
    ("ipv4", "10.0.0.1"),
    ("ipv6", "2001:db8::1"),
    ("cidr", "10.0.0.0/8"),
    ("mac", "00:00:5e:00:53:01"),
    ("uri", "https://example.com"),
    ("uuid", "123e4567-e89b-42d3-a456-426614174000"),
];

/// A sample of a version, and what keeps it from being one that an API server takes.
pub(super) fn sample(definition: &Definition, version: &DefinitionVersion) -> (Value, Vec<String>) {
    let schema = Value::Object(version.schema.clone());
    let mut object = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let needed = items(&schema["required"]).any(|required| required == name.as_str()) || name == "spec";
        if needed && !["apiVersion", "kind", "metadata", "status"].contains(&name.as_str()) {
            object.insert(name.clone(), value(property));
        }
    }
    object.insert("apiVersion".to_owned(), format!("{}/{}", definition.group, version.name).into());
    object.insert("kind".to_owned(), definition.kind.as_str().into());
    object
        .insert("metadata".to_owned(), json!({"name": format!("{}-sample", definition.kind.to_lowercase())}));
    let object = Value::Object(object);
    // As a server sees it: with its defaults, and checked by all rules.
    let mut stored = object.clone();
    let errors = Structural::parse(&schema).and_then(|structural| {
        structural.apply_defaults(&mut stored);
        let errors = structural.validate(&stored, None, &FieldPath::root());
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    });
    let problems = errors.err().map(|errors| errors.iter().map(ToString::to_string).collect());
    (object, problems.unwrap_or_default())
}

fn value(schema: &Value) -> Value {
    if let Some(example) = schema.get("default").or_else(|| schema.get("example")) {
        return example.clone();
    }
    if let Some(first) = items(&schema["enum"]).next() {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("object") => object(schema),
        Some("array") => {
            let count = usize::try_from(schema["minItems"].as_u64().unwrap_or(0)).unwrap_or(0);
            vec![value(&schema["items"]); count].into()
        }
        Some("boolean") => true.into(),
        Some("integer" | "number") => number(schema),
        Some("string") => text(schema),
        _ if schema["x-kubernetes-int-or-string"] == true => match schema.get("pattern") {
            Some(_) => text(schema),
            None => 1.into(),
        },
        _ => json!({}),
    }
}

fn object(schema: &Value) -> Value {
    let mut object = Map::new();
    // Of alternatives, the first.
    let alternative = ["oneOf", "anyOf"].into_iter().find_map(|keyword| schema[keyword].get(0));
    let required =
        items(&schema["required"]).chain(alternative.into_iter().flat_map(|first| items(&first["required"])));
    for name in required.filter_map(Value::as_str) {
        object.insert(name.to_owned(), value(&schema["properties"][name]));
    }
    if schema["x-kubernetes-embedded-resource"] == true {
        object.insert("apiVersion".to_owned(), "v1".into());
        object.insert("kind".to_owned(), "ConfigMap".into());
        object.insert("metadata".to_owned(), json!({"name": "sample"}));
    }
    // Entries to make it large enough.
    for at in object.len()..usize::try_from(schema["minProperties"].as_u64().unwrap_or(0)).unwrap_or(0) {
        match (schema["properties"].as_object(), schema.get("additionalProperties")) {
            (Some(properties), _) => {
                let Some((name, property)) = properties.iter().find(|(name, _)| !object.contains_key(*name))
                else {
                    break;
                };
                object.insert(name.clone(), value(property));
            }
            (None, Some(values)) => drop(object.insert(format!("sample{at}"), value(values))),
            (None, None) => break,
        }
    }
    object.into()
}

fn number(schema: &Value) -> Value {
    let (minimum, maximum) = (schema["minimum"].as_i64(), schema["maximum"].as_i64());
    let step = schema["multipleOf"].as_i64().unwrap_or(1).max(1);
    let lowest = match (minimum, schema["exclusiveMinimum"] == true) {
        (Some(minimum), true) => minimum.saturating_add(1),
        (Some(minimum), false) => minimum,
        // One of something is more of an example than none.
        (None, _) => maximum.map_or(1, |maximum| maximum.min(1)),
    };
    let aligned = lowest.saturating_add((step - lowest.rem_euclid(step)) % step);
    aligned.into()
}

fn text(schema: &Value) -> Value {
    let least = usize::try_from(schema["minLength"].as_u64().unwrap_or(0)).unwrap_or(0);
    let most =
        schema["maxLength"].as_u64().map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let pattern = schema["pattern"].as_str().and_then(|pattern| Pattern::new(pattern).ok());
    let fits = |text: &&str| {
        (least..=most).contains(&text.chars().count())
            && pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
    };
    let of_format = FORMATS.iter().find(|(format, _)| schema["format"] == *format).map(|(_, text)| *text);
    let filled = "a".repeat(least.min(most).min(1000));
    let candidates = of_format.into_iter().chain(TEXTS.iter().copied()).chain([filled.as_str()]);
    candidates.into_iter().find(fits).unwrap_or("sample").into()
}
