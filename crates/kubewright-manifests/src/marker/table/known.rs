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
    .example("+kubebuilder:object:root=true")
    .native("#[derive(CustomResource)]"),
    Definition::new("kubebuilder:object:generate", ANYWHERE, Value(Bool), Effect::Nothing, COPY)
        .example("+kubebuilder:object:generate=true")
        .native("#[derive(Clone)]"),
    Definition::new("k8s:deepcopy-gen", ANYWHERE, Value(Raw), Effect::Nothing, COPY)
        .example("+k8s:deepcopy-gen=package")
        .native("#[derive(Clone)]"),
    Definition::new("k8s:deepcopy-gen:interfaces", ANYWHERE, Value(Raw), Effect::Nothing, COPY)
        .example("+k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object")
        .aliases(&["k8s:deepcopy-gen:nonpointer-interfaces"])
        .native("#[derive(Clone)]"),
    Definition::new("kubebuilder:ac:generate", ANYWHERE, Value(Bool), Effect::Nothing, APPLY)
        .example("+kubebuilder:ac:generate=true"),
    Definition::new("kubebuilder:ac:output:package", ANYWHERE, Value(Text), Effect::Nothing, APPLY)
        .example("+kubebuilder:ac:output:package=apply"),
    Definition::new("genclient", ANYWHERE, Nothing, Effect::Nothing, CLIENT).aliases(&[
        "genclient:nonNamespaced",
        "genclient:noStatus",
        "genclient:noVerbs",
    ]),
    Definition::new("genclient:method", ANYWHERE, OptionalValue(Raw), Effect::Nothing, CLIENT)
        .example("+genclient:method=Scale,verb=update")
        .aliases(&["genclient:onlyVerbs", "genclient:skipVerbs"]),
    Definition::new(
        "k8s:conversion-gen",
        ANYWHERE,
        OptionalValue(Raw),
        Effect::Nothing,
        "Go's generated conversions: implement `From` between the versions.",
    )
    .example("+k8s:conversion-gen=example.com/api/v1")
    .aliases(&["k8s:conversion-gen-external-types"]),
    Definition::new(
        "k8s:defaulter-gen",
        ANYWHERE,
        OptionalValue(Raw),
        Effect::Nothing,
        "Go's generated defaults: use `kubebuilder:default` and `#[serde(default)]`.",
    )
    .example("+k8s:defaulter-gen=TypeMeta")
    .aliases(&["k8s:defaulter-gen-input"]),
    Definition::new(
        "k8s:openapi-gen",
        ANYWHERE,
        OptionalValue(Raw),
        Effect::Nothing,
        "Go's generated OpenAPI definitions: derive `JsonSchema`.",
    )
    .example("+k8s:openapi-gen=true")
    .native("#[derive(JsonSchema)]"),
    Definition::new(
        "k8s:validation-gen",
        ANYWHERE,
        OptionalValue(Raw),
        Effect::Nothing,
        "Go's generated validation functions: the API server validates by the schema of the CRD.",
    )
    .example("+k8s:validation-gen=*"),
];
