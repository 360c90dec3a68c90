use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;
use crate::{
    Style,
    diagnostic::{Diagnostic, Place, Severity},
};

/// The codes of what is wrong, with the first words of each message.
fn faults(built: &Built) -> Vec<(&str, &str)> {
    built.diagnostics.iter().map(|found| (found.code.as_str(), found.message.as_str())).collect()
}

fn build<K: DerivedKind>() -> Built {
    let built = crd::<K>();
    assert_eq!(faults(&built), []);
    built
}

fn version(built: &Built, index: usize) -> &Value {
    &built.document["spec"]["versions"][index]
}

/// What the derive was put on.
fn marker_of(diagnostic: &Diagnostic) -> (&str, &str) {
    match &diagnostic.place {
        Place::Doc { type_name, marker, range, .. } => (type_name, &marker[range.clone()]),
        other => panic!("{other:?}"),
    }
}

/// CacheSpec says what is wanted.
///
/// +kubebuilder:resource:shortName=ca;cc,categories=all,singular=onecache
/// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`,priority=1,description="How many"
/// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.size,selectorpath=.status.selector
/// +kubebuilder:selectablefield:JSONPath=`.spec.color`
/// +kubebuilder:metadata:annotations="a.example.com/x=y",labels="l.example.com/x=y"
/// +kubewright:conversion:serviceName=hooks,serviceNamespace=cache-system,injectCAFrom=cache-system/cert
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "cache.example.com",
    version = "v1",
    kind = "Cache",
    doc = "Cache is a cache.",
    namespaced,
    status = "CacheStatus",
    selectable = ".spec.shape",
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    label("native.example.com/x", "y")
)]
struct CacheSpec {
    size: i32,
    color: Option<String>,
    shape: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct CacheStatus {
    size: i32,
    selector: String,
}

#[test]
fn markers_and_attributes_are_one() {
    let built = build::<Cache>();
    let spec = &built.document["spec"];
    assert_eq!(
        built.document["metadata"],
        json!({
            "name": "caches.cache.example.com",
            "annotations": {
                "a.example.com/x": "y",
                "cert-manager.io/inject-ca-from": "cache-system/cert",
            },
            "labels": {"l.example.com/x": "y", "native.example.com/x": "y"},
        })
    );
    assert_eq!(
        spec["names"],
        json!({
            "kind": "Cache", "listKind": "CacheList", "plural": "caches", "singular": "onecache",
            "shortNames": ["ca", "cc"], "categories": ["all"],
        })
    );
    assert_eq!(spec["scope"], "Namespaced");
    assert_eq!(
        spec["conversion"],
        json!({
            "strategy": "Webhook",
            "webhook": {
                "clientConfig": {
                    "service": {"name": "hooks", "namespace": "cache-system", "path": "/convert"},
                },
                "conversionReviewVersions": ["v1"],
            },
        })
    );
    let mut version = version(&built, 0).clone();
    version["schema"] = Value::Null;
    assert_eq!(
        version,
        json!({
            "name": "v1", "served": true, "storage": true, "schema": null,
            "additionalPrinterColumns": [
                {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1, "description": "How many"},
                {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
            ],
            "selectableFields": [{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.shape"}],
            "subresources": {
                "status": {},
                "scale": {
                    "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size",
                    "labelSelectorPath": ".status.selector",
                },
            },
        })
    );
}

#[test]
fn the_root_has_what_every_object_has() {
    let built = build::<Cache>();
    let schema = &version(&built, 0)["schema"]["openAPIV3Schema"];
    assert_eq!(schema["description"], "Cache is a cache.");
    assert_eq!(schema["required"], json!(["spec"]));
    assert_eq!(schema["properties"]["metadata"], json!({"type": "object"}));
    assert_eq!(schema["properties"]["spec"]["description"], "CacheSpec says what is wanted.");
    for (field, first) in [("apiVersion", "APIVersion defines"), ("kind", "Kind is a string")] {
        let text = schema["properties"][field]["description"].as_str().unwrap_or_default();
        assert!(text.starts_with(first), "{text}");
    }
}

#[test]
fn the_typed_definition_is_the_document() {
    let built = build::<Cache>();
    let read: k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition =
        serde_json::from_value(built.document.clone()).expect("a definition");
    assert_eq!(read, built.definition);
    assert_eq!(built.definition.spec.versions[0].name, "v1");
}

#[test]
fn parts_of_the_document_know_their_markers() {
    let built = build::<Cache>();
    let marker = |path: &str, keyword: &str| {
        let found = built.origins.iter().find(|origin| origin.path == path && origin.keyword == keyword);
        found.map(|origin| (origin.type_name.as_str(), origin.marker.as_str()))
    };
    assert_eq!(
        marker("spec.versions[0]", "selectableFields[0]"),
        Some(("CacheSpec", "+kubebuilder:selectablefield:JSONPath=`.spec.color`"))
    );
    assert_eq!(marker("spec.versions[0]", "selectableFields[1]"), Some(("CacheSpec", "")));
    assert_eq!(
        marker("spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[size]", ""),
        Some(("CacheSpec", ""))
    );
    assert_eq!(marker("spec.versions[0].schema.openAPIV3Schema.properties[metadata]", ""), None);
}

mod versions {
    use super::*;

    pub(super) mod v1alpha1 {
        use super::*;

        /// +kubebuilder:deprecatedversion:warning="use v1"
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "cache.example.com", version = "v1alpha1", kind = "Memcached", namespaced)]
        pub(super) struct MemcachedSpec {
            size: String,
        }
    }

    pub(super) mod v1 {
        use super::*;

        /// +kubebuilder:storageversion
        /// +kubebuilder:resource:shortName=mc
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced)]
        pub(super) struct MemcachedSpec {
            size: i32,
        }
    }

