//! Where a path leads in the objects of a schema, without an object.

use super::{JsonPath, Operand, Step};
use crate::structural::{AdditionalProperties, Schema};

/// What a path finds in objects of a schema.
#[derive(Clone, Debug, PartialEq)]
pub enum Reach<'s> {
    /// Values of these schemas.
    Values(Vec<&'s Schema>),
    /// Whatever is there: the schema does not say what.
    Anything,
}

/// Why a path finds nothing in any object of a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreachable {
    /// A field that the object does not have.
    #[error("there is no field `{field}` in `{parent}`")]
    NoField {
        /// The field.
        field: String,
        /// The path of the object that does not have it; `.` for the root.
        parent: String,
        /// The fields that it has.
        fields: Vec<String>,
    },
    /// A field of something that is not an object.
    #[error("`{parent}` is of type {schema_type} and has no field `{field}`")]
    NotAnObject {
        /// The field.
        field: String,
        /// The path of the value.
        parent: String,
        /// Its type.
        schema_type: &'static str,
    },
    /// An item of something that is not a list.
    #[error("`{parent}` is of type {schema_type}, not a list")]
    NotAList {
        /// The path of the value.
        parent: String,
        /// Its type.
        schema_type: &'static str,
    },
}

impl JsonPath {
    /// What the path finds in objects of `schema`.
    ///
    /// ```
    /// use kubewright_schema::{JsonPath, Structural};
    /// use serde_json::json;
    ///
    /// let schema = Structural::parse(&json!({"type": "object", "properties": {
    ///     "size": {"type": "integer"},
    /// }})).unwrap();
    /// assert!(JsonPath::parse(".size").unwrap().reach(&schema).is_ok());
    /// let error = JsonPath::parse(".sise").unwrap().reach(&schema).unwrap_err();
    /// assert_eq!(error.to_string(), "there is no field `sise` in `.`");
    /// ```
    ///
    /// # Errors
    ///
    /// The first step that can lead nowhere.
    pub fn reach<'s>(&self, schema: &'s Schema) -> Result<Reach<'s>, Unreachable> {
        walk(&self.steps, vec![(String::new(), schema)])
    }
}

fn walk<'s>(steps: &[Step], mut at: Vec<(String, &'s Schema)>) -> Result<Reach<'s>, Unreachable> {
    for step in steps {
        let mut next = Vec::new();
        for (path, schema) in &at {
            match step {
                Step::Field(name) => match field(name, path, schema)? {
                    Some(found) => next.push((format!("{path}.{name}"), found)),
                    None => return Ok(Reach::Anything),
                },
                Step::Wildcard | Step::Recursive | Step::Union(_) => return Ok(Reach::Anything),
                Step::Slice(_) => match item(path, schema)? {
                    Some(found) => next.push((format!("{path}[*]"), found)),
                    None => return Ok(Reach::Anything),
                },
                Step::Filter(filter) => match item(path, schema)? {
                    Some(found) => {
                        let path = format!("{path}[*]");
                        let right = filter.comparison.as_ref().map(|(_, right)| right);
                        for operand in [Some(&filter.left), right].into_iter().flatten() {
                            if let Operand::Path(steps) = operand {
                                walk(steps, vec![(path.clone(), found)])?;
                            }
                        }
                        next.push((path, found));
                    }
                    None => return Ok(Reach::Anything),
                },
            }
        }
        at = next;
    }
    Ok(Reach::Values(at.into_iter().map(|(_, schema)| schema).collect()))
}

/// The schema of a field; none if it may be anything.
fn field<'s>(name: &str, path: &str, schema: &'s Schema) -> Result<Option<&'s Schema>, Unreachable> {
    if let Some(found) = schema.field(name) {
        return Ok(Some(found));
    }
    let parent = if path.is_empty() { ".".to_owned() } else { path.to_owned() };
    match schema.schema_type {
        Some(schema_type) if schema_type.as_str() != "object" => Err(Unreachable::NotAnObject {
            field: name.to_owned(),
            parent,
            schema_type: schema_type.as_str(),
        }),
        _ if is_open(schema) => Ok(None),
        _ => Err(Unreachable::NoField {
            field: name.to_owned(),
            parent,
            fields: schema.properties.keys().cloned().collect(),
        }),
    }
}

/// The schema of the items of a list; none if they may be anything.
fn item<'s>(path: &str, schema: &'s Schema) -> Result<Option<&'s Schema>, Unreachable> {
    match schema.schema_type {
        Some(schema_type) if schema_type.as_str() != "array" => {
            let parent = if path.is_empty() { ".".to_owned() } else { path.to_owned() };
            Err(Unreachable::NotAList { parent, schema_type: schema_type.as_str() })
        }
        _ => Ok(schema.items.as_deref()),
    }
}

/// Whether objects may have fields that the schema does not declare.
fn is_open(schema: &Schema) -> bool {
    schema.preserve_unknown_fields
        || schema.embedded_resource
        || schema.schema_type.is_none()
        || matches!(schema.additional_properties, Some(AdditionalProperties::Allowed(true)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Structural, structural::SchemaType};

    fn schema() -> Structural {
        Structural::parse(&json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "size": {"type": "integer"},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }},
            "status": {"type": "object", "properties": {
                "conditions": {"type": "array", "items": {"type": "object", "properties": {
                    "type": {"type": "string"}, "status": {"type": "string"},
                }}},
            }},
        }}))
        .expect("structural")
    }

    #[test]
    fn paths_that_lead_somewhere() {
        let schema = schema();
        let types = |path: &str| match JsonPath::parse(path).expect("a path").reach(&schema) {
            Ok(Reach::Values(found)) => found.iter().map(|schema| schema.schema_type).collect(),
            Ok(Reach::Anything) => vec![],
            Err(error) => panic!("{path}: {error}"),
        };
        assert_eq!(types(".spec.size"), [Some(SchemaType::Integer)]);
        assert_eq!(types(".spec.labels.any"), [Some(SchemaType::String)]);
        assert_eq!(types(r#".status.conditions[?(@.type=="Ready")].status"#), [Some(SchemaType::String)]);
        assert_eq!(types(".status.conditions[-1].type"), [Some(SchemaType::String)]);
        assert_eq!(types(".spec.raw.any.thing"), []);
        assert_eq!(types("..type"), []);
    }

    #[test]
    fn paths_that_lead_nowhere() {
        let schema = schema();
        for (path, reason) in [
            (".spec.sise", "there is no field `sise` in `.spec`"),
            (".spce.size", "there is no field `spce` in `.`"),
            (".spec.size.deeper", "`.spec.size` is of type integer and has no field `deeper`"),
            (".spec.labels.any.deeper", "`.spec.labels.any` is of type string and has no field `deeper`"),
            (".spec[0]", "`.spec` is of type object, not a list"),
            (".status.conditions.type", "`.status.conditions` is of type array and has no field `type`"),
            (
                r#".status.conditions[?(@.tpye=="Ready")].status"#,
                "there is no field `tpye` in `.status.conditions[*]`",
            ),
        ] {
            let reached = JsonPath::parse(path).expect("a path").reach(&schema);
            assert_eq!(reached.map_err(|error| error.to_string()), Err(reason.to_owned()), "{path}");
        }
    }
}
