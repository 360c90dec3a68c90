//! What an API server would refuse, at the marker that says it.

use super::*;
use crate::{Style, diagnostic::Severity};

/// What is wrong: its code, its message, and the text at fault.
fn checked(built: &Built) -> Vec<(String, String, String)> {
    assert_eq!(faults(built), []);
    check(&built.document, &built.origins, Style::Kubewright)
        .into_iter()
        .map(|found| {
            let at = match &found.place {
                Place::Doc { field, marker, range, .. } if marker.is_empty() => {
                    let _ = range;
                    field.clone().unwrap_or_default()
                }
                Place::Doc { marker, range, .. } => marker[range.clone()].to_owned(),
                Place::Document { path, .. } => path.clone(),
                other => format!("{other:?}"),
            };
            (found.code, found.message, at)
        })
        .collect()
}

#[test]
fn a_good_definition_has_no_faults() {
    assert_eq!(checked(&build::<Cache>()), []);
}

#[test]
fn paths_have_to_lead_somewhere() {
    /// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.sise`
    /// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=.metadata.creationTimestmap
    /// +kubebuilder:printcolumn:name="Color",type=integer,JSONPath=.spec.color
    /// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.sizes
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "example.com", version = "v1", kind = "Any", status = "CacheStatus")]
    struct AnySpec {
        size: i32,
        color: String,
    }
    let found = checked(&build::<Any>());
    let expected = [
        (
            "no-such-field",
            "the column \"Size\" is always empty: there is no field `sise` in `.spec`",
            "`.spec.sise`",
        ),
        (
            "no-such-field",
            "the column \"Age\" is always empty: there is no field `creationTimestmap` in `.metadata`",
            ".metadata.creationTimestmap",
        ),
        (
            "other-type",
            "the column \"Color\" is always empty: it shows values of type integer, but `.spec.color` is of type string",
            ".spec.color",
        ),
        (
            "no-such-field",
            "the present number of replicas is always empty: there is no field `sizes` in `.status`",
            ".status.sizes",
        ),
    ];
    assert_eq!(
        found,
        expected.map(|(code, message, at)| (code.to_owned(), message.to_owned(), at.to_owned()))
    );
}

#[test]
fn what_an_api_server_refuses_is_told_at_its_marker() {
    /// +kubebuilder:selectablefield:JSONPath=`.spec.list`
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "example.com", version = "v1", kind = "Any")]
    struct AnySpec {
        /// +kubebuilder:default=7
        /// +kubebuilder:validation:Maximum=5
        size: i32,
        list: Vec<String>,
    }
    let found = checked(&build::<Any>());
    let at: Vec<_> = found.iter().map(|(_, _, at)| at.as_str()).collect();
    assert_eq!(at, ["7", "`.spec.list`"], "{found:#?}");
}

#[test]
fn a_rule_that_does_not_compile_is_told_at_its_text() {
    /// +kubebuilder:validation:XValidation:rule="self.size > 0",message="right"
    /// +kubebuilder:validation:XValidation:rule="self.nope > 1",message="wrong"
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "example.com", version = "v1", kind = "Any")]
    struct AnySpec {
        size: i32,
    }
    let found = checked(&build::<Any>());
    let at: Vec<_> = found.iter().map(|(_, _, at)| at.as_str()).collect();
    assert_eq!(at, ["\"self.nope > 1\""], "{found:#?}");
}

#[test]
fn a_fault_of_all_versions_is_told_once_and_what_is_refused_in_words() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "for its schema")]
    struct Shared {
        /// +kubebuilder:default=7
        /// +kubebuilder:validation:Maximum=5
        size: Option<i32>,
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "for its schema")]
    struct V1 {
        spec: Shared,
    }
    /// +kubebuilder:storageversion
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "for its schema")]
    struct V2 {
        more: bool,
        spec: Shared,
    }
    let built = shown(
        "default-of-two-versions",
        &CrdBuilder::of_root::<V1>("example.com", "v1", "Any").root_version::<V2>("v2"),
    );
    let found = checked(&built);
    let messages: Vec<_> = found.iter().map(|(_, message, _)| message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "an API server refuses `default` of `.spec.size`: Invalid value: 7:  in body should be less than or equal to 5",
        ]
    );
}

#[test]
fn an_unknown_format_is_told_once() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "for its schema")]
    struct Root {
        /// +kubebuilder:validation:Format=strange
        name: String,
    }
    let built = shown("unknown-format", &CrdBuilder::of_root::<Root>("example.com", "v1", "Any"));
    let codes: Vec<_> = built.diagnostics.iter().map(|found| found.code.as_str()).collect();
    assert_eq!(codes, ["unknown-format"]);
    assert_eq!(check(&built.document, &built.origins, Style::Kubewright), []);
}

#[test]
fn a_large_definition_is_told() {
    let mut built = build::<Cache>();
    let description = |length: usize| Value::from("x".repeat(length));
    let mut sized = |length: usize| {
        let schema = "/spec/versions/0/schema/openAPIV3Schema/description";
        *built.document.pointer_mut(schema).expect("a description") = description(length);
        let found = check(&built.document, &built.origins, Style::Kubewright);
        found.into_iter().map(|found| (found.code, found.severity)).collect::<Vec<_>>()
    };
    assert_eq!(sized(200_000), []);
    assert_eq!(sized(270_000), [("too-large".to_owned(), Severity::Warning)]);
    assert_eq!(sized(1_600_000), [("too-large".to_owned(), Severity::Error)]);
}
