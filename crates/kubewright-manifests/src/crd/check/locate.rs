//! From a path of the document to the line of source it comes from.

use serde_json::Value;

use crate::{
    diagnostic::Place,
    marker::{self, Target},
    schema::Origin,
};

/// The schema of a version in a document.
const SCHEMA: &str = "schema.openAPIV3Schema";

/// Finds places by paths.
pub(super) struct Locator<'a> {
    document: String,
    origins: &'a [Origin],
}

// === impl Locator ===

impl<'a> Locator<'a> {
    pub(super) fn new(document: &Value, origins: &'a [Origin]) -> Self {
        let name = document["metadata"]["name"].as_str().unwrap_or_default();
        Self { document: format!("CustomResourceDefinition {name}"), origins }
    }

    /// The document as it is named in messages.
    pub(super) fn document(&self) -> &str {
        &self.document
    }

    /// Where `path` comes from: the marker that set it or something above it, else the field or type it stands for, else the
    /// document itself.
    pub(super) fn place(&self, path: &str) -> Place {
        let markers = self.origins.iter().filter(|origin| !origin.marker.is_empty());
        let sites = self.origins.iter().filter(|origin| origin.marker.is_empty());
        let nearest_marker = nearest(path, markers);
        let nearest_site = nearest(path, sites);
        // A marker above the field is about something else.
        let origin = match (nearest_marker, nearest_site) {
            (Some(marker), Some(site)) if site.path.len() > marker.path.len() => site,
            (Some(origin), _) | (None, Some(origin)) => origin,
            (None, None) => {
                return Place::Document { document: self.document.clone(), path: path.to_owned() };
            }
        };
        Place::Doc {
            type_name: origin.type_name.clone(),
            field: origin.field.clone(),
            marker: origin.marker.clone(),
            range: range(&origin.marker, path),
        }
    }
}

/// The origin with the longest path that leads to `path` or above.
fn nearest<'a>(path: &str, origins: impl Iterator<Item = &'a Origin>) -> Option<&'a Origin> {
    origins
        .filter_map(|origin| {
            let whole = whole(origin);
            leads_to(&whole, path).then_some((whole.len(), origin))
        })
        .max_by_key(|(length, _)| *length)
        .map(|(_, origin)| origin)
}

/// The path of an origin with its keyword.
fn whole(origin: &Origin) -> String {
    match (origin.path.as_str(), origin.keyword.as_str()) {
        ("", keyword) => keyword.to_owned(),
        (path, "") => path.to_owned(),
        (path, keyword) => format!("{path}.{keyword}"),
    }
}

fn leads_to(above: &str, path: &str) -> bool {
    path.strip_prefix(above)
        .is_some_and(|rest| above.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The bytes of the marker's argument that the last step of the path is about.
fn range(text: &str, path: &str) -> std::ops::Range<usize> {
    let whole = 0..text.len();
    let anywhere = [Target::Kind, Target::Type, Target::Field];
    let Ok(marker) = marker::parse(text, &anywhere) else { return whole };
    let last = path.rsplit('.').next().and_then(|step| step.split('[').next()).unwrap_or_default();
    let argument = match last {
        // The name of the definition begins with the plural.
        "name" | "plural" => "path",
        "shortNames" => "shortName",
        "jsonPath" => "JSONPath",
        "specReplicasPath" => "specpath",
        "statusReplicasPath" => "statuspath",
        "labelSelectorPath" => "selectorpath",
        other => other,
    };
    let named = marker.arguments.iter().find(|found| found.name == argument);
    let found = named.or_else(|| marker.arguments.iter().find(|found| found.name.is_empty()));
    found.map_or(whole, |argument| argument.range.clone())
}

/// An API server checks a form of the definition in which what all versions share stands at the top. Its paths are
/// turned into those of the document; what is shared is looked for in the first version.
pub(super) fn in_document(path: &str) -> String {
    let moved = [
        ("spec.validation.openAPIV3Schema", "spec.versions[0].schema.openAPIV3Schema"),
        ("spec.subresources", "spec.versions[0].subresources"),
        ("spec.additionalPrinterColumns", "spec.versions[0].additionalPrinterColumns"),
        ("spec.selectableFields", "spec.versions[0].selectableFields"),
    ];
    // Columns have their path under the name that it has in Go.
    let path = match path.strip_suffix(".JSONPath") {
        Some(column) if column.contains("additionalPrinterColumns[") => format!("{column}.jsonPath"),
        _ => path.to_owned(),
    };
    for (internal, own) in moved {
        if leads_to(internal, &path)
            && let Some(rest) = path.strip_prefix(internal)
        {
            return format!("{own}{rest}");
        }
    }
    path
}

/// A path in the middle of a sentence. Within a schema it is that of the field in objects, with the keyword before it:
/// `` `default` of `.spec.size` ``.
pub(super) fn shown(path: &str) -> String {
    let Some((_, inner)) = path.split_once(SCHEMA) else { return format!("`{path}`") };
    let mut rest = inner.trim_start_matches('.');
    let mut field = String::new();
    loop {
        let (step, length) = if let Some(named) = rest.strip_prefix("properties[") {
            let Some(end) = named.find("].").or_else(|| named.ends_with(']').then(|| named.len() - 1)) else {
                break;
            };
            (format!(".{}", &named[..end]), "properties[".len() + end + 1)
        } else if let Some(keyword) =
            ["items", "additionalProperties"].into_iter().find(|keyword| leads_to(keyword, rest))
        {
            ("[*]".to_owned(), keyword.len())
        } else {
            break;
        };
        field.push_str(&step);
        rest = rest[length..].trim_start_matches('.');
    }
    let field = if field.is_empty() { ".".to_owned() } else { field };
    if rest.is_empty() { format!("`{field}`") } else { format!("`{rest}` of `{field}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_internal_form_are_those_of_the_document() {
        for (internal, own) in [
            (
                "spec.validation.openAPIV3Schema.properties[spec].type",
                "spec.versions[0].schema.openAPIV3Schema.properties[spec].type",
            ),
            (
                "spec.additionalPrinterColumns[1].JSONPath",
                "spec.versions[0].additionalPrinterColumns[1].jsonPath",
            ),
            ("spec.versions[1].subresources.scale", "spec.versions[1].subresources.scale"),
            ("metadata.name", "metadata.name"),
        ] {
            assert_eq!(in_document(internal), own);
        }
    }

    #[test]
    fn paths_are_shown_as_fields() {
        let schema = "spec.versions[0].schema.openAPIV3Schema";
        for (path, shown_path) in [
            ("properties[spec].properties[size].default", "`default` of `.spec.size`"),
            ("properties[spec].properties[a.b].items.properties[c]", "`.spec.a.b[*].c`"),
            ("properties[spec].additionalProperties.type", "`type` of `.spec[*]`"),
            (
                "properties[items].x-kubernetes-validations[0].rule",
                "`x-kubernetes-validations[0].rule` of `.items`",
            ),
            ("type", "`type` of `.`"),
        ] {
            assert_eq!(shown(&format!("{schema}.{path}")), shown_path);
        }
        assert_eq!(shown("metadata.name"), "`metadata.name`");
    }

    #[test]
    fn a_path_leads_to_what_is_below_it() {
        assert!(leads_to("", "spec"));
        assert!(leads_to("spec.versions", "spec.versions[0]"));
        assert!(leads_to("spec.versions[0]", "spec.versions[0].name"));
        assert!(!leads_to("spec.versions[1]", "spec.versions[10]"));
        assert!(!leads_to("spec.max", "spec.maximum"));
    }
}
