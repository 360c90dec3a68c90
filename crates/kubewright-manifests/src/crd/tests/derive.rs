//! What kube's derive makes, and what it cannot make.

use serde_json::json;

use super::*;
use crate::diagnostic::Severity;

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
    let built = shown("panicking-derive", &CrdBuilder::of::<Store>());
    let [diagnostic] = built.diagnostics.as_slice() else { panic!("{:?}", built.diagnostics) };
    assert_eq!((diagnostic.code.as_str(), diagnostic.severity), ("derive-panicked", Severity::Error));
    assert_eq!(marker_of(diagnostic).0, "Backend");
    let start = "kube's derive of Store has no schema for `Backend` and panics: ";
    assert!(diagnostic.message.starts_with(start), "{}", diagnostic.message);
    assert!(diagnostic.help[0].contains("schema = \"disabled\""), "{:?}", diagnostic.help);
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
