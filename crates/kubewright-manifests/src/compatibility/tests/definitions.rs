//! Changes of definitions besides their schemas.

use serde_json::{Value, json};

use super::{both_ways, changes, crd, version, versions, with};

#[test]
fn names_and_scope() {
    let old = || crd(json!({"type": "object"}));
    both_ways(
        old(),
        with(old(), "/spec/scope", json!("Cluster")),
        &["unsafe scope-changed .spec.scope"],
        &["unsafe scope-changed .spec.scope"],
    );
    assert_eq!(
        changes(old(), with(old(), "/spec/names/kind", json!("Other"))),
        [
            "unsafe kind-changed .spec.names.kind",
            "unsafe list-kind-changed .spec.names.listKind",
            "safe singular-changed .spec.names.singular",
        ]
    );
    assert_eq!(
        changes(old(), with(old(), "/spec/names/shortNames", json!(["th"]))),
        ["safe short-names-changed .spec.names.shortNames"]
    );
    let moved =
        with(with(old(), "/spec/group", json!("other.com")), "/metadata/name", json!("things.other.com"));
    assert_eq!(changes(old(), moved), ["unsafe group-changed .spec.group"]);
}

#[test]
fn versions_come_and_go() {
    let one = || versions(json!([version("v1", true, true)]));
    let two = || versions(json!([version("v1", true, true), version("v2", true, false)]));
    both_ways(
        one(),
        two(),
        &[r#"safe version-added .spec.versions[?(@.name=="v2")]"#],
        &[r#"unsafe version-removed .spec.versions[?(@.name=="v2")]"#],
    );
    assert_eq!(
        changes(two(), versions(json!([version("v1", true, true), version("v2", false, false)]))),
        [r#"unsafe version-unserved .spec.versions[?(@.name=="v2")]"#]
    );
    let unserved = || versions(json!([version("v1", true, true), version("v2", false, false)]));
    assert_eq!(
        changes(unserved(), one()),
        [r#"safe unserved-version-removed .spec.versions[?(@.name=="v2")]"#]
    );
    let stored = with(unserved(), "/status", json!({"storedVersions": ["v1", "v2"]}));
    assert_eq!(changes(stored, one()), [r#"unsafe stored-version-removed .spec.versions[?(@.name=="v2")]"#]);
}

#[test]
fn another_storage_version_needs_a_migration() {
    assert_eq!(
        changes(
            versions(json!([version("v1", true, true), version("v2", true, false)])),
            versions(json!([version("v1", true, false), version("v2", true, true)])),
        ),
        ["needs-conversion storage-version-changed .spec.versions"]
    );
}

#[test]
fn a_version_that_nobody_can_reach_is_not_compared() {
    let with_field = |schema: Value| {
        let mut old = version("v2", false, false);
        old["schema"]["openAPIV3Schema"]["properties"] = json!({"spec": schema});
        versions(json!([version("v1", true, true), old]))
    };
    assert_eq!(
        changes(with_field(json!({"type": "string"})), with_field(json!({"type": "integer"}))),
        [""; 0]
    );
}

#[test]
fn fields_are_lost_between_versions_that_are_not_converted() {
    let with_spec = |name: &str, storage: bool, properties: Value| {
        let mut version = version(name, true, storage);
        version["schema"]["openAPIV3Schema"]["properties"] =
            json!({"spec": {"type": "object", "properties": properties}});
        version
    };
    let old = versions(json!([with_spec("v1", true, json!({"a": {"type": "string"}}))]));
    let v2 = || with_spec("v2", false, json!({"a": {"type": "integer"}, "b": {"type": "string"}}));
    let new = versions(json!([with_spec("v1", true, json!({"a": {"type": "string"}})), v2()]));
    assert_eq!(
        changes(old.clone(), new.clone()),
        [
            "needs-conversion type-differs-between-versions .spec.a",
            "needs-conversion field-lost-between-versions .spec.b",
            r#"safe version-added .spec.versions[?(@.name=="v2")]"#,
        ]
    );
    let converting = with(
        new.clone(),
        "/spec/conversion",
        json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://a"}}}),
    );
    assert_eq!(
        changes(old, converting.clone()),
        [
            "needs-conversion conversion-webhook-added .spec.conversion",
            r#"safe version-added .spec.versions[?(@.name=="v2")]"#,
        ]
    );
    assert_eq!(
        changes(converting, new),
        [
            "unsafe conversion-webhook-removed .spec.conversion",
            "needs-conversion type-differs-between-versions .spec.a",
            "needs-conversion field-lost-between-versions .spec.b",
        ]
    );
}

#[test]
fn subresources_columns_and_selectable_fields() {
    let with_part = |key: &str, value: Value| {
        let mut version = version("v1", true, true);
        version[key] = value;
        versions(json!([version]))
    };
    let bare = || versions(json!([version("v1", true, true)]));
    let at = |class: &str, tail: &str| vec![format!(r#"{class} .spec.versions[?(@.name=="v1")]{tail}"#)];
    let scale = |path: &str| json!({"scale": {"specReplicasPath": path, "statusReplicasPath": ".status.n"}});
    let cases = [
        (
            bare(),
            with_part("subresources", json!({"status": {}})),
            at("unsafe status-subresource-added", ".subresources.status"),
            at("unsafe status-subresource-removed", ".subresources.status"),
        ),
        (
            bare(),
            with_part("subresources", scale(".spec.n")),
            at("safe scale-subresource-added", ".subresources.scale"),
            at("unsafe scale-subresource-removed", ".subresources.scale"),
        ),
        (
            with_part("subresources", scale(".spec.m")),
            with_part("subresources", scale(".spec.n")),
            at("unsafe scale-paths-changed", ".subresources.scale"),
            at("unsafe scale-paths-changed", ".subresources.scale"),
        ),
        (
            bare(),
            with_part(
                "additionalPrinterColumns",
                json!([{"name": "A", "type": "string", "jsonPath": ".spec.a"}]),
            ),
            at("safe printer-columns-changed", ".additionalPrinterColumns"),
            at("safe printer-columns-changed", ".additionalPrinterColumns"),
        ),
        (
            bare(),
            with_part("selectableFields", json!([{"jsonPath": ".spec.a"}])),
            at("safe selectable-field-added", ".selectableFields"),
            at("unsafe selectable-field-removed", ".selectableFields"),
        ),
        (
            bare(),
            with_part("deprecated", json!(true)),
            at("safe version-deprecated", ""),
            at("safe version-deprecated", ""),
        ),
    ];
    for (old, new, forth, back) in cases {
        assert_eq!(changes(old.clone(), new.clone()), forth);
        assert_eq!(changes(new, old), back);
    }
}
