//! Versions as Go's JSON of the internal types: their fields have no names of their own for JSON, and none is left out.

use serde_json::Value;

use crate::error::go;

/// How a field is shown. What is absent, is null where nothing else is said.
#[derive(Clone, Copy)]
enum Form {
    /// As it is.
    Json,
    /// Empty if it is absent.
    Text,
    /// False if it is absent.
    Flag,
    /// Zero if it is absent.
    Integer,
    Struct(Fields),
    List(Fields),
    Schema,
    Schemas,
    /// By their names.
    SchemaMap,
    /// A schema, or one for each item.
    Items,
    /// A schema, or whether there may be any.
    Additional,
    /// By their names a schema or a list of properties each.
    Dependencies,
}

/// The name in the API, that of the field in Go, and the form of each field, in Go's order.
type Fields = &'static [(&'static str, &'static str, Form)];

const SCHEMA: Fields = &[
    ("id", "ID", Form::Text),
    ("$schema", "Schema", Form::Text),
    ("$ref", "Ref", Form::Json),
    ("description", "Description", Form::Text),
    ("type", "Type", Form::Text),
    ("nullable", "Nullable", Form::Flag),
    ("format", "Format", Form::Text),
    ("title", "Title", Form::Text),
    ("default", "Default", Form::Json),
    ("maximum", "Maximum", Form::Json),
    ("exclusiveMaximum", "ExclusiveMaximum", Form::Flag),
    ("minimum", "Minimum", Form::Json),
    ("exclusiveMinimum", "ExclusiveMinimum", Form::Flag),
    ("maxLength", "MaxLength", Form::Json),
    ("minLength", "MinLength", Form::Json),
    ("pattern", "Pattern", Form::Text),
    ("maxItems", "MaxItems", Form::Json),
    ("minItems", "MinItems", Form::Json),
    ("uniqueItems", "UniqueItems", Form::Flag),
    ("multipleOf", "MultipleOf", Form::Json),
    ("enum", "Enum", Form::Json),
    ("maxProperties", "MaxProperties", Form::Json),
    ("minProperties", "MinProperties", Form::Json),
    ("required", "Required", Form::Json),
    ("items", "Items", Form::Items),
    ("allOf", "AllOf", Form::Schemas),
    ("oneOf", "OneOf", Form::Schemas),
    ("anyOf", "AnyOf", Form::Schemas),
    ("not", "Not", Form::Schema),
    ("properties", "Properties", Form::SchemaMap),
    ("additionalProperties", "AdditionalProperties", Form::Additional),
    ("patternProperties", "PatternProperties", Form::SchemaMap),
    ("dependencies", "Dependencies", Form::Dependencies),
    ("additionalItems", "AdditionalItems", Form::Additional),
    ("definitions", "Definitions", Form::SchemaMap),
    ("externalDocs", "ExternalDocs", Form::Struct(DOCS)),
    ("example", "Example", Form::Json),
    ("x-kubernetes-preserve-unknown-fields", "XPreserveUnknownFields", Form::Json),
    ("x-kubernetes-embedded-resource", "XEmbeddedResource", Form::Flag),
    ("x-kubernetes-int-or-string", "XIntOrString", Form::Flag),
    ("x-kubernetes-list-map-keys", "XListMapKeys", Form::Json),
    ("x-kubernetes-list-type", "XListType", Form::Json),
    ("x-kubernetes-map-type", "XMapType", Form::Json),
    ("x-kubernetes-validations", "XValidations", Form::List(RULE)),
];

const DOCS: Fields = &[("description", "Description", Form::Text), ("url", "URL", Form::Text)];

const RULE: Fields = &[
    ("rule", "Rule", Form::Text),
    ("message", "Message", Form::Text),
    ("messageExpression", "MessageExpression", Form::Text),
    ("reason", "Reason", Form::Json),
    ("fieldPath", "FieldPath", Form::Text),
    ("optionalOldSelf", "OptionalOldSelf", Form::Json),
];

const SCALE: Fields = &[
    ("specReplicasPath", "SpecReplicasPath", Form::Text),
    ("statusReplicasPath", "StatusReplicasPath", Form::Text),
    ("labelSelectorPath", "LabelSelectorPath", Form::Json),
];

const VERSION: Fields = &[
    ("name", "Name", Form::Text),
    ("served", "Served", Form::Flag),
    ("storage", "Storage", Form::Flag),
    ("deprecated", "Deprecated", Form::Flag),
    ("deprecationWarning", "DeprecationWarning", Form::Json),
    ("schema", "Schema", Form::Struct(&[("openAPIV3Schema", "OpenAPIV3Schema", Form::Schema)])),
    (
        "subresources",
        "Subresources",
        Form::Struct(&[("status", "Status", Form::Struct(&[])), ("scale", "Scale", Form::Struct(SCALE))]),
    ),
    (
        "additionalPrinterColumns",
        "AdditionalPrinterColumns",
        Form::List(&[
            ("name", "Name", Form::Text),
            ("type", "Type", Form::Text),
            ("format", "Format", Form::Text),
            ("description", "Description", Form::Text),
            ("priority", "Priority", Form::Integer),
            ("jsonPath", "JSONPath", Form::Text),
        ]),
    ),
    ("selectableFields", "SelectableFields", Form::List(&[("jsonPath", "JSONPath", Form::Text)])),
];

