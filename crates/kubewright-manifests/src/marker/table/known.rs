//! Markers of Go's generators that have nothing to do in Rust.

use super::ANYWHERE;
use crate::marker::{
    Arguments::{None as Nothing, OptionalValue, Value},
    Definition, Effect,
    ValueKind::{Bool, Raw, String as Text},
};

const COPY: &str = "Go's deep copies: derive `Clone` instead.";
const CLIENT: &str = "Go's generated clients: the typed client of this project needs no generated code.";
const APPLY: &str =
    "Go's apply configurations: `apply` takes the Rust type, with `Option` for what is left out.";

pub(super) static ROWS: &[Definition] = &[
    Definition::new(
        "kubebuilder:object:root",
        ANYWHERE,
        Value(Bool),
        Effect::Nothing,
        "Marks a kind for Go's deep copies: `#[derive(CustomResource)]` does it here.",
    )
    .native("#[derive(CustomResource)]"),
    Definition::new("kubebuilder:object:generate", ANYWHERE, Value(Bool), Effect::Nothing, COPY)
        .native("#[derive(Clone)]"),
    Definition::new("k8s:deepcopy-gen", ANYWHERE, Value(Raw), Effect::Nothing, COPY)
        .native("#[derive(Clone)]"),
    Definition::new("k8s:deepcopy-gen:interfaces", ANYWHERE, Value(Raw), Effect::Nothing, COPY)
        .aliases(&["k8s:deepcopy-gen:nonpointer-interfaces"])
        .native("#[derive(Clone)]"),
    Definition::new("kubebuilder:ac:generate", ANYWHERE, Value(Bool), Effect::Nothing, APPLY),
    Definition::new("kubebuilder:ac:output:package", ANYWHERE, Value(Text), Effect::Nothing, APPLY),
    Definition::new("genclient", ANYWHERE, Nothing, Effect::Nothing, CLIENT).aliases(&[
        "genclient:nonNamespaced",
        "genclient:noStatus",
        "genclient:noVerbs",
    ]),
    Definition::new("genclient:method", ANYWHERE, OptionalValue(Raw), Effect::Nothing, CLIENT)
        .aliases(&["genclient:onlyVerbs", "genclient:skipVerbs"]),
    Definition::new(
        "k8s:conversion-gen",
        ANYWHERE,
        OptionalValue(Raw),
        Effect::Nothing,
        "Go's generated conversions: implement `From` between the versions.",
    )
    .aliases(&["k8s:conversion-gen-external-types"]),
    Definition::new(
        "k8s:defaulter-gen",
        ANYWHERE,
        OptionalValue(Raw),
        Effect::Nothing,
        "Go's generated defaults: use `kubebuilder:default` and `#[serde(default)]`.",
    )
    .aliases(&["k8s:defaulter-gen-input"]),
    Definition::new(
        "k8s:openapi-gen",
        ANYWHERE,
        OptionalValue(Raw),
        Effect::Nothing,
        "Go's generated OpenAPI definitions: derive `JsonSchema`.",
    )
    .native("#[derive(JsonSchema)]"),
    Definition::new(
        "k8s:validation-gen",
        ANYWHERE,
        OptionalValue(Raw),
        Effect::Nothing,
        "Go's generated validation functions: the API server validates by the schema of the CRD.",
    ),
];
