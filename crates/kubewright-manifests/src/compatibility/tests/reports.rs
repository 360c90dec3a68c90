//! Sets of definitions, what is refused, and what is made of the changes.

use serde_json::{Value, json};

use super::{crd, field, report, version, versions, with};
use crate::compatibility::{Class, Exception, compare};

#[test]
fn definitions_are_matched_by_name_then_by_kind() {
    let named = |plural: &str, kind: &str| {
        let crd =
            with(crd(json!({"type": "object"})), "/metadata/name", json!(format!("{plural}.example.com")));
        with(crd, "/spec/names", json!({"plural": plural, "kind": kind}))
    };
    let report = compare(
        &[named("as", "A"), named("bs", "B"), named("cs", "C")],
        &[named("as", "A"), named("bees", "B"), named("ds", "D")],
    )
    .expect("definitions");
    let found: Vec<String> =
        report.changes.iter().map(|change| format!("{} {}", change.rule.id, change.crd)).collect();
    assert_eq!(
        found,
        ["plural-changed bees.example.com", "crd-removed cs.example.com", "crd-added ds.example.com"]
    );
}

#[test]
fn what_is_no_definition_is_an_error() {
    let error = |document: Value| compare(&[document], &[]).expect_err("no definition").to_string();
    assert_eq!(
        error(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}})),
        "`p` is not a CustomResourceDefinition of apiextensions.k8s.io/v1 but a `Pod` of `v1`; leave it out, or convert it"
    );
    assert_eq!(
        error(versions(json!([]))),
        "the CRD `things.example.com` has no versions; an API server refuses it"
    );
    assert_eq!(
        error(versions(json!([version("v1", true, true), version("v1", true, false)]))),
        "the CRD `things.example.com` has two versions called `v1`; an API server refuses it"
    );
    assert!(error(field(json!({}))).starts_with(
        "the schema of version `v1` of the CRD `things.example.com` is not structural, an API server refuses it: \
         spec.versions[v1].schema.openAPIV3Schema.properties[spec].properties[x].type: Required value"
    ));
    let twice = compare(&[crd(json!({"type": "object"})), crd(json!({"type": "object"}))], &[]);
    assert_eq!(
        twice.expect_err("twice").to_string(),
        "the CRD `things.example.com` is there twice; leave one out"
    );
}

#[test]
fn exceptions_take_changes_out_of_the_verdict() {
    let old =
        crd(json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}));
    let mut report = report(&old, &crd(json!({"type": "object"})));
    assert_eq!(report.worst(), Some(Class::Unsafe));
    report.allow(&[Exception::parse("field-removed:.spec.a").expect("a rule")]);
    assert!(!report.is_compatible(), "the other field is still removed");
    report.allow(&[Exception::parse("field-removed").expect("a rule")]);
    assert!(report.is_compatible());
    assert_eq!(report.worst(), None);
    assert_eq!(
        Exception::parse("fields-removed").expect_err("no such rule").to_string(),
        "there is no rule `fields-removed`; an exception is written RULE or RULE:PATH, as field-removed:.spec.size"
    );
}

#[test]
fn json() {
    let old = field(json!({"type": "integer", "minimum": 1}));
    let new = with(field(json!({"type": "integer", "minimum": 2})), "/spec/scope", json!("Cluster"));
    let mut report = report(&old, &new);
    report.allow(&[Exception::parse("scope-changed").expect("a rule")]);
    assert_eq!(
        serde_json::to_value(&report).expect("JSON"),
        json!({"changes": [
            {
                "class": "unsafe",
                "rule": "scope-changed",
                "crd": "things.example.com",
                "path": ".spec.scope",
                "old": "Namespaced",
                "new": "Cluster",
                "reason": "the scope is immutable once the CRD is established, because it is part of every URL and storage key",
                "allowed": true,
            },
            {
                "class": "unsafe",
                "rule": "bound-tightened",
                "crd": "things.example.com",
                "version": "v1",
                "path": ".spec.x",
                "keyword": "minimum",
                "old": 1,
                "new": 2,
                "reason": "values that were valid are not any more; a stored object stays updatable as long as the value is unchanged (Kubernetes 1.30 and later), but new objects and changes of the value are refused",
                "allowed": false,
            },
        ]})
    );
}

#[test]
fn long_values_are_cut() {
    let old = field(json!({"type": "string", "enum": ["a"]}));
    let new = field(json!({"type": "string", "enum": ["a", "é".repeat(100)]}));
    let report = report(&old, &new);
    assert_eq!(report.changes[0].what(), format!("enum value added (enum): \"{}...", "é".repeat(59)));
}
