//! From keywords of a schema, and what else is said of a kind, to markers.

use kubewright_manifests::marker::syntax::print;
use serde_json::{Map, Value};

use super::definition::{Definition, DefinitionVersion};

/// Keywords that a type says, or that are no markers.
const STRUCTURE: &[&str] = &[
    "type",
    "properties",
    "required",
    "items",
    "additionalProperties",
    "description",
    "x-kubernetes-int-or-string",
];

/// A part of a schema that no marker says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unsaid;

/// What a marker stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    /// A field of a struct.
    Field,
    /// A type.
    Type,
    /// The list whose items it is about.
    Items,
}

/// The markers for the keywords of a schema, without those that its type says already.
pub(super) fn of_schema(schema: &Map<String, Value>, said: &[&str], on: On) -> Result<Vec<String>, Unsaid> {
    let mut markers = Vec::new();
    // In the order of the keywords, which is that of the alphabet, but for rules, which are long.
    let (rules, others): (Vec<_>, Vec<_>) =
        schema.iter().partition(|(keyword, _)| *keyword == "x-kubernetes-validations");
    for (keyword, value) in others.into_iter().chain(rules) {
        if !STRUCTURE.contains(&keyword.as_str()) && !said.contains(&keyword.as_str()) {
            of_keyword(keyword, value, on, &mut markers)?;
        }
    }
    Ok(markers)
}

fn of_keyword(keyword: &str, value: &Value, on: On, markers: &mut Vec<String>) -> Result<(), Unsaid> {
    let validation = |name: &str| match on {
        On::Items => format!("+kubebuilder:validation:items:{name}"),
        _ => format!("+kubebuilder:validation:{name}"),
    };
    let with_value = |name: &str| format!("{}={}", validation(name), print(value));
    // What may stand on fields alone, or not on the items of a list.
    let only = |places: &[On], marker: String| if places.contains(&on) { Ok(marker) } else { Err(Unsaid) };
    let is_true = *value == Value::Bool(true);
    let marker = match keyword {
        "minimum" => with_value("Minimum"),
        "maximum" => with_value("Maximum"),
        "exclusiveMinimum" if is_true => with_value("ExclusiveMinimum"),
        "exclusiveMaximum" if is_true => with_value("ExclusiveMaximum"),
        "multipleOf" => with_value("MultipleOf"),
        "minLength" => with_value("MinLength"),
        "maxLength" => with_value("MaxLength"),
        "pattern" => format!("{}={}", validation("Pattern"), raw(value.as_str().unwrap_or_default())),
        "format" => format!("{}={}", validation("Format"), value.as_str().unwrap_or_default()),
        "minItems" => with_value("MinItems"),
        "maxItems" => with_value("MaxItems"),
        "minProperties" => with_value("MinProperties"),
        "maxProperties" => with_value("MaxProperties"),
        "enum" => with_value("Enum"),
        "title" => only(&[On::Field, On::Type], format!("+kubebuilder:title={}", print(value)))?,
        "nullable" if is_true => only(&[On::Field], "+nullable".to_owned())?,
        "default" if !value.is_null() => {
            only(&[On::Field], format!("+kubebuilder:default={}", print(value)))?
        }
        "example" => only(&[On::Field], format!("+kubebuilder:example={}", print(value)))?,
        "externalDocs" => only(
            &[On::Field, On::Type],
            arguments("+kubebuilder:externalDocs", value, &[("url", "url"), ("description", "description")]),
        )?,
        "x-kubernetes-preserve-unknown-fields" if is_true => match on {
            On::Items => validation("XPreserveUnknownFields"),
            _ => "+kubebuilder:pruning:PreserveUnknownFields".to_owned(),
        },
        "x-kubernetes-embedded-resource" if is_true => validation("XEmbeddedResource"),
        "x-kubernetes-list-type" => {
            only(&[On::Field, On::Type], format!("+listType={}", value.as_str().unwrap_or_default()))?
        }
        "x-kubernetes-list-map-keys" => {
            for key in value.as_array().into_iter().flatten().filter_map(Value::as_str) {
                markers.push(only(&[On::Field, On::Type], format!("+listMapKey={key}"))?);
            }
            return Ok(());
        }
        "x-kubernetes-map-type" => {
            only(&[On::Field, On::Type], format!("+mapType={}", value.as_str().unwrap_or_default()))?
        }
        "x-kubernetes-validations" => {
            for rule in value.as_array().into_iter().flatten() {
                let names =
                    ["rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"];
                markers.push(arguments(&validation("XValidation"), rule, &names.map(|name| (name, name))));
            }
            return Ok(());
        }
        // These say what is so without them.
        "nullable"
        | "exclusiveMinimum"
        | "exclusiveMaximum"
        | "uniqueItems"
        | "x-kubernetes-embedded-resource"
            if *value == Value::Bool(false) =>
        {
            return Ok(());
        }
        _ => return Err(Unsaid),
    };
    markers.push(marker);
    Ok(())
}

