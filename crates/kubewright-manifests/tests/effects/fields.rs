//! What else is said of fields and values.

use std::collections::BTreeMap;

use kubewright_manifests::marker::Target;
use schemars::JsonSchema;

use super::entry::{Entry, Item};

pub(crate) fn entries() -> Vec<Entry> {
    let mut all = vec![
        field!(i32: "+optional"),
        field!(i32: "+kubebuilder:validation:Optional"),
        field!(i32: "+k8s:optional"),
        field!(Option<i32>: "+required"),
        field!(Option<i32>: "+kubebuilder:validation:Required"),
        field!(Option<i32>: "+k8s:required"),
        field!(Option<String>: "+k8s:required"),
        field!(Option<Vec<String>>: "+k8s:required"),
        field!(Option<BTreeMap<String, String>>: "+k8s:required"),
        field!(Option<Item>: "+k8s:required"),
        field!(Option<i32>: "+nullable"),
        field!(Option<i32>: "+kubebuilder:default=3"),
        field!(Option<Vec<String>>: "+kubebuilder:default={}"),
        field!(Option<Item>: "+kubebuilder:default={name: web, port: 80}"),
        field!(Option<Item>: r#"+default={"name": "web"}"#),
        field!(Option<i32>, ["+default=2"] => ["+default=2", "+kubebuilder:default=3"]),
        field!(String: "+kubebuilder:example=10.0.0.0/8"),
        field!(String: "+kubebuilder:title=Size of the cache"),
        typed!(String: "+kubebuilder:title=Size of the cache"),
        spec!("+kubebuilder:title=Size of the cache"),
        field!(String: "+kubebuilder:externalDocs:url=\"https://example.com/sizes\""),
        typed!(String: "+kubebuilder:externalDocs:url=\"https://example.com/sizes\""),
        spec!("+kubebuilder:externalDocs:url=\"https://example.com/sizes\""),
        field!(
            String,
            ["+kubebuilder:externalDocs:url=\"https://example.com/sizes\""] => [
                "+kubebuilder:externalDocs:url=\"https://example.com/sizes\",description=How to choose"
            ]
        ),
        field!(String, ["What it is. And more."] => [
            "What it is. And more.", "+kubewright:description:maxLength=12"
        ]),
        typed!(struct { a: i32 }, ["What it is."] => ["What it is.", "+kubewright:description:maxLength=0"]),
        spec!(["What is wanted."] => ["What is wanted.", "+kubewright:description:maxLength=0"]),
        recursion(),
    ];
    all.extend(values!(i32: "Type=string"));
    all.push(spec!("+kubebuilder:validation:Type=string"));
    all.extend(values!(String: "XIntOrString"));
    all.push(spec!("+kubebuilder:validation:XIntOrString"));
    all.push(field!(Item: "+kubebuilder:pruning:PreserveUnknownFields"));
    all.push(typed!(struct { a: i32 }: "+kubebuilder:pruning:PreserveUnknownFields"));
    all.push(spec!("+kubebuilder:pruning:PreserveUnknownFields"));
    all.extend(values!(Item: "XPreserveUnknownFields"));
    all.push(spec!("+kubebuilder:validation:XPreserveUnknownFields"));
    all.push(field!(Item: "+kubebuilder:validation:EmbeddedResource"));
    all.extend(values!(Item: "XEmbeddedResource"));
    all.push(spec!("+kubebuilder:validation:XEmbeddedResource"));
    all.push(field!(Item: "+kubebuilder:validation:Schemaless"));
    all
}

/// A type that contains itself.
fn recursion() -> Entry {
    #[derive(JsonSchema)]
    #[schemars(rename = "Tree")]
    struct Before {
        children: Option<Vec<Before>>,
    }
    #[derive(JsonSchema)]
    #[schemars(rename = "Tree")]
    struct After {
        /// +kubewright:recursion=preserveUnknownFields
        children: Option<Vec<After>>,
    }
    Entry::of_schemas::<Before, After>(
        Target::Field,
        "Option<Vec<Tree>> of Tree",
        (&[], &["+kubewright:recursion=preserveUnknownFields"]),
    )
}
