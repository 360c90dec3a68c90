//! What kube's derive says in its attributes: `#[kube(..)]`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};

use super::{statement::Statement, version::Version};

/// Takes over what the derived definition says, except its schema.
///
/// What an attribute leaves out and the derive fills in is binding where the Rust type relies on it, as its client
/// asks for the plural name and its scope; it is not where it is a default of the definition alone, as the singular
/// name.
pub(super) fn apply(definition: CustomResourceDefinition, version: &mut Version) {
    let place = version.place();
    let said = |text: String| Statement::new(text, place.clone());
    let names = &mut version.names;
    for (entries, own) in [
        (definition.metadata.annotations, &mut names.annotations),
        (definition.metadata.labels, &mut names.labels),
    ] {
        for (key, value) in entries.unwrap_or_default() {
            own.entry(key).or_default().push(said(value));
        }
    }
    let spec = definition.spec;
    names.plural.push(said(spec.names.plural));
    names.scope.push(said(spec.scope));
    if let Some(singular) = spec.names.singular.filter(|name| *name != version.kind.to_ascii_lowercase()) {
        names.singular.push(said(singular));
    }
    for (list, own) in
        [(spec.names.short_names, &mut names.short_names), (spec.names.categories, &mut names.categories)]
    {
        if let Some(list) = list.filter(|list| !list.is_empty()) {
            own.push(Statement::new(list, place.clone()));
        }
    }
    let Some(native) = spec.versions.into_iter().next() else { return };
    version.native_storage = Some(native.storage);
    version.unserved |= !native.served;
    version.deprecated |= native.deprecated == Some(true);
    version.deprecation_warning.extend(native.deprecation_warning.map(said));
    if let Some(subresources) = native.subresources {
        version.status |= subresources.status.is_some();
        if let Some(scale) = subresources.scale {
            let mut value = json!({
                "specReplicasPath": scale.spec_replicas_path,
                "statusReplicasPath": scale.status_replicas_path,
            });
            if let Some(selector) = scale.label_selector_path {
                value["labelSelectorPath"] = selector.into();
            }
            version.scale.push(Statement::new(value, place.clone()));
        }
    }
    for column in native.additional_printer_columns.into_iter().flatten() {
        let mut value = json!({"jsonPath": column.json_path, "name": column.name, "type": column.type_});
        let texts = [("description", column.description), ("format", column.format)];
        for (key, text) in texts.into_iter().filter_map(|(key, text)| Some((key, text?))) {
            value[key] = text.into();
        }
        if let Some(priority) = column.priority.filter(|priority| *priority != 0) {
            value["priority"] = priority.into();
        }
        version.columns.push(Statement::new(value, place.clone()));
    }
    for field in native.selectable_fields.into_iter().flatten() {
        let value: Value = json!({"jsonPath": field.json_path});
        version.selectable_fields.push(Statement::new(value, place.clone()));
    }
}
