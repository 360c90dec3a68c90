//! The metadata of objects. All functions take `metadata` as decoded JSON; fields of a wrong type count as absent,
//! because decoding has refused them before.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::syntax::{self, NameRule};
use crate::error::{ErrorList, FieldError, FieldPath, go};

const ANNOTATIONS_SIZE: usize = 256 * 1024;
const MANAGER_LENGTH: usize = 128;
const SUBRESOURCE_LENGTH: usize = 256;
const OWNER_FIELDS: [&str; 6] = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// Checks the metadata of a new object, after name generation.
pub fn validate_object_meta(meta: &Value, namespaced: bool, rule: NameRule, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    let generate_name = text(meta, "generateName");
    if !generate_name.is_empty() {
        errors.extend(invalid_each(
            &path.child("generateName"),
            generate_name,
            rule.check(generate_name, true),
        ));
    }
    let name = text(meta, "name");
    if name.is_empty() {
        errors.push(FieldError::required(&path.child("name"), "name or generateName is required"));
    } else {
        errors.extend(invalid_each(&path.child("name"), name, rule.check(name, false)));
    }

    let namespace = text(meta, "namespace");
    let namespace_path = path.child("namespace");
    match (namespaced, namespace.is_empty()) {
        (true, true) => errors.push(FieldError::required(&namespace_path, "")),
        (true, false) => {
            errors.extend(invalid_each(
                &namespace_path,
                namespace,
                NameRule::DnsLabel.check(namespace, false),
            ));
        }
        (false, true) => {}
        (false, false) => errors.push(FieldError::forbidden(&namespace_path, "not allowed on this type")),
    }

    errors.extend(negative_generation(meta, path));
    errors.extend(validate_labels(&meta["labels"], &path.child("labels")));
    errors.extend(validate_annotations(&meta["annotations"], &path.child("annotations")));
    errors.extend(validate_owner_references(&meta["ownerReferences"], &path.child("ownerReferences")));
    errors.extend(validate_finalizers(&meta["finalizers"], &path.child("finalizers")));
    errors.extend(validate_managed_fields(&meta["managedFields"], &path.child("managedFields")));
    errors
}

/// Checks the metadata of an updated object against the old one: what must not change, and that no finalizer is
/// added to an object that is being deleted.
pub fn validate_object_meta_update(new: &Value, old: &Value, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    if !old["deletionTimestamp"].is_null() {
        errors.extend(new_finalizers(new, old, &path.child("finalizers")));
    }
    if text(new, "resourceVersion").is_empty() {
        let path = path.child("resourceVersion");
        errors.push(FieldError::invalid(&path, "", "must be specified for an update"));
    }
    errors.extend(negative_generation(new, path));
    let generation = new["generation"].as_i64().unwrap_or(0);
    if generation < old["generation"].as_i64().unwrap_or(0) {
        errors.push(FieldError::invalid(&path.child("generation"), generation, "must not be decremented"));
    }
    // An absent string is the empty string, anything else absent is null.
    for name in ["name", "namespace", "uid"] {
        if text(new, name) != text(old, name) {
            errors.push(FieldError::invalid(&path.child(name), text(new, name), "field is immutable"));
        }
    }
    for name in ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        if new[name] != old[name] {
            errors.push(FieldError::invalid(&path.child(name), new[name].clone(), "field is immutable"));
        }
    }
    errors.extend(validate_labels(&new["labels"], &path.child("labels")));
    errors.extend(validate_annotations(&new["annotations"], &path.child("annotations")));
    errors.extend(validate_owner_references(&new["ownerReferences"], &path.child("ownerReferences")));
    errors.extend(validate_managed_fields(&new["managedFields"], &path.child("managedFields")));
    errors
}

/// Checks the keys and values of labels.
pub fn validate_labels(labels: &Value, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    for (key, value) in entries(labels) {
        errors.extend(invalid_each(path, key, syntax::label_key(key)));
        let value = value.as_str().unwrap_or_default();
        errors.extend(invalid_each(path, value, syntax::label_value(value)));
    }
    errors
}

/// Checks the keys of annotations, whose case does not matter, and their size, 256 KiB together.
pub fn validate_annotations(annotations: &Value, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    let mut size = 0;
    for (key, value) in entries(annotations) {
        errors.extend(invalid_each(path, key, syntax::label_key(&key.to_lowercase())));
        size += key.len() + value.as_str().unwrap_or_default().len();
    }
    if size > ANNOTATIONS_SIZE {
        errors.push(FieldError::too_long(path, i64::try_from(ANNOTATIONS_SIZE).unwrap_or(i64::MAX)));
    }
    errors
}