    pub(super) mod v2beta1 {
        use super::*;

        /// +kubebuilder:storageversion
        /// +kubebuilder:resource:shortName=mem
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "cache.example.com", version = "v2beta1", kind = "Memcached", plural = "mems")]
        pub(super) struct MemcachedSpec {
            size: i32,
        }
    }

    fn names(built: &Built) -> Vec<(&str, bool)> {
        let versions = built.document["spec"]["versions"].as_array().expect("versions");
        versions
            .iter()
            .map(|version| (version["name"].as_str().expect("a name"), version["storage"] == true))
            .collect()
    }

    #[test]
    fn the_marked_version_is_stored_and_the_most_stable_comes_first() {
        let built = CrdBuilder::of::<v1alpha1::Memcached>().version::<v1::Memcached>().build();
        assert_eq!(faults(&built), []);
        assert_eq!(names(&built), [("v1", true), ("v1alpha1", false)]);
        assert_eq!(version(&built, 1)["deprecationWarning"], "use v1");
        assert_eq!(built.document["spec"]["names"]["shortNames"], json!(["mc"]));
        assert_eq!(built.document["spec"].get("conversion"), None);
    }

    #[test]
    fn controller_gen_sorts_versions_by_name() {
        #[derive(JsonSchema)]
        struct Any {}
        let builder = CrdBuilder::of_root::<Any>("example.com", "v10", "Any").root_version::<Any>("v2");
        let builder = builder.root_version::<Any>("v2alpha1").root_version::<Any>("v1beta1");
        let order = |options: CrdOptions| {
            let built = builder.clone().options(options).build();
            names(&built).into_iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(order(CrdOptions::default()), ["v10", "v2", "v1beta1", "v2alpha1"]);
        assert_eq!(order(CrdOptions::controller_gen()), ["v10", "v1beta1", "v2", "v2alpha1"]);
    }

    #[test]
    fn several_versions_are_converted_by_the_usual_webhook() {
        let options = CrdOptions { conversion: Some(ConversionWebhook::default()), ..CrdOptions::default() };
        let one = CrdBuilder::of::<v1::Memcached>().options(options.clone());
        assert_eq!(one.build().document["spec"].get("conversion"), None);
        let built = one.version::<v1alpha1::Memcached>().build();
        let service = &built.document["spec"]["conversion"]["webhook"]["clientConfig"]["service"];
        assert_eq!(*service, json!({"name": "webhook-service", "namespace": "system", "path": "/convert"}));
    }

    #[test]
    fn versions_must_not_contradict_each_other() {
        let built = CrdBuilder::of::<v1::Memcached>().version::<v2beta1::Memcached>().build();
        let found: Vec<_> =
            built.diagnostics.iter().map(|found| (found.message.as_str(), marker_of(found).1)).collect();
        assert_eq!(
            found,
            [
                ("the plural name is `mems` here, but `memcacheds` in the attributes of `MemcachedSpec`", ""),
                ("the scope is `Cluster` here, but `Namespaced` in the attributes of `MemcachedSpec`", ""),
                (
                    "the list of short names is `mem` here, but `mc` by `+kubebuilder:resource:shortName=mc` on \
                     `MemcachedSpec`",
                    "mem",
                ),
                ("Memcached stores v2beta1 here, but v1 as well", "+kubebuilder:storageversion"),
            ]
        );
        assert!(built.has_errors());
    }

    #[test]
    fn one_type_is_one_version_and_two_are_a_fault() {
        #[derive(JsonSchema)]
        struct One {}
        #[derive(JsonSchema)]
        struct Other {}
        let builder = CrdBuilder::of_root::<One>("example.com", "v1", "One").root_version::<One>("v1");
        assert_eq!(faults(&builder.build()), []);
        let built = builder.root_version::<Other>("v1").build();
        assert_eq!(built.diagnostics[0].code, "duplicate-version");
    }

    #[test]
    fn versions_are_of_one_kind() {
        let built = CrdBuilder::of::<v1::Memcached>().version::<Cache>().build();
        assert!(faults(&built).iter().any(|(code, _)| *code == "other-kind"));
    }

    #[test]
    fn nothing_says_which_version_is_stored() {
        #[derive(JsonSchema)]
        struct Any {}
        let built = CrdBuilder::of_root::<Any>("example.com", "v1", "Any").root_version::<Any>("v2").build();
        assert_eq!(faults(&built), [("storage-version", "no version of Any is stored")]);
        // Whatever is said of a single version, it is stored.
        assert_eq!(names(&CrdBuilder::of_root::<Any>("example.com", "v1", "Any").build()), [("v1", true)]);
    }

    #[test]
    fn a_skipped_version_is_left_out() {
        /// +kubebuilder:skipversion
        #[derive(JsonSchema)]
        struct Skipped {}
        #[derive(JsonSchema)]
        struct Kept {}
        let builder = CrdBuilder::of_root::<Skipped>("example.com", "v1", "Any");
        assert_eq!(faults(&builder.build()), [("no-version", "every version of Any is skipped")]);
        let built = builder.root_version::<Kept>("v2").build();
        assert_eq!(faults(&built), []);
        assert_eq!(names(&built), [("v2", true)]);
    }

    #[test]
    fn a_version_must_be_served() {
        /// +kubebuilder:unservedversion
        #[derive(JsonSchema)]
        struct Hidden {}
        let built = CrdBuilder::of_root::<Hidden>("example.com", "v1", "Any").build();
        assert_eq!(faults(&built), [("no-served-version", "no version of Any is served")]);
        assert_eq!(version(&built, 0)["served"], false);
    }
}

