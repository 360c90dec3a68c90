//! The attributes that the table of markers names beside them: they compile, and give the same keywords.
//!
//! Every attribute stands here as the table has it, which the first test makes sure of.

mod our_style;

use std::collections::BTreeMap;

use kube::{CustomResource, CustomResourceExt, KubeSchema};
use kubewright_manifests::{crd::CrdBuilder, marker::table::definitions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is there for its schema")]
struct Fields {
    #[schemars(range(min = 1))]
    minimum: i32,
    #[schemars(range(max = 3))]
    maximum: i32,
    #[schemars(extend("exclusiveMinimum" = 0))]
    exclusive_minimum: i32,
    #[schemars(extend("exclusiveMaximum" = 100))]
    exclusive_maximum: i32,
    #[schemars(extend("multipleOf" = 5))]
    multiple_of: i32,
    #[schemars(length(min = 1))]
    min_length: String,
    #[schemars(length(max = 63))]
    max_length: String,
    #[schemars(regex(pattern = r"^[a-z]+$"))]
    pattern: String,
    #[schemars(extend("format" = "ipv4"))]
    format: String,
    #[schemars(extend("enum" = ["small", "large"]))]
    words: String,
    #[schemars(length(min = 1))]
    min_items: Vec<u8>,
    #[schemars(length(max = 10))]
    max_items: Vec<u8>,
    #[schemars(extend("minProperties" = 1))]
    min_properties: BTreeMap<String, u8>,
    #[schemars(extend("maxProperties" = 10))]
    max_properties: BTreeMap<String, u8>,
    #[serde(default)]
    optional: i32,
    #[schemars(required)]
    required: Option<i32>,
    #[schemars(required, length(min = 1))]
    required_not_empty: Option<String>,
    #[schemars(extend("nullable" = true))]
    nullable: Option<i32>,
    #[schemars(extend("default" = 3))]
    with_default: i32,
    #[schemars(extend("example" = 3))]
    example: i32,
    #[schemars(title = "Size")]
    title: i32,
    #[schemars(extend("externalDocs" = {"url": "https://example.com"}))]
    external_docs: i32,
    #[schemars(extend("type" = "string"))]
    other_type: i32,
    #[schemars(extend("x-kubernetes-int-or-string" = true))]
    int_or_string: Value,
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    preserved: Value,
    #[schemars(extend("x-kubernetes-embedded-resource" = true))]
    embedded: Value,
    #[schemars(with = "serde_json::Value")]
    schemaless: i32,
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    list_type: Vec<u8>,
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"]))]
    list_map_keys: Vec<u8>,
    #[schemars(extend("x-kubernetes-map-type" = "atomic"))]
    map_type: BTreeMap<String, u8>,
}

#[derive(KubeSchema)]
#[expect(dead_code, reason = "it is there for its schema")]
#[x_kube(validation = Rule::new("self.min <= self.max").message("min is above max"))]
struct Range {
    min: i32,
    #[x_kube(validation = Rule::new("self == oldSelf").message("field is immutable"))]
    max: i32,
}

#[derive(CustomResource, JsonSchema, Clone, Debug, Serialize, Deserialize)]
#[kube(group = "cache.example.com")]
#[kube(version = "v1")]
#[kube(kind = "Memcached")]
#[kube(plural = "memcacheds", singular = "memcached", shortname = "mc", category = "all", namespaced)]
#[kube(printcolumn(name = "Size", type_ = "integer", json_path = ".spec.size"))]
#[kube(status = "MemcachedStatus")]
#[kube(scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.replicas"))]
#[kube(selectable = ".spec.color")]
#[kube(storage = true)]
#[kube(served = false)]
#[kube(deprecated = "use v1")]
#[kube(annotation("key", "value"), label("key", "value"))]
struct MemcachedSpec {
    size: i32,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct MemcachedStatus {
    replicas: i32,
}

#[test]
fn every_attribute_of_the_table_is_compiled_here() {
    let here = include_str!("native_attributes.rs");
    for row in definitions() {
        if let Some(attribute) = row.native {
            // Derives stand together in one attribute.
            let derived = attribute.strip_prefix("#[derive(").and_then(|rest| rest.strip_suffix(")]"));
            let written = derived.map_or_else(|| format!("{attribute}\n"), str::to_owned);
            assert!(here.contains(&written), "{}: {attribute} is not tested", row.name);
        }
    }
}

#[test]
fn attributes_of_fields_give_the_keywords() {
    let schema = schemars::schema_for!(Fields).to_value();
    for (field, keyword, value) in [
        ("minimum", "minimum", json!(1)),
        ("maximum", "maximum", json!(3)),
        ("exclusive_minimum", "exclusiveMinimum", json!(0)),
        ("exclusive_maximum", "exclusiveMaximum", json!(100)),
        ("multiple_of", "multipleOf", json!(5)),
        ("min_length", "minLength", json!(1)),
        ("max_length", "maxLength", json!(63)),
        ("pattern", "pattern", json!("^[a-z]+$")),
        ("format", "format", json!("ipv4")),
        ("words", "enum", json!(["small", "large"])),
        ("min_items", "minItems", json!(1)),
        ("max_items", "maxItems", json!(10)),
        ("min_properties", "minProperties", json!(1)),
        ("max_properties", "maxProperties", json!(10)),
        ("required_not_empty", "minLength", json!(1)),
        ("nullable", "nullable", json!(true)),
        ("with_default", "default", json!(3)),
        ("example", "example", json!(3)),
        ("title", "title", json!("Size")),
        ("external_docs", "externalDocs", json!({"url": "https://example.com"})),
        ("other_type", "type", json!("string")),
        ("int_or_string", "x-kubernetes-int-or-string", json!(true)),
        ("preserved", "x-kubernetes-preserve-unknown-fields", json!(true)),
        ("embedded", "x-kubernetes-embedded-resource", json!(true)),
        ("list_type", "x-kubernetes-list-type", json!("map")),
        ("list_map_keys", "x-kubernetes-list-map-keys", json!(["name"])),
        ("map_type", "x-kubernetes-map-type", json!("atomic")),
    ] {
        assert_eq!(schema["properties"][field][keyword], value, "{field}");
    }
    assert_eq!(schema["properties"]["schemaless"], json!(true));
    let required = schema["required"].as_array().unwrap();
    for (field, is_required) in
        [("optional", false), ("required", true), ("required_not_empty", true), ("nullable", false)]
    {
        assert_eq!(required.contains(&json!(field)), is_required, "{field}");
    }
}

#[test]
fn rules_stand_on_types_and_fields() {
    let schema = schemars::schema_for!(Range).to_value();
    assert_eq!(schema["x-kubernetes-validations"][0]["message"], "min is above max");
    assert_eq!(schema["properties"]["max"]["x-kubernetes-validations"][0]["rule"], "self == oldSelf");
}

#[test]
fn attributes_of_kinds_are_those_of_the_crd() {
    let crd = serde_json::to_value(Memcached::crd()).unwrap();
    let version = &crd["spec"]["versions"][0];
    assert_eq!(crd["spec"]["names"]["shortNames"], json!(["mc"]));
    assert_eq!(crd["spec"]["names"]["categories"], json!(["all"]));
    assert_eq!(crd["spec"]["scope"], "Namespaced");
    assert_eq!(crd["metadata"]["annotations"]["key"], "value");
    assert_eq!(crd["metadata"]["labels"]["key"], "value");
    assert_eq!(version["additionalPrinterColumns"][0]["name"], "Size");
    assert_eq!(version["subresources"]["scale"]["specReplicasPath"], ".spec.replicas");
    assert_eq!(version["selectableFields"][0]["jsonPath"], ".spec.color");
    assert_eq!([&version["storage"], &version["served"]], [&json!(true), &json!(false)]);
    assert_eq!(version["deprecationWarning"], "use v1");
}

#[test]
fn definitions_in_our_style() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "it is there for its schema")]
    struct Attributed {
        spec: Fields,
        range: Range,
    }
    our_style::assert_unchanged("native-memcacheds", CrdBuilder::of::<Memcached>());
    let builder = CrdBuilder::of_root::<Attributed>("parity.example.com", "v1", "Attributed");
    our_style::assert_unchanged("native-attributeds", builder);
}
