//! Structs, fields and what Rust's types are in JSON.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::{
    api::core::v1::PodTemplateSpec,
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{ObjectMeta, Time},
        runtime::RawExtension,
        util::intstr::IntOrString,
    },
};

use super::*;
use crate::diagnostic::Place;

#[test]
fn an_option_is_not_nullable() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Inner {
        name: String,
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        text: Option<String>,
        inner: Option<Inner>,
        inners: Vec<Option<Inner>>,
        #[schemars(extend("nullable" = true))]
        wanted: Option<String>,
    }
    let inner = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let expected = json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "inner": inner,
            "inners": {"type": "array", "items": inner},
            "wanted": {"type": "string", "nullable": true},
        },
        "required": ["inners"],
    });
    assert_eq!(ours::<Outer>(), expected);
    assert_eq!(go::<Outer>(), expected);
}

#[test]
fn integers_have_the_bounds_of_their_type() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Numbers {
        a: u8,
        b: i32,
        c: u32,
        d: u64,
        #[schemars(range(min = 1, max = 9))]
        e: u16,
        f: i64,
        g: usize,
    }
    assert_eq!(
        ours::<Numbers>()["properties"],
        json!({
            "a": {"type": "integer", "minimum": 0, "maximum": 255},
            "b": {"type": "integer", "format": "int32"},
            "c": {"type": "integer", "format": "int64", "minimum": 0, "maximum": 4_294_967_295_u32},
            "d": {"type": "integer", "format": "int64", "minimum": 0},
            "e": {"type": "integer", "minimum": 1, "maximum": 9},
            "f": {"type": "integer", "format": "int64"},
            "g": {"type": "integer", "format": "int64", "minimum": 0},
        })
    );
    assert_eq!(
        go::<Numbers>()["properties"],
        json!({
            "a": {"type": "integer"},
            "b": {"type": "integer", "format": "int32"},
            "c": {"type": "integer", "format": "int32"},
            "d": {"type": "integer", "format": "int64"},
            "e": {"type": "integer", "minimum": 1, "maximum": 9},
            "f": {"type": "integer", "format": "int64"},
            "g": {"type": "integer"},
        })
    );
}

#[test]
fn exclusive_bounds_are_flags() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Share {
        #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 10))]
        value: i32,
    }
    assert_eq!(
        ours::<Share>()["properties"]["value"],
        json!({
            "type": "integer", "format": "int32",
            "minimum": 0, "exclusiveMinimum": true, "maximum": 10, "exclusiveMaximum": true,
        })
    );
}

#[test]
fn floats_are_refused_where_go_refuses_them() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Ratio {
        value: f64,
    }
    assert_eq!(ours::<Ratio>()["properties"]["value"], json!({"type": "number", "format": "double"}));
    let mut options = Options { style: Style::ControllerGen, ..Options::default() };
    let diagnostics = compile::<Ratio>(&options).diagnostics;
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].code, "float");
    options.allow_dangerous_types = true;
    assert_eq!(checked::<Ratio>(&options)["properties"]["value"], json!({"type": "number"}));
}

#[test]
fn collections() {
    #[derive(Deserialize, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
    struct Item {
        name: String,
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Collections {
        tags: BTreeSet<String>,
        labels: BTreeMap<String, String>,
        any: BTreeMap<String, Value>,
        by_number: BTreeMap<u16, bool>,
        pair: (String, String),
        bytes: Vec<u8>,
        json: Value,
        items: BTreeSet<Item>,
    }
    assert_eq!(
        ours::<Collections>()["properties"],
        json!({
            "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "any": {"type": "object", "additionalProperties": {"x-kubernetes-preserve-unknown-fields": true}},
            "by_number": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "pair": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
            "bytes": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}},
            "json": {"x-kubernetes-preserve-unknown-fields": true},
            "items": {
                "type": "array",
                "items": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
            },
        })
    );
}

#[test]
fn flattened_fields_are_fields() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Common {
        /// The name.
        name: String,
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        #[serde(flatten)]
        common: Common,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
        size: i32,
    }
    assert_eq!(
        ours::<Outer>(),
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The name."},
                "size": {"type": "integer", "format": "int32"},
            },
            "required": ["name", "size"],
            "x-kubernetes-preserve-unknown-fields": true,
        })
    );
}

#[test]
fn well_known_types() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Known {
        time: Option<Time>,
        quantity: Quantity,
        port: IntOrString,
        raw: RawExtension,
        meta: ObjectMeta,
        #[schemars(schema_with = "crate::schema::byte_string")]
        bytes: k8s_openapi::ByteString,
    }
    let schema = go::<Known>();
    let properties = &schema["properties"];
    assert_eq!(properties["time"], json!({"type": "string", "format": "date-time"}));
    assert_eq!(properties["quantity"]["anyOf"], json!([{"type": "integer"}, {"type": "string"}]));
    assert_eq!(properties["port"]["x-kubernetes-int-or-string"], json!(true));
    assert_eq!(properties["raw"], json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    assert_eq!(properties["meta"], json!({"type": "object"}));
    assert_eq!(properties["bytes"], json!({"type": "string", "format": "byte"}));
    assert_eq!(ours::<Known>()["properties"]["meta"]["properties"]["labels"]["type"], "object");
}

