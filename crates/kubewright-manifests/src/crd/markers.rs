//! What the markers on the type of a kind say of it.

use serde_json::{Map, Value, json};

use super::{conversion::ConversionWebhook, statement::Statement, version::Version};
use crate::{
    diagnostic::{Diagnostic, Place, Severity},
    marker::{CrdEffect, Effect, Marker},
};

/// Takes over what this marker says; nothing if it is not about a kind.
pub(super) fn apply(
    marker: &Marker,
    type_name: &str,
    version: &mut Version,
    conversion: &mut Vec<Statement<ConversionWebhook>>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Effect::Crd(effect) = marker.definition.effect else { return };
    let place = |argument: &str| place(marker, argument, type_name);
    let text = |argument: &str| marker.argument(argument).and_then(Value::as_str).map(str::to_owned);
    let said = |argument: &str| text(argument).map(|text| Statement::new(text, place(argument)));
    match effect {
        CrdEffect::Resource => {
            let names = &mut version.names;
            names.plural.extend(said("path"));
            names.singular.extend(said("singular"));
            names.scope.extend(said("scope"));
            names.short_names.extend(list(marker, "shortName", type_name));
            names.categories.extend(list(marker, "categories", type_name));
        }
        CrdEffect::StatusSubresource => version.status = true,
        CrdEffect::ScaleSubresource => {
            let scale = object(&[
                ("specReplicasPath", text("specpath")),
                ("statusReplicasPath", text("statuspath")),
                ("labelSelectorPath", text("selectorpath")),
            ]);
            version.scale.push(Statement::new(scale, place("")));
        }
        CrdEffect::PrintColumn => {
            let mut column = object(&[
                ("name", text("name")),
                ("type", text("type")),
                ("jsonPath", text("JSONPath")),
                ("description", text("description")),
                ("format", text("format")),
            ]);
            if let Some(priority) = marker.argument("priority").and_then(Value::as_i64)
                && priority != 0
            {
                column["priority"] = priority.into();
            }
            version.columns.push(Statement::new(column, place("")));
        }
        CrdEffect::SelectableField => {
            let field = json!({"jsonPath": text("JSONPath").unwrap_or_default()});
            version.selectable_fields.push(Statement::new(field, place("JSONPath")));
        }
        CrdEffect::StorageVersion => version.storage = Some(place("")),
        CrdEffect::UnservedVersion => version.unserved = true,
        CrdEffect::DeprecatedVersion => {
            version.deprecated = true;
            version.deprecation_warning.extend(said("warning"));
        }
        CrdEffect::SkipVersion => version.skipped = true,
        CrdEffect::Metadata => metadata(marker, type_name, version, diagnostics),
        CrdEffect::Conversion => {
            let of_service = ["path", "serviceName", "serviceNamespace", "servicePort"];
            if marker.argument("url").is_some()
                && let Some(other) = of_service.into_iter().find(|name| marker.argument(name).is_some())
            {
                diagnostics.push(Diagnostic {
                    severity: Severity::Error,
                    code: "contradiction".to_owned(),
                    message: format!("the webhook is at a URL, so it has no `{other}`"),
                    place: place(other),
                    help: vec!["give either `url`, or the service and its path".to_owned()],
                });
            }
            conversion.push(Statement::new(webhook(marker), place("")));
        }
    }
}

/// The place of an argument, or of the whole marker if it has none of this name.
fn place(marker: &Marker, argument: &str, type_name: &str) -> Place {
    let found = marker.arguments.iter().find(|found| found.name == argument && !argument.is_empty());
    Place::Doc {
        type_name: type_name.to_owned(),
        field: None,
        marker: marker.text.clone(),
        range: found.map_or(0..marker.text.len(), |argument| argument.range.clone()),
    }
}

fn list(marker: &Marker, argument: &str, type_name: &str) -> Option<Statement<Vec<String>>> {
    let items = marker.argument(argument)?.as_array()?;
    let items = items.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    Some(Statement::new(items, place(marker, argument, type_name)))
}

/// An object of the texts that are there and not empty.
fn object(texts: &[(&str, Option<String>)]) -> Value {
    let present = texts.iter().filter_map(|(key, text)| {
        let text = text.as_deref().filter(|text| !text.is_empty())?;
        Some(((*key).to_owned(), text.into()))
    });
    present.collect::<Map<String, Value>>().into()
}

fn metadata(marker: &Marker, type_name: &str, version: &mut Version, diagnostics: &mut Vec<Diagnostic>) {
    let names = &mut version.names;
    for (argument, own) in [("annotations", &mut names.annotations), ("labels", &mut names.labels)] {
        let Some(entries) = list(marker, argument, type_name) else { continue };
        for entry in entries.value {
            if let Some((key, value)) = entry.split_once('=') {
                let value = Statement::new(value.to_owned(), entries.place.clone());
                own.entry(key.to_owned()).or_default().push(value);
            } else {
                diagnostics.push(Diagnostic {
                    severity: Severity::Error,
                    code: "invalid-value".to_owned(),
                    message: format!("`{entry}` is not in the form `key=value`"),
                    place: entries.place.clone(),
                    help: vec![format!("write {argument}=\"example.com/key=value\"")],
                });
            }
        }
    }
}

fn webhook(marker: &Marker) -> ConversionWebhook {
    let text = |argument: &str| marker.argument(argument).and_then(Value::as_str);
    let mut webhook = match text("url") {
        Some(url) => ConversionWebhook::url(url),
        None => ConversionWebhook::service(
            text("serviceNamespace").unwrap_or("system"),
            text("serviceName").unwrap_or("webhook-service"),
        ),
    };
    if let Some(path) = text("path") {
        webhook = webhook.path(path);
    }
    if let Some(port) = marker.argument("servicePort").and_then(Value::as_i64) {
        webhook = webhook.port(i32::try_from(port).unwrap_or(i32::MAX));
    }
    if let Some(versions) = marker.argument("reviewVersions").and_then(Value::as_array) {
        webhook = webhook.review_versions(versions.iter().filter_map(Value::as_str));
    }
    if let Some(certificate) = text("injectCAFrom") {
        webhook = webhook.inject_ca_from(certificate);
    }
    webhook
}
