//! The types of fields that the Go packages of the kind have in common.

use std::collections::BTreeMap;

use kubewright_manifests::schema::byte_string;
use schemars::JsonSchema;

// Written as base64.
#[derive(JsonSchema)]
#[schemars(transparent, inline)]
pub(super) struct Bytes(#[schemars(schema_with = "byte_string")] Vec<u8>);

/// Written as a string.
///
/// +kubebuilder:validation:Type=string
#[derive(JsonSchema)]
pub(super) struct TotallyABool(bool);

/// Bounded by the type.
///
/// +kubebuilder:validation:MinLength=4
#[derive(JsonSchema)]
pub(super) struct LongerString(String);

/// +kubebuilder:validation:Enum=Allow;Forbid;Replace
#[derive(JsonSchema)]
pub(super) struct ConcurrencyPolicy(String);

/// +k8s:enum
#[derive(JsonSchema)]
pub(super) enum K8sConcurrencyPolicy {
    Replace,
    Allow,
    Forbid,
}

#[derive(JsonSchema)]
pub(super) struct RootObject {
    nested: NestedObject,
}

#[derive(JsonSchema)]
pub(super) struct NestedObject {
    foo: String,
    bar: bool,
}

#[derive(JsonSchema)]
pub(super) struct EmpiableObject {
    /// +kubebuilder:default=forty-two
    foo: Option<String>,
    bar: Option<String>,
}

/// Reads and writes itself.
///
/// +kubebuilder:validation:Type=object
/// +kubebuilder:pruning:PreserveUnknownFields
#[derive(JsonSchema)]
pub(super) struct Preserved {}

#[derive(JsonSchema)]
pub(super) struct AssociativeType {
    name: String,
    secondary: isize,
    foo: String,
}

/// +listType=map
/// +listMapKey=name
/// +listMapKey=secondary
#[derive(JsonSchema)]
pub(super) struct NestedAssociativeList(Vec<AssociativeType>);

/// +k8s:listType=map
/// +k8s:listMapKey=name
/// +k8s:listMapKey=secondary
#[derive(JsonSchema)]
pub(super) struct K8sNestedAssociativeList(Vec<AssociativeType>);

/// +mapType=granular
#[derive(JsonSchema)]
pub(super) struct NestedMapOfInfo(BTreeMap<String, Bytes>);

/// +structType=atomic
#[derive(JsonSchema)]
pub(super) struct NestedStructWithSeveralFields(NestedObject);

#[derive(JsonSchema)]
pub(super) struct JustNestedObject(NestedObject);

/// +kubebuilder:validation:MinProperties=1
/// +kubebuilder:validation:MaxProperties=2
#[derive(JsonSchema)]
pub(super) struct MinMaxObject {
    foo: Option<String>,
    bar: Option<String>,
    baz: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct ContainsNestedMap {
    inner_map: Option<BTreeMap<String, String>>,
}

#[derive(JsonSchema)]
pub(super) struct UnexportedStruct {
    /// A text.
    foo: String,
}

#[derive(JsonSchema)]
pub(super) struct ExportedStruct {
    /// A text.
    baz: String,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct EmbeddedStruct {
    /// A text.
    from_embedded: Option<String>,
}

pub(super) type NestedMap = BTreeMap<String, BTreeMap<String, String>>;

pub(super) type InlineAlias = EmbeddedStruct;

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct InlinePointerStruct {
    from_pointer: Option<String>,
}

/// +kubebuilder:validation:XValidation:rule="self.size() % 2 == 0",message="must have even length"
#[derive(JsonSchema)]
pub(super) struct StringEvenType(String);

/// A text.
///
/// +kubebuilder:validation:MinItems=1
/// +kubebuilder:validation:items:MinLength=1
/// +kubebuilder:validation:items:MaxLength=255
/// +kubebuilder:validation:items:Pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$
/// +listType=set
#[derive(JsonSchema)]
pub(super) struct Hosts(Vec<String>);

pub(super) type StringAlias = String;

/// +kubebuilder:title="title on type"
#[derive(JsonSchema)]
pub(super) struct StringAliasWithTitle(String);

/// +kubebuilder:validation:MinLength=1
/// +kubebuilder:validation:MaxLength=255
#[derive(JsonSchema)]
pub(super) struct StringAliasWithValidation(String);

#[derive(JsonSchema)]
pub(super) struct UnmarkeredInteger(i32);

#[derive(JsonSchema)]
pub(super) struct UnmarkeredString(String);

/// +kubebuilder:validation:Type=string
#[derive(JsonSchema)]
#[schemars(rename = "URL")]
pub(super) struct Url {}

/// +kubebuilder:validation:Type=integer
/// +kubebuilder:validation:Format=int64
#[derive(JsonSchema)]
pub(super) struct Time2(String);

/// A text.
#[derive(JsonSchema)]
pub(super) struct Duration {
    /// A text.
    value: i64,
}