/// Checks that owner references are complete and that at most one is the controller.
pub fn validate_owner_references(references: &Value, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    let references = items(references);
    let mut controller: Option<String> = None;
    for (index, reference) in references.iter().enumerate() {
        owner_reference(reference, &path.index(index), &mut errors);
        if reference["controller"] != Value::Bool(true) {
            continue;
        }
        let name = format!("{}/{}", text(reference, "kind"), text(reference, "name"));
        match &controller {
            None => controller = Some(name),
            Some(first) => {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                );
                let shown: Vec<String> =
                    references.iter().map(|reference| go::json_struct(reference, &OWNER_FIELDS)).collect();
                errors.push(
                    FieldError::invalid(path, references.to_vec(), detail)
                        .shown_as(format!("[{}]", shown.join(","))),
                );
            }
        }
    }
    errors
}

fn owner_reference(reference: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let api_version = text(reference, "apiVersion");
    if api_version.is_empty() {
        errors.push(FieldError::required(&path.child("apiVersion"), "must not be empty"));
    } else if syntax::api_version_problem(api_version).is_some() || api_version.ends_with('/') {
        let detail = "must be <group>/<version> or <version>";
        errors.push(FieldError::invalid(&path.child("apiVersion"), api_version, detail));
    }
    for name in ["kind", "name", "uid"] {
        if text(reference, name).is_empty() {
            errors.push(FieldError::required(&path.child(name), "must not be empty"));
        }
    }
    if api_version == "v1" && text(reference, "kind") == "Event" {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        errors.push(
            FieldError::invalid(path, reference.clone(), detail)
                .shown_as(go::json_struct(reference, &OWNER_FIELDS)),
        );
    }
}

/// Checks that finalizers are qualified names and do not contradict each other.
pub fn validate_finalizers(finalizers: &Value, path: &FieldPath) -> ErrorList {
    let names: Vec<&str> = strings(finalizers).collect();
    let mut errors: ErrorList =
        names.iter().flat_map(|name| invalid_each(path, name, syntax::label_key(name))).collect();
    if names.contains(&ORPHAN) && names.contains(&FOREGROUND) {
        let detail = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        errors.push(FieldError::invalid(path, names, detail));
    }
    errors
}

fn new_finalizers(new: &Value, old: &Value, path: &FieldPath) -> Option<FieldError> {
    let before: BTreeSet<&str> = strings(&old["finalizers"]).collect();
    let added: BTreeSet<&str> = strings(&new["finalizers"]).filter(|name| !before.contains(name)).collect();
    if added.is_empty() {
        return None;
    }
    let added: Vec<String> = added.into_iter().map(go::quote).collect();
    Some(FieldError::forbidden(
        path,
        format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
            added.join(", ")
        ),
    ))
}

/// Checks the entries of `managedFields`.
pub fn validate_managed_fields(managed_fields: &Value, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    for (index, entry) in items(managed_fields).iter().enumerate() {
        let path = path.index(index);
        match text(entry, "operation") {
            "" => errors.push(FieldError::required(&path.child("operation"), "must not be empty")),
            "Apply" | "Update" => {}
            other => {
                let path = path.child("operation");
                errors.push(FieldError::not_supported(&path, other, &["Apply", "Update"]));
            }
        }
        let fields_type = text(entry, "fieldsType");
        if !fields_type.is_empty() && fields_type != "FieldsV1" {
            errors.push(FieldError::invalid(&path.child("fieldsType"), fields_type, "must be `FieldsV1`"));
        }
        errors.extend(validate_field_manager(text(entry, "manager"), &path.child("manager")));
        if text(entry, "subresource").len() > SUBRESOURCE_LENGTH {
            errors.push(FieldError::too_long(&path.child("subresource"), 256));
        }
    }
    errors
}

/// Checks that the name of a field manager is printable and at most 128 bytes long.
pub fn validate_field_manager(manager: &str, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    if manager.len() > MANAGER_LENGTH {
        errors.push(FieldError::too_long(path, 128));
    }
    for (position, c) in manager.char_indices().filter(|(_, c)| !go::is_printable(*c)) {
        let detail = format!("invalid character U+{:04X} (at position {position})", c as u32);
        errors.push(FieldError::invalid(path, manager, detail));
    }
    errors
}

