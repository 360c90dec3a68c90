//! Whether the paths of columns and of the scale subresource lead to something.
//!
//! An API server takes any path. One with a typo shows an empty column, or makes `kubectl scale` fail.

use kubewright_schema::{
    FieldPath, JsonPath, Structural,
    jsonpath::{Reach, Unreachable},
    structural::SchemaType,
};
use serde_json::{Value, json};

use super::locate::Locator;
use crate::{
    diagnostic::{Diagnostic, Severity},
    marker::nearest::nearest,
};

pub(super) fn check(document: &Value, severity: Severity, locator: &Locator<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for (index, version) in items(&document["spec"]["versions"]).iter().enumerate() {
        let at = format!("spec.versions[{index}]");
        // A schema that cannot be read is refused anyway.
        let Some(schema) = whole_schema(&version["schema"]["openAPIV3Schema"]) else { continue };
        let mut checker = Checker { schema, severity, locator, diagnostics: &mut diagnostics };
        for (index, column) in items(&version["additionalPrinterColumns"]).iter().enumerate() {
            let name = column["name"].as_str().unwrap_or_default();
            let shown = match column["type"].as_str() {
                Some("integer") => &[SchemaType::Integer, SchemaType::Number][..],
                Some("number") => &[SchemaType::Number, SchemaType::Integer],
                Some("boolean") => &[SchemaType::Boolean],
                Some("date") => &[SchemaType::String],
                _ => &[],
            };
            let what = format!("the column {name:?}");
            checker.path(
                &what,
                shown,
                &column["jsonPath"],
                &format!("{at}.additionalPrinterColumns[{index}].jsonPath"),
            );
        }
        let scale = &version["subresources"]["scale"];
        for (key, what, shown) in [
            ("specReplicasPath", "the wanted number of replicas", SchemaType::Integer),
            ("statusReplicasPath", "the present number of replicas", SchemaType::Integer),
            ("labelSelectorPath", "the selector of the pods", SchemaType::String),
        ] {
            checker.path(what, &[shown], &scale[key], &format!("{at}.subresources.scale.{key}"));
        }
    }
    diagnostics
}

struct Checker<'a> {
    schema: Structural,
    severity: Severity,
    locator: &'a Locator<'a>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Checker<'_> {
    /// Follows a path. With `wanted`, what it leads to must be of one of these types.
    fn path(&mut self, what: &str, wanted: &[SchemaType], path: &Value, at: &str) {
        let Some(path) = path.as_str() else { return };
        let parsed = match JsonPath::parse(path) {
            Ok(parsed) => parsed,
            Err(error) => {
                return self.fault(
                    "invalid-path",
                    format!("{what}: `{path}` is not a path: {error}"),
                    at,
                    Vec::new(),
                );
            }
        };
        let reached = match parsed.reach(&self.schema) {
            Ok(reached) => reached,
            Err(error) => {
                let help = suggestion(&error);
                return self.fault("no-such-field", format!("{what} is always empty: {error}"), at, help);
            }
        };
        let Reach::Values(found) = reached else { return };
        // A value without a type, or that may be of two, is left to the one who sees it.
        let types: Vec<_> = found.iter().filter_map(|schema| schema.schema_type).collect();
        if wanted.is_empty() || types.is_empty() || types.iter().any(|found| wanted.contains(found)) {
            return;
        }
        if let (Some(wanted), Some(found)) = (wanted.first(), types.first()) {
            let (wanted, found) = (wanted.as_str(), found.as_str());
            let message = format!(
                "{what} is always empty: it shows values of type {wanted}, but `{path}` is of type {found}"
            );
            self.fault("other-type", message, at, Vec::new());
        }
    }

    fn fault(&mut self, code: &str, message: String, at: &str, help: Vec<String>) {
        self.diagnostics.push(Diagnostic {
            severity: self.severity,
            code: code.to_owned(),
            message,
            place: self.locator.place(at),
            help,
        });
    }
}

fn suggestion(error: &Unreachable) -> Vec<String> {
    let Unreachable::NoField { field, fields, .. } = error else { return Vec::new() };
    match nearest(field, fields.iter().map(String::as_str)) {
        Some(name) => vec![format!("there is a field `{name}`")],
        None if fields.is_empty() => Vec::new(),
        None => vec![format!("there are the fields `{}`", fields.join("`, `"))],
    }
}

/// The schema with the metadata of every object, which a definition leaves to the API server.
fn whole_schema(schema: &Value) -> Option<Structural> {
    let mut schema = schema.clone();
    let text = json!({"type": "string"});
    let texts = json!({"type": "object", "additionalProperties": text});
    let any =
        json!({"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    *schema.pointer_mut("/properties/metadata")? = json!({"type": "object", "properties": {
        "name": text, "generateName": text, "namespace": text, "uid": text, "resourceVersion": text, "selfLink": text,
        "creationTimestamp": text, "deletionTimestamp": text,
        "generation": {"type": "integer"}, "deletionGracePeriodSeconds": {"type": "integer"},
        "labels": texts, "annotations": texts,
        "finalizers": {"type": "array", "items": text},
        "ownerReferences": any, "managedFields": any,
    }});
    Structural::read_at(&schema, &FieldPath::root()).ok()
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}
