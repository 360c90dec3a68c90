//! Custom resource definitions: defaults, checks on create and update, warnings.
//!
//! All functions take the definition as decoded JSON of `apiextensions.k8s.io/v1`. A real API server checks an
//! internal form in which everything that all versions share has moved to the top of the spec, and its error
//! paths say so: the schema of a definition with one version is at `spec.validation.openAPIV3Schema`. `shared.rs`
//! does the same. Start at [`validate_crd`], then `spec.rs` and `schema.rs`.

mod conversion;
mod defaults;
mod names;
mod rules;
mod schema;
mod shared;
mod shown;
mod spec;
mod version;
mod warnings;

use serde_json::{Value, json};

pub use conversion::{validate_service_reference, validate_webhook_url};
pub use warnings::crd_warnings;

use crate::{
    error::{ErrorList, FieldError, FieldPath},
    names::{NameRule, validate_object_meta, validate_object_meta_update},
};

const APPROVED: &str = "api-approved.kubernetes.io";

/// Fills what a definition leaves out: the singular and list names, no conversion, the port of a webhook, and the
/// storage version as the only stored one.
pub fn default_crd(crd: &mut Value) {
    let Some(object) = crd.as_object_mut() else { return };
    let mut storage = None;
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        storage = items(spec.get("versions")).iter().find(|version| version["storage"] == true).cloned();
        if let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) {
            let kind = names.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
            let is_empty = |name: Option<&Value>| name.and_then(Value::as_str).unwrap_or_default().is_empty();
            if is_empty(names.get("singular")) && !kind.is_empty() {
                names.insert("singular".to_owned(), kind.to_lowercase().into());
            }
            if is_empty(names.get("listKind")) && !kind.is_empty() {
                names.insert("listKind".to_owned(), format!("{kind}List").into());
            }
        }
        let conversion = spec.entry("conversion").or_insert(Value::Null);
        if conversion.is_null() {
            *conversion = json!({"strategy": "None"});
        }
        let service = conversion.pointer_mut("/webhook/clientConfig/service").and_then(Value::as_object_mut);
        if let Some(service) = service
            && service.get("port").is_none_or(Value::is_null)
        {
            service.insert("port".to_owned(), 443.into());
        }
    }
    let Some(name) = storage.as_ref().and_then(|version| version["name"].as_str()) else { return };
    let status = object.entry("status").or_insert(Value::Null);
    if status.is_null() {
        *status = json!({});
    }
    if let Some(status) = status.as_object_mut()
        && items(status.get("storedVersions")).is_empty()
    {
        status.insert("storedVersions".to_owned(), json!([name]));
    }
}

/// Checks a new definition, after [`default_crd`].
///
/// ```
/// use kubewright_schema::crd::{default_crd, validate_crd};
/// use serde_json::json;
///
/// let mut crd = json!({
///     "metadata": {"name": "memcacheds.cache.example.com"},
///     "spec": {
///         "group": "cache.example.com",
///         "scope": "Namespaced",
///         "names": {"plural": "memcacheds", "kind": "Memcached"},
///         "versions": [{
///             "name": "v1", "served": true, "storage": true,
///             "schema": {"openAPIV3Schema": {"type": "object"}},
///         }],
///     },
/// });
/// default_crd(&mut crd);
/// assert!(validate_crd(&crd).is_empty());
/// crd["metadata"]["name"] = json!("other.cache.example.com");
/// assert_eq!(
///     validate_crd(&crd).to_string(),
///     r#"metadata.name: Invalid value: "other.cache.example.com": must be spec.names.plural+"."+spec.group"#,
/// );
/// ```
pub fn validate_crd(crd: &Value) -> ErrorList {
    let mut errors = metadata(crd);
    errors.extend(spec::validate(&crd["spec"], None, true));
    errors.extend(status(crd));
    errors.extend(approval(crd, None));
    errors.extend(preserve_unknown_fields(crd, None));
    errors
}

/// Checks an updated definition against the old one. Group and plural never change; kind and scope do not once the
/// definition is established.
pub fn validate_crd_update(new: &Value, old: &Value) -> ErrorList {
    let established = is_established(old);
    let mut errors =
        validate_object_meta_update(&new["metadata"], &old["metadata"], &FieldPath::new("metadata"));
    errors.extend(spec::validate(&new["spec"], Some(&old["spec"]), !established));
    for (names, fixed) in [
        (&["scope"][..], established),
        (&["names", "kind"][..], established),
        (&["group"][..], true),
        (&["names", "plural"][..], true),
    ] {
        let value = |crd: &Value| names.iter().fold(&crd["spec"], |value, name| &value[*name]).clone();
        let (new, old) = (value(new), value(old));
        if fixed && new != old {
            let path = names.iter().fold(FieldPath::new("spec"), |path, name| path.child(name));
            let shown = new.as_str().unwrap_or_default();
            errors.push(FieldError::invalid(&path, shown, "field is immutable"));
        }
    }
    errors.extend(status(new));
    errors.extend(approval(new, Some(old)));
    errors.extend(preserve_unknown_fields(new, Some(old)));
    errors
}