/// The warnings of a custom resource about finalizers that `new` has and `old` has not.
pub fn finalizer_warnings(new: &Value, old: Option<&Value>) -> Vec<String> {
    const STANDARD: [&str; 3] = [ORPHAN, FOREGROUND, "kubernetes"];
    let before: BTreeSet<&str> = old.iter().flat_map(|old| strings(&old["finalizers"])).collect();
    let added: BTreeSet<&str> = strings(&new["finalizers"]).filter(|name| !before.contains(name)).collect();
    let mut warnings = Vec::new();
    for name in added {
        let quoted = go::quote(name);
        warnings.extend(
            syntax::label_key(name)
                .into_iter()
                .map(|reason| format!("metadata.finalizers: {quoted}: {reason}")),
        );
        if !name.contains('/') && !STANDARD.contains(&name) {
            let path = if name.contains('.') { " including a path (/)" } else { "" };
            warnings.push(format!(
                "metadata.finalizers: {quoted}: prefer a domain-qualified finalizer name{path} to avoid accidental \
                 conflicts with other finalizer writers"
            ));
        }
    }
    warnings
}

/// Why Go cannot decode this as metadata, for metadata that nobody decoded before.
pub(crate) fn type_problem(meta: &Value) -> Option<String> {
    let Some(fields) = meta.as_object() else {
        return (!meta.is_null()).then(|| {
            format!("json: cannot unmarshal {} into Go value of type v1.ObjectMeta", go::kind(meta))
        });
    };
    fields.iter().find_map(|(name, value)| {
        let (wrong, wanted) = wrong_part(name, value)?;
        Some(format!(
            "json: cannot unmarshal {} into Go struct field ObjectMeta.{name} of type {wanted}",
            go::kind(wrong)
        ))
    })
}

fn wrong_part<'a>(name: &str, value: &'a Value) -> Option<(&'a Value, &'static str)> {
    let unless = |fits: bool, wanted| (!fits && !value.is_null()).then_some((value, wanted));
    match name {
        "name" | "generateName" | "namespace" | "selfLink" | "resourceVersion" => {
            unless(value.is_string(), "string")
        }
        "uid" => unless(value.is_string(), "types.UID"),
        "generation" | "deletionGracePeriodSeconds" => unless(value.is_i64(), "int64"),
        "creationTimestamp" | "deletionTimestamp" => unless(value.is_string(), "string"),
        "labels" | "annotations" => unless(value.is_object(), "map[string]string").or_else(|| {
            let wrong = entries(value).find(|(_, value)| !value.is_string() && !value.is_null())?;
            Some((wrong.1, "string"))
        }),
        "finalizers" => unless(value.is_array(), "[]string").or_else(|| {
            let wrong = items(value).iter().find(|value| !value.is_string() && !value.is_null())?;
            Some((wrong, "string"))
        }),
        "ownerReferences" => unless(value.is_array(), "[]v1.OwnerReference"),
        "managedFields" => unless(value.is_array(), "[]v1.ManagedFieldsEntry"),
        _ => None,
    }
}

fn negative_generation(meta: &Value, path: &FieldPath) -> Option<FieldError> {
    let generation = meta["generation"].as_i64().filter(|generation| *generation < 0)?;
    Some(FieldError::invalid(&path.child("generation"), generation, "must be greater than or equal to 0"))
}

fn invalid_each(path: &FieldPath, value: &str, reasons: Vec<String>) -> impl Iterator<Item = FieldError> {
    reasons.into_iter().map(move |reason| FieldError::invalid(path, value, reason))
}

fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_default()
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    items(list).iter().filter_map(Value::as_str)
}

