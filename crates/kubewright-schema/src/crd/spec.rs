use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    conversion, items, names, schema,
    shared::{Part, Spec, Version},
    text, version,
};
use crate::{
    error::{ErrorList, FieldError, FieldPath},
    names::dns1123_subdomain,
};

/// Checks a spec. With `any_ca_bundle`, the certificates of a webhook may be anything: they count once the definition
/// is established. `old` is the stored spec on an update.
pub(super) fn validate(spec: &Value, old: Option<&Value>, any_ca_bundle: bool) -> ErrorList {
    let path = FieldPath::new("spec");
    let stored = Stored(old);
    let spec = Spec::new(spec);
    let mut errors = ErrorList::new();
    group_and_scope(spec.spec, &path, &mut errors);
    schemas_are_there(&spec, &path, &mut errors);
    let preserves = spec.spec["preserveUnknownFields"] == true;
    if preserves
        && schema::any(&spec, |schema| schema.get("default").is_some_and(|default| !default.is_null()))
    {
        let detail = "must be false in order to use defaults in the schema";
        errors.push(FieldError::invalid(&path.child("preserveUnknownFields"), true, detail));
    }
    versions(&spec, stored, &path, &mut errors);
    required_names(&spec.spec["names"], &path, &mut errors);
    errors.extend(names::validate(&spec.spec["names"], &path.child("names")));
    shared_parts(&spec, stored, &path, &mut errors);
    let conversion = &spec.spec["conversion"];
    let strategy = text(&conversion["strategy"]);
    if preserves && !conversion.is_null() && strategy != "None" {
        let detail = "must be None if spec.preserveUnknownFields is true";
        errors.push(FieldError::invalid(&path.child("conversion").child("strategy"), strategy, detail));
    }
    errors.extend(conversion::validate(conversion, any_ca_bundle, &path.child("conversion")));
    errors
}

/// The spec that is stored, if there is one.
#[derive(Clone, Copy)]
struct Stored<'a>(Option<&'a Value>);

impl Stored<'_> {
    /// Whether the version of the same name has the same schema.
    fn has_schema_of(self, version: &Value) -> bool {
        let versions = items(self.0.and_then(|old| old.get("versions")));
        versions
            .iter()
            .find(|stored| stored["name"] == version["name"])
            .is_some_and(|stored| stored["schema"] == version["schema"])
    }
}

/// The error of a value that is not one of the known ones. An empty value is missing.
pub(super) fn one_of(value: &str, known: &[&str], path: &FieldPath) -> Option<FieldError> {
    match value {
        "" => Some(FieldError::required(path, "")),
        value if known.contains(&value) => None,
        value => Some(FieldError::not_supported(path, value, known)),
    }
}

fn group_and_scope(spec: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let group = text(&spec["group"]);
    let group_path = path.child("group");
    let reasons = dns1123_subdomain(group);
    if group.is_empty() {
        errors.push(FieldError::required(&group_path, ""));
    } else if !reasons.is_empty() {
        errors.push(FieldError::invalid(&group_path, group, reasons.join(",")));
    } else if !group.contains('.') {
        errors.push(FieldError::invalid(&group_path, group, "should be a domain with at least one dot"));
    }
    errors.extend(one_of(text(&spec["scope"]), &["Cluster", "Namespaced"], &path.child("scope")));
}

fn schemas_are_there(spec: &Spec<'_>, path: &FieldPath, errors: &mut ErrorList) {
    let has_schema =
        |schema: Option<&Value>| schema.is_some_and(|schema| !schema["openAPIV3Schema"].is_null());
    if has_schema(spec.part(Part::Schema)) {
        return;
    }
    for (index, version) in spec.versions.iter().enumerate() {
        if !has_schema(version.part(Part::Schema)) {
            let path = path.child("versions").index(index).child("schema").child("openAPIV3Schema");
            errors.push(FieldError::required(&path, ""));
        }
    }
}

fn versions(spec: &Spec<'_>, stored: Stored<'_>, path: &FieldPath, errors: &mut ErrorList) {
    let path = path.child("versions");
    let mut seen = BTreeSet::new();
    let mut unique = true;
    let mut storage = 0;
    for (index, version) in spec.versions.iter().enumerate() {
        let path = path.index(index);
        let name = text(&version.version["name"]);
        storage += usize::from(version.version["storage"] == true);
        unique &= seen.insert(name);
        errors.extend(names::label(name, &path.child("name")));
        // Subresources are looked up by name, so the first of two versions of one name answers for both.
        let named = spec.versions.iter().find(|other| other.version["name"] == version.version["name"]);
        let own = named.and_then(|named| named.part(Part::Subresources));
        let subresources = own.or(spec.part(Part::Subresources));
        let is_stored = stored.has_schema_of(version.version);
        version::validate(version, has_status(subresources), is_stored, &path, errors);
    }
    let all = || format!("[{}]", spec.versions.iter().map(Version::shown).collect::<Vec<_>>().join(","));
    let mut misfit = |detail: &str| {
        let value = spec.spec["versions"].clone();
        let error = FieldError::invalid(&path, value, detail);
        let is_absent = spec.spec["versions"].is_null();
        errors.push(if is_absent { error.shown_as("null") } else { error.shown_as(all()) });
    };
    if !unique {
        misfit("must contain unique version names");
    }
    if storage != 1 {
        misfit("must have exactly one version marked as storage version");
    }
}

fn required_names(names: &Value, path: &FieldPath, errors: &mut ErrorList) {
    for name in ["plural", "singular", "kind", "listKind"] {
        if text(&names[name]).is_empty() {
            errors.push(FieldError::required(&path.child("names").child(name), ""));
        }
    }
}

fn shared_parts(spec: &Spec<'_>, stored: Stored<'_>, path: &FieldPath, errors: &mut ErrorList) {
    // The first version of the internal form stands at the top as well.
    if let Some(first) = spec.versions.first().filter(|first| !text(&first.version["name"]).is_empty()) {
        errors.extend(names::label(text(&first.version["name"]), &path.child("version")));
    }
    let shared_schema = spec.part(Part::Schema);
    if let Some(shared) = shared_schema {
        let any_status = has_status(spec.part(Part::Subresources))
            || spec.versions.iter().any(|version| has_status(version.part(Part::Subresources)));
        // A real server asks for the first version only.
        let is_stored = spec.versions.first().is_some_and(|first| stored.has_schema_of(first.version));
        schema::validate(
            &shared["openAPIV3Schema"],
            any_status,
            is_stored,
            &path.child("validation"),
            errors,
        );
    }
    if let Some(subresources) = spec.part(Part::Subresources) {
        version::subresources(subresources, &path.child("subresources"), errors);
    }
    if let Some(columns) = spec.part(Part::Columns) {
        version::columns(columns, &path.child("additionalPrinterColumns"), errors);
    }
    if let Some(fields) = spec.part(Part::SelectableFields) {
        match shared_schema {
            None => {
                let detail = "may only be set when validations.schema is included";
                errors.push(FieldError::invalid(&path.child("selectableFields"), "", detail));
            }
            Some(shared) => version::selectable_fields(
                fields,
                &shared["openAPIV3Schema"],
                &path.child("selectableFields"),
                errors,
            ),
        }
    }
}

fn has_status(subresources: Option<&Value>) -> bool {
    subresources.is_some_and(|subresources| !subresources["status"].is_null())
}
