//! Types of Kubernetes whose JSON is not what their definition says, and how to name a schema that Rust's types do not give.

use schemars::{Schema, SchemaGenerator, json_schema};

use super::{
    Options,
    node::{INT_OR_STRING, Node, PRESERVE},
};
use crate::Style;

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/// How a quantity is written.
const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// The schema of a well-known type in place of the one k8s-openapi gives.
pub(super) fn known(name: &str, options: &Options) -> Option<Node> {
    if let Some(name) = name.strip_prefix(META) {
        return match name {
            "Time" | "MicroTime" => {
                let mut node = Node::of_type("string");
                node.set("format", "date-time");
                Some(node)
            }
            "Duration" => Some(Node::of_type("string")),
            "ObjectMeta" => Some(object_meta(options)),
            _ => None,
        };
    }
    match name {
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString" => Some(int_or_string()),
        "io.k8s.apimachinery.pkg.api.resource.Quantity" => {
            let mut node = int_or_string();
            node.set("pattern", QUANTITY);
            Some(node)
        }
        "io.k8s.apimachinery.pkg.runtime.RawExtension" => {
            let mut node = Node::of_type("object");
            node.set(PRESERVE, true);
            Some(node)
        }
        // A schema or a boolean, or a list of them, is of no one type.
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"
        | "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray"
        | "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool"
        | "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray" => {
            Some(Node::any())
        }
        _ => None,
    }
}

/// An integer or a string.
pub(super) fn int_or_string() -> Node {
    let mut node = Node::default();
    node.set(INT_OR_STRING, true);
    node.any_of = vec![Node::of_type("integer"), Node::of_type("string")];
    node
}

/// The metadata of an object inside another one. An API server drops whatever the schema does not name, so in our style
/// what a template may carry is always there.
fn object_meta(options: &Options) -> Node {
    let mut node = Node::of_type("object");
    if !options.generate_embedded_object_meta.unwrap_or(options.style == Style::Kubewright) {
        return node;
    }
    let text = || Node::of_type("string");
    let map = || Node { additional: Some(Box::new(text())), ..Node::of_type("object") };
    let list = || Node { items: Some(Box::new(text())), ..Node::of_type("array") };
    node.properties = [
        ("name", text()),
        ("namespace", text()),
        ("labels", map()),
        ("annotations", map()),
        ("finalizers", list()),
    ]
    .map(|(name, node)| (name.to_owned(), node))
    .into();
    node
}

/// The schema of bytes that are written as a base64 string, as `k8s_openapi::ByteString` is.
///
/// Rust's `Vec<u8>` is written as a list of numbers, and its schema says so. For Go's `[]byte`, name this function:
///
/// ```
/// # use k8s_openapi::ByteString;
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// #[derive(Deserialize, Serialize, JsonSchema)]
/// struct BackupSpec {
///     #[schemars(schema_with = "kubewright_manifests::schema::byte_string")]
///     key: ByteString,
/// }
/// ```
#[must_use]
pub fn byte_string(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "format": "byte"})
}

/// The schema of a field that holds any JSON value, which the API server keeps as it is.
///
/// `serde_json::Value` has it by itself. For a field of another type, name this function in
/// `#[schemars(schema_with = "kubewright_manifests::schema::any_value")]`.
#[must_use]
pub fn any_value(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"x-kubernetes-preserve-unknown-fields": true})
}

/// The schema of an object of another kind inside this one: it has an API version, a kind and metadata, which the API server
/// checks, and any other fields, which it keeps.
#[must_use]
pub fn embedded_resource(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
    })
}
