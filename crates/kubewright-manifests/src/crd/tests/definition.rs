//! What a definition holds, and where its parts come from.

use serde_json::{Value, json};

use super::*;

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

#[test]
fn what_is_generated_goes_through_json() {
    let generated: Generated = [build::<Cache>()].into_iter().collect();
    let text = serde_json::to_string(&generated).expect("json");
    let read: Generated = serde_json::from_str(&text).expect("the same");
    assert_eq!(read.documents, generated.documents);
    assert_eq!(read.origins, generated.origins);
    assert!(text.contains(r#""typeName":"CacheSpec""#), "{text}");
}

#[test]
fn the_spec_of_one_kind_may_be_part_of_another() {
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "cache.example.com", version = "v1", kind = "Fleet")]
    struct FleetSpec {
        template: CacheSpec,
    }
    let (cache, fleet) = (crd::<Cache>(), crd::<Fleet>());
    assert!(faults(&fleet).iter().all(|(code, _)| *code == "marker-of-kind") && fleet.diagnostics.len() == 6);
    let both: Generated = [cache, fleet.clone()].into_iter().collect();
    assert_eq!(both.diagnostics, []);
    let alone: Generated = [fleet].into_iter().collect();
    assert_eq!(alone.diagnostics.len(), 6);
}