/// A version of a definition.
pub(super) fn version(version: &Value) -> String {
    fields(version, VERSION)
}

fn fields(object: &Value, fields: Fields) -> String {
    let shown: Vec<String> = fields
        .iter()
        .map(|(name, go_name, form)| format!("\"{go_name}\":{}", field(&object[*name], *form)))
        .collect();
    format!("{{{}}}", shown.join(","))
}

fn field(value: &Value, form: Form) -> String {
    match (form, value) {
        (Form::Text, Value::Null) => "\"\"".to_owned(),
        (Form::Flag, Value::Null) => "false".to_owned(),
        (Form::Integer, Value::Null) => "0".to_owned(),
        (_, Value::Null) => "null".to_owned(),
        (Form::Struct(of), _) => fields(value, of),
        (Form::List(of), Value::Array(items)) => list(items, of),
        (Form::Schema, _) => fields(value, SCHEMA),
        (Form::Schemas, Value::Array(schemas)) => list(schemas, SCHEMA),
        (Form::SchemaMap, Value::Object(_)) => map(value, |value| fields(value, SCHEMA)),
        (Form::Items, Value::Array(schemas)) => {
            format!("{{\"Schema\":null,\"JSONSchemas\":{}}}", list(schemas, SCHEMA))
        }
        (Form::Items, _) => format!("{{\"Schema\":{},\"JSONSchemas\":null}}", fields(value, SCHEMA)),
        (Form::Additional, Value::Bool(allowed)) => format!("{{\"Allows\":{allowed},\"Schema\":null}}"),
        (Form::Additional, _) => format!("{{\"Allows\":true,\"Schema\":{}}}", fields(value, SCHEMA)),
        (Form::Dependencies, Value::Object(_)) => map(value, |value| match value {
            Value::Array(_) => format!("{{\"Schema\":null,\"Property\":{}}}", go::json(value)),
            _ => format!("{{\"Schema\":{},\"Property\":null}}", fields(value, SCHEMA)),
        }),
        _ => go::json(value),
    }
}

fn list(items: &[Value], of: Fields) -> String {
    let items: Vec<String> = items.iter().map(|item| fields(item, of)).collect();
    format!("[{}]", items.join(","))
}

/// Keys are sorted.
fn map(value: &Value, show: impl Fn(&Value) -> String) -> String {
    let mut entries: Vec<(&String, &Value)> = value.as_object().into_iter().flatten().collect();
    entries.sort_by_key(|(name, _)| *name);
    let entries: Vec<String> = entries
        .into_iter()
        .map(|(name, value)| format!("{}:{}", go::json(&name.as_str().into()), show(value)))
        .collect();
    format!("{{{}}}", entries.join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_absent_is_empty_or_null() {
        assert_eq!(
            version(&json!({"name": "v1", "served": true})),
            r#"{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}"#
        );
    }

    #[test]
    fn schemas_have_all_their_fields() {
        let shown = version(&json!({
            "schema": {"openAPIV3Schema": {
                "properties": {"b": {"items": {"maximum": 1.0}}, "a": {"additionalProperties": true}},
                "x-kubernetes-validations": [{"rule": "a < b"}],
            }},
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".a"}},
            "additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": ".a"}],
            "selectableFields": [{"jsonPath": ".a"}],
        }));
        for part in [
            r#""Schema":{"OpenAPIV3Schema":{"ID":"","Schema":"","Ref":null,"Description":"""#,
            r#""Properties":{"a":{"ID":"","#,
            r#""AdditionalProperties":{"Allows":true,"Schema":null}"#,
            r#""Items":{"Schema":{"ID":"","#,
            r#""Maximum":1,"ExclusiveMaximum":false"#,
            r#""XValidations":[{"Rule":"a \u003c b","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}]"#,
            r#""Subresources":{"Status":{},"Scale":{"SpecReplicasPath":".a","StatusReplicasPath":"","LabelSelectorPath":null}}"#,
            r#"[{"Name":"A","Type":"string","Format":"","Description":"","Priority":0,"JSONPath":".a"}]"#,
            r#""SelectableFields":[{"JSONPath":".a"}]"#,
        ] {
            assert!(shown.contains(part), "{part} is not in {shown}");
        }
    }
}