/// The markers of the kind, which stand on its spec.
pub(super) fn of_kind(definition: &Definition, version: &DefinitionVersion, has_status: bool) -> Vec<String> {
    let mut markers = Vec::new();
    let mut names = Vec::new();
    if !definition.short_names.is_empty() {
        names.push(format!("shortName={}", definition.short_names.join(";")));
    }
    if !definition.categories.is_empty() {
        names.push(format!("categories={}", definition.categories.join(";")));
    }
    if !definition.singular.is_empty() {
        names.push(format!("singular={}", definition.singular));
    }
    if !names.is_empty() {
        markers.push(format!("+kubebuilder:resource:{}", names.join(",")));
    }
    let entries = |entries: &[(String, String)]| {
        let entries: Vec<Value> =
            entries.iter().map(|(key, value)| format!("{key}={value}").into()).collect();
        print(&entries.into())
    };
    if !definition.annotations.is_empty() {
        markers.push(format!("+kubebuilder:metadata:annotations={}", entries(&definition.annotations)));
    }
    if !definition.labels.is_empty() {
        markers.push(format!("+kubebuilder:metadata:labels={}", entries(&definition.labels)));
    }
    if version.storage && definition.versions.len() > 1 {
        markers.push("+kubebuilder:storageversion".to_owned());
    }
    if !version.served {
        markers.push("+kubebuilder:unservedversion".to_owned());
    }
    match version.deprecated.as_deref() {
        None => {}
        Some("") => markers.push("+kubebuilder:deprecatedversion".to_owned()),
        Some(warning) => {
            markers.push(format!("+kubebuilder:deprecatedversion:warning={}", print(&warning.into())));
        }
    }
    if version.status && !has_status {
        markers.push("+kubebuilder:subresource:status".to_owned());
    }
    if let Some(scale) = &version.scale {
        let paths = [
            ("specReplicasPath", "specpath"),
            ("statusReplicasPath", "statuspath"),
            ("labelSelectorPath", "selectorpath"),
        ];
        markers.push(arguments("+kubebuilder:subresource:scale", scale, &paths));
    }
    for column in &version.columns {
        let members = ["name", "type", "description", "format", "priority"].map(|name| (name, name));
        let members = [&members[..2], &[("jsonPath", "JSONPath")], &members[2..]].concat();
        markers.push(arguments("+kubebuilder:printcolumn", column, &members));
    }
    for path in &version.selectable {
        markers.push(format!("+kubebuilder:selectablefield:JSONPath={}", raw(path)));
    }
    markers
}

/// A marker with arguments: those members of an object that are there.
fn arguments(name: &str, object: &Value, members: &[(&str, &str)]) -> String {
    let members = members.iter().filter_map(|(member, argument)| {
        let value = object.get(*member)?;
        let value = match (value.as_str(), *argument) {
            (Some(path), "JSONPath" | "rule") => raw(path),
            // A word of few.
            (Some(word), "type" | "reason") => word.to_owned(),
            _ => print(value),
        };
        Some(format!("{argument}={value}"))
    });
    format!("{name}:{}", members.collect::<Vec<_>>().join(","))
}

/// A text in backticks, in which nothing is escaped; in quotes if it cannot stand in them.
fn raw(text: &str) -> String {
    if text.contains(|c: char| c == '`' || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        print(&text.into())
    } else {
        format!("`{text}`")
    }
}
