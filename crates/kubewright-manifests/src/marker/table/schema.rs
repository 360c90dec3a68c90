//! What else is said of fields and values.

use super::{FIELD, TYPE_OR_FIELD};
use crate::marker::{
    Argument,
    Arguments::{Named, None as Nothing, Value},
    Definition,
    Effect::Schema,
    SchemaEffect as S,
    ValueKind::{Any, Integer, Json, String as Text, Word},
};

const DOCUMENTATION: &[Argument] = &[
    Argument::required("url", Text, "The address, which is absolute."),
    Argument::optional("description", Text, "What is found there."),
];

const DESCRIPTION: &[Argument] = &[Argument::required(
    "maxLength",
    Integer,
    "The largest number of bytes of a description; 0 leaves descriptions out.",
)];

/// The types of OpenAPI that a structural schema can have.
const TYPES: &[&str] = &["string", "integer", "number", "boolean", "array", "object", "Any"];

pub(super) static ROWS: &[Definition] = &[
    Definition::new(
        "optional",
        FIELD,
        Nothing,
        Schema(S::Optional),
        "The field may be left out. In Rust an `Option` or a `#[serde(default)]` says that already.",
    )
    .aliases(&["kubebuilder:validation:Optional", "k8s:optional"])
    .native("#[serde(default)]"),
    Definition::new(
        "required",
        FIELD,
        Nothing,
        Schema(S::Required),
        "The field must be there, though its Rust type allows it to be left out.",
    )
    .aliases(&["kubebuilder:validation:Required"])
    .native("#[schemars(required)]"),
    Definition::new(
        "k8s:required",
        FIELD,
        Nothing,
        Schema(S::RequiredNotEmpty),
        "The field must be there and must not be empty: `minLength`, `minItems` or `minProperties` is 1 unless another bound is given.",
    )
    .native("#[schemars(required, length(min = 1))]"),
    Definition::new(
        "nullable",
        FIELD,
        Nothing,
        Schema(S::Nullable),
        "The value may be `null`, and the API server keeps that instead of dropping it.",
    )
    .native("#[schemars(extend(\"nullable\" = true))]"),
    Definition::new(
        "kubebuilder:default",
        FIELD,
        Value(Any),
        Schema(S::Default),
        "The value that the API server stores when the field is left out. It wins over `default`.",
    ).example("+kubebuilder:default={name: web, ports: {80, 443}}")
    .native("#[schemars(extend(\"default\" = 3))]"),
    Definition::new(
        "default",
        FIELD,
        Value(Json),
        Schema(S::Default),
        "The value, as JSON, that the API server stores when the field is left out.",
    ).example(r#"+default={"name": "web"}"#)
    .priority(9)
    .native("#[schemars(extend(\"default\" = 3))]"),
    Definition::new(
        "kubebuilder:example",
        FIELD,
        Value(Any),
        Schema(S::Example),
        "An example of a value, for those who read the schema.",
    ).example("+kubebuilder:example=10.0.0.0/8")
    .native("#[schemars(extend(\"example\" = 3))]"),
    Definition::new(
        "kubebuilder:title",
        TYPE_OR_FIELD,
        Value(Any),
        Schema(S::Title),
        "A short name for people. Write it in quotes where it could be taken for a number.",
    ).example("+kubebuilder:title=Size of the cache")
    .native("#[schemars(title = \"Size\")]"),
    Definition::new(
        "kubebuilder:externalDocs",
        TYPE_OR_FIELD,
        Named(DOCUMENTATION),
        Schema(S::ExternalDocs),
        "Where more is written.",
    ).example(r#"+kubebuilder:externalDocs:url="https://example.com/sizes",description=How to choose"#)
    .native("#[schemars(extend(\"externalDocs\" = {\"url\": \"https://example.com\"}))]"),
    Definition::new(
        "kubewright:description",
        TYPE_OR_FIELD,
        Named(DESCRIPTION),
        Schema(S::Description),
        "Limits the descriptions from this point of the schema downward, so that a large CRD stays below what `kubectl apply` can hold.",
    ).example("+kubewright:description:maxLength=0"),
    Definition::new(
        "kubewright:recursion",
        FIELD,
        Value(Word(&["preserveUnknownFields"])),
        Schema(S::Recursion),
        "Opens a recursive type at this field: what is below is kept by the API server, but not validated.",
    ).example("+kubewright:recursion=preserveUnknownFields"),
    Definition::new(
        "kubebuilder:validation:Type",
        TYPE_OR_FIELD,
        Value(Word(TYPES)),
        Schema(S::Type),
        "The type in the schema, whatever the Rust type is. It is applied before all other markers.",
    ).example("+kubebuilder:validation:Type=string")
    .on_items()
    .priority(9)
    .native("#[schemars(extend(\"type\" = \"string\"))]"),
    Definition::new(
        "kubebuilder:validation:XIntOrString",
        TYPE_OR_FIELD,
        Nothing,
        Schema(S::IntOrString),
        "The value is a whole number or a text, as a port or a percentage.",
    )
    .on_items()
    .priority(9)
    .native("#[schemars(extend(\"x-kubernetes-int-or-string\" = true))]"),
    Definition::new(
        "kubebuilder:pruning:PreserveUnknownFields",
        TYPE_OR_FIELD,
        Nothing,
        Schema(S::PreserveUnknownFields),
        "The API server keeps fields that the schema does not name, instead of dropping them.",
    )
    .native("#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]"),
    Definition::new(
        "kubebuilder:validation:XPreserveUnknownFields",
        TYPE_OR_FIELD,
        Nothing,
        Schema(S::PreserveUnknownFields),
        "The older spelling of `kubebuilder:pruning:PreserveUnknownFields`; the one that items of a list can have.",
    )
    .on_items()
    .native("#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]"),
    Definition::new(
        "kubebuilder:validation:EmbeddedResource",
        FIELD,
        Nothing,
        Schema(S::EmbeddedResource),
        "The value is a whole object with `apiVersion`, `kind` and `metadata`.",
    )
    .native("#[schemars(extend(\"x-kubernetes-embedded-resource\" = true))]"),
    Definition::new(
        "kubebuilder:validation:XEmbeddedResource",
        TYPE_OR_FIELD,
        Nothing,
        Schema(S::EmbeddedResource),
        "`kubebuilder:validation:EmbeddedResource` for types and for the items of a list.",
    )
    .on_items()
    .native("#[schemars(extend(\"x-kubernetes-embedded-resource\" = true))]"),
    Definition::new(
        "kubebuilder:validation:Schemaless",
        FIELD,
        Nothing,
        Schema(S::Schemaless),
        "Forgets the schema of the Rust type: only the other markers of the field and its description count.",
    )
    .priority(1)
    .native("#[schemars(with = \"serde_json::Value\")]"),
];