#[test]
fn markers_must_not_contradict_attributes() {
    /// +kubebuilder:resource:scope=Cluster,path=other
    /// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(
        group = "cache.example.com",
        version = "v1",
        kind = "Memcached",
        namespaced,
        printcolumn(name = "Size", type_ = "string", json_path = ".spec.size")
    )]
    struct MemcachedSpec {
        size: i32,
    }
    let built = crd::<Memcached>();
    let messages: Vec<_> = faults(&built).into_iter().map(|(_, message)| message).collect();
    assert_eq!(
        messages,
        [
            "the plural name is `memcacheds` here, but `other` by \
             `+kubebuilder:resource:scope=Cluster,path=other` on `MemcachedSpec`",
            "the scope is `Namespaced` here, but `Cluster` by \
             `+kubebuilder:resource:scope=Cluster,path=other` on `MemcachedSpec`",
            "the column \"Size\" is {\"jsonPath\":\".spec.size\",\"name\":\"Size\",\"type\":\"string\"} here, but \
             {\"jsonPath\":\".spec.size\",\"name\":\"Size\",\"type\":\"integer\"} by \
             `+kubebuilder:printcolumn:name=\"Size\",type=integer,JSONPath=`.spec.size`` on `MemcachedSpec`",
        ]
    );
}

#[test]
fn metadata_is_key_and_value() {
    /// +kubebuilder:metadata:annotations="abc",labels={"a=b=c"}
    #[derive(JsonSchema)]
    struct Any {}
    let built = CrdBuilder::of_root::<Any>("example.com", "v1", "Any").build();
    assert_eq!(faults(&built), [("invalid-value", "`abc` is not in the form `key=value`")]);
    assert_eq!(built.document["metadata"]["labels"], json!({"a": "b=c"}));
}

#[test]
fn a_webhook_is_at_a_url_or_behind_a_service() {
    /// +kubewright:conversion:url="https://example.com/convert",serviceName=hooks
    #[derive(JsonSchema)]
    struct Any {}
    let built = CrdBuilder::of_root::<Any>("example.com", "v1", "Any").build();
    assert_eq!(faults(&built), [("contradiction", "the webhook is at a URL, so it has no `serviceName`")]);
    assert_eq!(marker_of(&built.diagnostics[0]).1, "hooks");
    let client = &built.document["spec"]["conversion"]["webhook"]["clientConfig"];
    assert_eq!(*client, json!({"url": "https://example.com/convert"}));
}

