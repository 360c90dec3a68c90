//! Definitions of kinds, by what they are made from.

#[cfg(feature = "check")]
mod checks;
mod contradictions;
mod definition;
mod derive;
#[path = "../../../tests/our_style/mod.rs"]
mod our_style;
mod style;
mod versions;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::*;
use crate::diagnostic::{Diagnostic, Place};

/// The codes of what is wrong, with the first words of each message.
fn faults(built: &Built) -> Vec<(&str, &str)> {
    built.diagnostics.iter().map(|found| (found.code.as_str(), found.message.as_str())).collect()
}

/// Makes a definition and shows it, under a name of its own, with those of all tests.
fn shown(name: &str, builder: &CrdBuilder) -> Built {
    our_style::assert_unchanged(&format!("unit-{name}"), builder.clone());
    builder.build()
}

/// Makes a definition without faults. Its name is the path of its type.
fn build<K: DerivedKind>() -> Built {
    let path = std::any::type_name::<K>();
    let (_, path) = path.split_once("::tests::").expect("a type of a test");
    let built = shown(&path.replace("::", "-"), &CrdBuilder::of::<K>());
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