/// Checks an update of the status of a definition.
pub fn validate_crd_status_update(new: &Value, old: &Value) -> ErrorList {
    let mut errors =
        validate_object_meta_update(&new["metadata"], &old["metadata"], &FieldPath::new("metadata"));
    errors.extend(names::validate(&new["status"]["acceptedNames"], &FieldPath::new("status.acceptedNames")));
    errors
}

fn metadata(crd: &Value) -> ErrorList {
    let path = FieldPath::new("metadata");
    let meta = &crd["metadata"];
    let errors = validate_object_meta(meta, false, NameRule::DnsSubdomain, &path);
    let spec = &crd["spec"];
    let expected = format!("{}.{}", text(&spec["names"]["plural"]), text(&spec["group"]));
    // The name rule of definitions, which also holds for a prefix, comes after the general one of each field.
    let misnamed = |field: &str| {
        let name = text(&meta[field]);
        let detail = r#"must be spec.names.plural+"."+spec.group"#;
        (!name.is_empty() && name != expected).then(|| FieldError::invalid(&path.child(field), name, detail))
    };
    let (mut sorted, rest): (Vec<_>, Vec<_>) =
        errors.into_iter().partition(|error| error.field == "metadata.generateName");
    sorted.extend(misnamed("generateName"));
    let (names, rest): (Vec<_>, Vec<_>) = rest.into_iter().partition(|error| error.field == "metadata.name");
    sorted.extend(names);
    sorted.extend(misnamed("name"));
    sorted.into_iter().chain(rest).collect()
}

fn status(crd: &Value) -> ErrorList {
    let mut errors =
        names::validate(&crd["status"]["acceptedNames"], &FieldPath::new("status.acceptedNames"));
    errors.extend(stored_versions(crd));
    errors
}

fn stored_versions(crd: &Value) -> ErrorList {
    let path = FieldPath::new("status.storedVersions");
    let stored = items(crd["status"].get("storedVersions"));
    if stored.is_empty() {
        return FieldError::invalid(&path, Value::Null, "must have at least one stored version").into();
    }
    let versions = items(crd["spec"].get("versions"));
    let mut errors = ErrorList::new();
    // A stored version stands for one version only, should two have the same name.
    let mut left: Vec<&Value> = stored.iter().collect();
    for version in versions {
        let found = left.iter().position(|name| **name == version["name"]);
        if let Some(index) = found {
            left.remove(index);
        } else if version["storage"] == true {
            let detail = format!("must have the storage version {}", text(&version["name"]));
            errors.push(FieldError::invalid(&path, stored.to_vec(), detail));
        }
    }
    for (index, name) in stored.iter().enumerate() {
        if versions.iter().any(|version| version["name"] == *name) {
            continue;
        }
        let name = text(name);
        errors.push(FieldError::invalid(
            &path.index(index),
            name,
            format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions \
                 until a storage migration ensures no data remains persisted in {name} and removes {name} from \
                 status.storedVersions"
            ),
        ));
    }
    errors
}

/// Groups of the Kubernetes community need an annotation that says who approved the API.
fn approval(new: &Value, old: Option<&Value>) -> Option<FieldError> {
    #[derive(PartialEq)]
    enum State {
        Approved,
        Bypassed,
        Missing,
        Invalid,
    }
    let state = |crd: &Value| {
        let annotation = text(&crd["metadata"]["annotations"][APPROVED]);
        if annotation.is_empty() {
            State::Missing
        } else if annotation.starts_with("unapproved") {
            State::Bypassed
        } else if conversion::has_scheme_and_host(annotation) {
            State::Approved
        } else {
            State::Invalid
        }
    };
    let group = text(&new["spec"]["group"]);
    let protected = ["k8s.io", "kubernetes.io"];
    let is_protected =
        protected.iter().any(|domain| group == *domain || group.ends_with(&format!(".{domain}")));
    let new_state = state(new);
    if !is_protected || old.is_some_and(|old| state(old) == new_state) {
        return None;
    }
    let path = FieldPath::new("metadata.annotations").key(APPROVED);
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    match new_state {
        State::Approved | State::Bypassed => None,
        State::Missing => Some(FieldError::required(
            &path,
            format!("protected groups must have approval annotation \"{APPROVED}\", {see}"),
        )),
        State::Invalid => Some(FieldError::invalid(
            &path,
            text(&new["metadata"]["annotations"][APPROVED]),
            format!(
                "protected groups must have approval annotation \"{APPROVED}\" with either a URL or a reason starting \
                 with \"unapproved\", {see}"
            ),
        )),
    }
}

fn preserve_unknown_fields(new: &Value, old: Option<&Value>) -> Option<FieldError> {
    let preserves = |crd: &Value| crd["spec"]["preserveUnknownFields"] == true;
    if !preserves(new) || old.is_some_and(preserves) {
        return None;
    }
    Some(FieldError::invalid(
        &FieldPath::new("spec.preserveUnknownFields"),
        true,
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    ))
}

fn is_established(crd: &Value) -> bool {
    items(crd["status"].get("conditions"))
        .iter()
        .any(|condition| condition["type"] == "Established" && condition["status"] == "True")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn items(list: Option<&Value>) -> &[Value] {
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