#[test]
fn what_versions_share_is_told_once() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "for its schema")]
    struct Shared {
        /// +kubebuilder:validation:Minimun=1
        size: i32,
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
        spec: Shared,
    }
    let built = CrdBuilder::of_root::<V1>("example.com", "v1", "Any").root_version::<V2>("v2").build();
    let codes: Vec<_> = faults(&built).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["unknown-marker"]);
}

#[test]
fn a_kind_without_a_spec_is_said_by_its_type() {
    /// +kubebuilder:resource:shortName=fl
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "example.com", version = "v1", kind = "Flat", no_spec)]
    struct FlatFields {
        /// +kubebuilder:validation:Minimum=1
        size: i32,
    }
    let built = build::<Flat>();
    assert_eq!(built.document["spec"]["names"]["shortNames"], json!(["fl"]));
    let schema = &version(&built, 0)["schema"]["openAPIV3Schema"];
    assert_eq!(schema["properties"]["size"], json!({"type": "integer", "format": "int32", "minimum": 1}));
    assert_eq!(schema["required"], json!(["size"]));
}

/// An enum of which kube's derive makes no schema.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type")]
enum Backend {
    Memory { size: i32 },
    Disk { path: String },
}

#[test]
fn a_panic_of_the_derive_is_told() {
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "example.com", version = "v1", kind = "Store")]
    struct StoreSpec {
        backend: Backend,
    }
    let built = crd::<Store>();
    assert_eq!(built.diagnostics[0].code, "derive-panicked");
    assert_eq!(built.diagnostics[0].severity, Severity::Error);
}

#[test]
fn the_schema_of_the_derive_can_be_disabled() {
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(
        group = "example.com",
        version = "v1",
        kind = "Store",
        schema = "disabled",
        derive = "JsonSchema",
        status = "CacheStatus"
    )]
    struct StoreSpec {
        backend: Backend,
    }
    let built = build::<Store>();
    let schema = &version(&built, 0)["schema"]["openAPIV3Schema"];
    assert_eq!(schema["required"], json!(["spec"]));
    assert_eq!(schema["properties"]["metadata"], json!({"type": "object"}));
    let properties = &schema["properties"]["spec"]["properties"]["backend"]["properties"];
    assert_eq!(properties["size"]["type"], "integer");
    assert_eq!(properties["path"]["type"], "string");
}

#[test]
fn controller_gen_style() {
    /// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.size`
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "for its schema")]
    struct Index {
        size: i32,
        status: Option<CacheStatus>,
    }
    let builder = CrdBuilder::of_root::<Index>("example.com", "v1", "Index");
    let built = builder.clone().options(CrdOptions::controller_gen()).build();
    assert_eq!(
        built.document["metadata"]["annotations"],
        json!({"controller-gen.kubebuilder.io/version": "v0.23.0"})
    );
    assert_eq!(version(&built, 0)["subresources"], json!({}));
    let mut options = CrdOptions::controller_gen();
    options.tool_version = None;
    assert_eq!(builder.clone().options(options).build().document["metadata"].get("annotations"), None);
    let ours = builder.build();
    assert_eq!(version(&ours, 0)["subresources"], json!({"status": {}}));
    assert_eq!(ours.document["metadata"].get("annotations"), None);
}

#[test]
fn a_plural_of_the_derive_that_controller_gen_does_not_make() {
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "example.com", version = "v1", kind = "Policy", plural = "policys")]
    struct PolicySpec {}
    assert_eq!(faults(&crd::<Policy>()), []);
    let built = CrdBuilder::of::<Policy>().options(CrdOptions::controller_gen()).build();
    assert_eq!(
        faults(&built),
        [("other-plural", "the plural of Policy is `policys`; controller-gen makes it `policies`")]
    );
    assert!(!built.has_errors());
    assert_eq!(built.document["spec"]["names"]["plural"], "policys");
}

#[test]
fn what_is_generated_goes_through_json() {
    let generated: Generated = [build::<Cache>()].into_iter().collect();
    let text = serde_json::to_string(&generated).expect("json");
    let read: Generated = serde_json::from_str(&text).expect("the same");
    assert_eq!(read.documents, generated.documents);
    assert_eq!(read.origins, generated.origins);
    assert!(text.contains(r#""typeName":"CacheSpec""#), "{text}");
}

#[cfg(feature = "check")]
mod checks {
    use super::*;

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
        let built = CrdBuilder::of_root::<V1>("example.com", "v1", "Any").root_version::<V2>("v2").build();
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
        let built = CrdBuilder::of_root::<Root>("example.com", "v1", "Any").build();
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
}