fn entries(map: &Value) -> impl Iterator<Item = (&String, &Value)> {
    map.as_object().into_iter().flat_map(Map::iter)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(errors: &ErrorList) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    fn create(meta: &Value) -> Vec<String> {
        texts(&validate_object_meta(meta, true, NameRule::DnsSubdomain, &FieldPath::new("metadata")))
    }

    #[test]
    fn creation() {
        assert_eq!(create(&json!({"name": "a", "namespace": "b"})), Vec::<String>::new());
        assert_eq!(
            create(&json!({})),
            [
                "metadata.name: Required value: name or generateName is required",
                "metadata.namespace: Required value",
            ]
        );
        assert_eq!(
            texts(&validate_object_meta(
                &json!({"name": "a", "namespace": "b"}),
                false,
                NameRule::DnsSubdomain,
                &FieldPath::new("metadata")
            )),
            ["metadata.namespace: Forbidden: not allowed on this type"]
        );
        let long = "a".repeat(ANNOTATIONS_SIZE);
        let cases = [
            (
                json!({"labels": {"a b": "c"}}),
                "metadata.labels: Invalid value: \"a b\": name part must consist of",
            ),
            (
                json!({"labels": {"a": "b c"}}),
                "metadata.labels: Invalid value: \"b c\": a valid label must be",
            ),
            (
                json!({"annotations": {"a b": ""}}),
                "metadata.annotations: Invalid value: \"a b\": name part must",
            ),
            (
                json!({"annotations": {"a": long}}),
                "metadata.annotations: Too long: may not be more than 262144 bytes",
            ),
            (json!({"finalizers": ["a b"]}), "metadata.finalizers: Invalid value: \"a b\": name part must"),
            (
                json!({"finalizers": ["orphan", "foregroundDeletion"]}),
                r#"metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set"#,
            ),
            (
                json!({"generation": -1}),
                "metadata.generation: Invalid value: -1: must be greater than or equal to 0",
            ),
            (
                json!({"managedFields": [{"operation": "Do"}]}),
                r#"metadata.managedFields[0].operation: Unsupported value: "Do": supported values: "Apply", "Update""#,
            ),
            (
                json!({"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}]}),
                "metadata.ownerReferences[0].uid: Required value: must not be empty",
            ),
            (
                json!({"ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "p", "uid": "u"}]}),
                r#"metadata.ownerReferences[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"p","uid":"u"}: /v1, Kind=Event is disallowed from being an owner"#,
            ),
        ];
        for (mut meta, message) in cases {
            meta["name"] = json!("a");
            meta["namespace"] = json!("b");
            let errors = create(&meta);
            assert_eq!(errors.len(), 1, "{errors:?}");
            assert!(errors[0].starts_with(message), "{errors:?}");
        }
    }

    #[test]
    fn one_controller() {
        let owner = |name: &str| json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": "u", "controller": true});
        assert_eq!(
            texts(&validate_owner_references(&json!([owner("a"), owner("b")]), &FieldPath::new("o"))),
            [
                r#"o: Invalid value: [{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u","controller":true},{"apiVersion":"v1","kind":"Pod","name":"b","uid":"u","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for Pod/a and Pod/b"#
            ]
        );
    }

    #[test]
    fn update() {
        let old = json!({
            "name": "a", "uid": "u", "resourceVersion": "1", "generation": 2,
            "creationTimestamp": "2024-01-01T00:00:00Z",
        });
        let path = FieldPath::new("metadata");
        assert!(validate_object_meta_update(&old, &old, &path).is_empty());
        let new = json!({"name": "b", "uid": "v", "generation": 1});
        assert_eq!(
            texts(&validate_object_meta_update(&new, &old, &path)),
            [
                "metadata.resourceVersion: Invalid value: \"\": must be specified for an update",
                "metadata.generation: Invalid value: 1: must not be decremented",
                "metadata.name: Invalid value: \"b\": field is immutable",
                "metadata.uid: Invalid value: \"v\": field is immutable",
                "metadata.creationTimestamp: Invalid value: null: field is immutable",
            ]
        );
    }

    #[test]
    fn no_new_finalizers_on_the_way_out() {
        let old = json!({"resourceVersion": "1", "deletionTimestamp": "t", "finalizers": ["a"]});
        let mut new = old.clone();
        new["finalizers"] = json!(["a", "c", "b"]);
        assert_eq!(
            texts(&validate_object_meta_update(&new, &old, &FieldPath::new("metadata"))),
            [
                r#"metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"b", "c"}"#
            ]
        );
    }

    #[test]
    fn finalizers_without_a_domain_get_a_warning() {
        let new = json!({"finalizers": ["a", "b.c", "example.com/d", "orphan"]});
        assert_eq!(
            finalizer_warnings(&new, None),
            [
                "metadata.finalizers: \"a\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers",
                "metadata.finalizers: \"b.c\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers",
            ]
        );
        assert_eq!(finalizer_warnings(&new, Some(&new)), Vec::<String>::new());
    }

    #[test]
    fn field_managers() {
        let path = FieldPath::new("fieldManager");
        assert!(validate_field_manager("kubectl 'edit'", &path).is_empty());
        assert_eq!(
            texts(&validate_field_manager("a\u{7}", &path)),
            [r#"fieldManager: Invalid value: "a\a": invalid character U+0007 (at position 1)"#]
        );
        assert_eq!(
            texts(&validate_field_manager(&"a".repeat(129), &path)),
            ["fieldManager: Too long: may not be more than 128 bytes"]
        );
    }

    #[test]
    fn undecodable_metadata() {
        assert_eq!(type_problem(&json!({"name": "a", "labels": {"a": "b"}, "odd": 1})), None);
        assert_eq!(
            type_problem(&json!({"labels": {"a": 1}})).unwrap(),
            "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"
        );
        assert_eq!(
            type_problem(&json!([])).unwrap(),
            "json: cannot unmarshal array into Go value of type v1.ObjectMeta"
        );
    }
}