#[test]
fn types_of_kubernetes_can_be_embedded() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Embeds {
        template: PodTemplateSpec,
    }
    let schema = ours::<Embeds>();
    let container =
        &schema["properties"]["template"]["properties"]["spec"]["properties"]["containers"]["items"];
    assert_eq!(container["properties"]["image"]["type"], "string");
}

#[test]
fn recursion_is_told_with_its_way() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Tree {
        branches: Vec<Branch>,
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Branch {
        tree: Option<Box<Tree>>,
    }
    let compiled = compile::<Tree>(&Options::default());
    assert_eq!(compiled.diagnostics.len(), 1);
    assert_eq!(
        compiled.diagnostics[0].message,
        "`Tree` contains itself (Tree.branches -> Branch.tree -> Tree), and a CRD is finite: it cannot describe a type of any depth"
    );
    is_structural(&compiled.schema);
}

#[test]
fn the_docs_of_a_field_replace_those_of_its_type() {
    /// Of the type.
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Name(String);
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        bare: Name,
        /// Of the field.
        documented: Name,
        list: Vec<Name>,
    }
    assert_eq!(
        ours::<Outer>()["properties"],
        json!({
            "bare": {"type": "string", "description": "Of the type."},
            "documented": {"type": "string", "description": "Of the field."},
            "list": {"type": "array", "items": {"type": "string", "description": "Of the type."}},
        })
    );
}

#[test]
fn the_descriptions_of_some_types_can_be_limited() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Embeds {
        /// The template. It is ours.
        template: PodTemplateSpec,
    }
    let mut options = Options::default();
    options.description_limits.set_module("k8s_openapi", 0);
    options.description_limits.set_module("k8s_openapi::api::core::v1::PodSpec", 20);
    let schema = checked::<Embeds>(&options);
    let template = &schema["properties"]["template"];
    assert_eq!(template["description"], "The template. It is ours.");
    let containers = &template["properties"]["spec"]["properties"]["containers"];
    assert_eq!(containers["description"], "List of containers...");
    assert_eq!(containers["items"]["properties"]["image"].get("description"), None);
}

#[test]
fn a_format_that_is_lost_is_told() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "for its schema")]
    struct Formatted {
        #[schemars(extend("format" = "semver"))]
        version: String,
        #[schemars(extend("format" = "uuid"))]
        known: String,
        /// Rust gives it a format of its own.
        address: std::net::IpAddr,
    }
    let compiled = compile::<Formatted>(&Options::default());
    let [found] = compiled.diagnostics.as_slice() else { panic!("{:?}", compiled.diagnostics) };
    assert_eq!((found.code.as_str(), found.is_error()), ("unknown-format", false));
    let Place::Doc { type_name, field, .. } = &found.place else { panic!("{:?}", found.place) };
    assert_eq!((type_name.as_str(), field.as_deref()), ("Formatted", Some("version")));
    assert!(found.message.contains("`semver` of `Formatted.version`"), "{}", found.message);
    assert_eq!(compiled.schema["properties"]["version"], json!({"type": "string"}));
    assert_eq!(compiled.schema["properties"]["known"]["format"], "uuid");
}

#[test]
fn one_name_for_two_types_and_inlined_types() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Wrapper<T> {
        /// +kubebuilder:validation:MinItems=1
        inner: Vec<T>,
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[schemars(inline)]
    struct Inline {
        /// +kubebuilder:validation:Minimum=1
        size: i32,
    }
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        texts: Wrapper<String>,
        inlined: Wrapper<Inline>,
        boxed: Option<Box<Inline>>,
    }
    let schema = ours::<Outer>();
    let inline = json!({
        "type": "object",
        "properties": {"size": {"type": "integer", "format": "int32", "minimum": 1}},
        "required": ["size"],
    });
    assert_eq!(
        schema["properties"]["texts"]["properties"]["inner"],
        json!({"type": "array", "minItems": 1, "items": {"type": "string"}})
    );
    assert_eq!(schema["properties"]["inlined"]["properties"]["inner"]["items"], inline);
    assert_eq!(schema["properties"]["boxed"], inline);
}

#[test]
fn what_has_no_value_or_no_schema_is_told() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    enum Never {}
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Odd {
        never: Option<Never>,
        unit: (),
        mixed: (String, bool),
    }
    let compiled = compile::<Odd>(&Options::default());
    let codes: Vec<&str> = compiled.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    assert_eq!(codes, ["uninhabited-type", "mixed-tuple", "unit-type"]);
    is_structural(&compiled.schema);
}

#[test]
fn a_type_that_describes_schemas_does_not_explode() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Outer {
        schema: k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps,
    }
    let compiled = compile::<Outer>(&Options::default());
    let others: Vec<_> =
        compiled.diagnostics.iter().filter(|diagnostic| diagnostic.code != "recursive-type").collect();
    assert!(others.is_empty(), "{others:#?}");
    is_structural(&compiled.schema);

    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Open {
        /// +kubewright:recursion=preserveUnknownFields
        schema: k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps,
    }
    ours::<Open>();
}
