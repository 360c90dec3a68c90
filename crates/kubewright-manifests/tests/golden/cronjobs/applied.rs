//! The kind as it is in the tests of apply configurations, where some of the fields are other ones.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::batch::v1::JobTemplateSpec,
    apimachinery::pkg::{runtime::RawExtension, util::intstr::IntOrString},
};
use schemars::JsonSchema;

use super::types::{
    AssociativeType, Bytes, ConcurrencyPolicy, ContainsNestedMap, EmpiableObject, ExportedStruct, Hosts,
    InlineAlias, JustNestedObject, LongerString, MinMaxObject, NestedAssociativeList, NestedMap,
    NestedMapOfInfo, NestedObject, NestedStructWithSeveralFields, Preserved, RootObject, StringAlias,
    StringAliasWithValidation, StringEvenType, TotallyABool,
};
use super::v1::CronJobStatus;

/// A kind.
///
/// +kubebuilder:object:root=true
/// +kubebuilder:subresource:status
/// +kubebuilder:resource:singular=mycronjob
/// +kubebuilder:storageversion
/// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=https://github.com/kubernetes-sigs/controller-tools";"cert-manager.io/inject-ca-from-secret=cert-manager/cert-manager-webhook-ca"
/// +kubebuilder:selectablefield:JSONPath=`.spec.selectableFieldString`
#[derive(JsonSchema)]
pub(crate) struct CronJob {
    spec: Option<CronJobSpec>,
    status: Option<CronJobStatus>,
}

/// What is wanted.
///
/// +kubebuilder:validation:XValidation:rule="has(oldSelf.forbiddenInt) || !has(self.forbiddenInt)",message="not allowed",fieldPath=".forbiddenInt",reason="FieldValueForbidden"
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct CronJobSpec {
    /// A text.
    schedule: String,
    /// A text.
    ///
    /// +optional
    starting_deadline_seconds: Option<i64>,
    /// A text.
    ///
    /// +optional
    concurrency_policy: Option<ConcurrencyPolicy>,
    /// A text.
    ///
    /// +optional
    suspend: Option<bool>,
    /// A text.
    ///
    /// +optional
    no_really_suspend: Option<TotallyABool>,
    /// A text.
    binary_name: Bytes,
    /// A text.
    ///
    /// +nullable
    can_be_null: String,
    /// A text.
    job_template: JobTemplateSpec,
    /// A text.
    ///
    /// +optional
    successful_jobs_history_limit: Option<i32>,
    /// A text.
    ///
    /// +optional
    failed_jobs_history_limit: Option<i32>,
    /// A text.
    byte_slice_data: Option<BTreeMap<String, Bytes>>,
    /// A text.
    string_slice_data: Option<BTreeMap<String, Vec<String>>>,
    /// A text.
    ptr_data: Option<BTreeMap<String, String>>,
    /// A text.
    ///
    /// +kubebuilder:validation:MinLength=4
    #[schemars(rename = "twoOfAKindPart0")]
    two_of_akind_part0: String,
    /// A text.
    #[schemars(rename = "twoOfAKindPart1")]
    two_of_akind_part1: LongerString,
    /// A text.
    ///
    /// +kubebuilder:default=forty-two
    /// +kubebuilder:example=forty-two
    defaulted_string: String,
    /// A text.
    ///
    /// +kubebuilder:default={a,b}
    /// +kubebuilder:example={a,b}
    defaulted_slice: Vec<String>,
    /// A text.
    ///
    /// +kubebuilder:default={{nested: {foo: "baz", bar: true}},{nested: {foo: "qux", bar: false}}}
    /// +kubebuilder:example={{nested: {foo: "baz", bar: true}},{nested: {foo: "qux", bar: false}}}
    defaulted_object: Vec<RootObject>,
    /// A text.
    ///
    /// +kubebuilder:default={}
    defaulted_empty_slice: Vec<String>,
    /// A text.
    ///
    /// +kubebuilder:default={}
    defaulted_empty_map: BTreeMap<String, String>,
    /// A text.
    ///
    /// +kubebuilder:default={}
    defaulted_empty_object: EmpiableObject,
    /// A text.
    ///
    /// +kubebuilder:default="kubebuilder-default"
    /// +default="kubernetes-default"
    double_defaulted_string: String,
    /// A text.
    ///
    /// +default="forty-two"
    kubernetes_defaulted_string: String,
    /// A text.
    ///
    /// +default=["a","b"]
    kubernetes_defaulted_slice: Vec<String>,
    /// A text.
    ///
    /// +default=[{"nested": {"foo": "baz", "bar": true}},{"nested": {"foo": "qux", "bar": false}}]
    kubernetes_defaulted_object: Vec<RootObject>,
    /// A text.
    ///
    /// +default=[]
    kubernetes_defaulted_empty_slice: Vec<String>,
    /// A text.
    ///
    /// +default={}
    kubernetes_defaulted_empty_map: BTreeMap<String, String>,
    /// A text.
    ///
    /// +default={}
    kubernetes_defaulted_empty_object: EmpiableObject,
    /// A text.
    ///
    /// +default=ref(DefaultRefValue)
    kubernetes_defaulted_ref: Option<String>,
    /// A text.
    ///
    /// +kubebuilder:validation:Pattern=`^$|^((https):\/\/?)[^\s()<>]+(?:\([\w\d]+\)|([^[:punct:]\s]|\/?))$`
    pattern_object: String,
    /// +kubebuilder:validation:EmbeddedResource
    embedded_resource: RawExtension,
    /// +kubebuilder:pruning:PreserveUnknownFields
    #[schemars(rename = "unprunedJSON")]
    unpruned_json: NestedObject,
    /// +kubebuilder:pruning:PreserveUnknownFields
    /// +kubebuilder:validation:EmbeddedResource
    unpruned_embedded_resource: RawExtension,
    /// A text.
    unpruned_fom_type: Preserved,
    /// A text.
    ///
    /// +kubebuilder:pruning:PreserveUnknownFields
    unpruned_fom_type_and_field: Preserved,
    /// A text.
    ///
    /// +listType=map
    /// +listMapKey=name
    /// +listMapKey=secondary
    associative_list: Vec<AssociativeType>,
    /// A text.
    nestedassociative_list: NestedAssociativeList,
    /// A text.
    ///
    /// +mapType=granular
    map_of_info: BTreeMap<String, Bytes>,
    /// A text.
    nested_map_of_info: NestedMapOfInfo,
    /// A text.
    ///
    /// +structType=atomic
    struct_with_several_fields: NestedObject,
    /// A text.
    nested_struct_with_several_fields: NestedStructWithSeveralFields,
    /// A text.
    ///
    /// +structType=atomic
    nested_struct_with_several_fields_double_marked: NestedStructWithSeveralFields,
    /// A text.
    just_nested_object: Option<JustNestedObject>,
    /// A text.
    ///
    /// +kubebuilder:validation:Optional
    explicitly_optional_kubebuilder: String,
    /// A text.
    ///
    /// +optional
    explicitly_optional_kubernetes: String,
    /// A text.
    ///
    /// +kubebuilder:validation:Required
    explicitly_required_kubebuilder: Option<String>,
    /// A text.
    ///
    /// +required
    explicitly_required_kubernetes: Option<String>,
    /// A text.
    min_max_properties: Option<MinMaxObject>,
    /// A text.
    ///
    /// +kubebuilder:validation:Schemaless
    /// +kubebuilder:validation:Type=string
    schemaless: Option<Bytes>,
    /// A text.
    ///
    /// +kubebuilder:validation:XIntOrString
    /// +kubebuilder:validation:MaxLength=11
    /// +kubebuilder:validation:MinLength=2
    /// +kubebuilder:validation:Pattern="^((100|[0-9]{1,2})%|[0-9]+)$"
    #[schemars(rename = "intOrStringWithAPattern")]
    int_or_string_with_apattern: Option<IntOrString>,
    /// A text.
    nested_map: Option<NestedMap>,
    /// A text.
    nested_nested_map: Option<BTreeMap<String, NestedMap>>,
    /// A text.
    nested_map_in_struct: Option<BTreeMap<String, ContainsNestedMap>>,
    /// A text.
    map_of_arrays_of_floats: Option<BTreeMap<String, Vec<bool>>>,
    /// +kubebuilder:validation:Minimum=-0.5
    /// +kubebuilder:validation:Maximum=1.5
    /// +kubebuilder:validation:MultipleOf=0.5
    float_with_validations: f64,
    /// +kubebuilder:validation:Minimum=-0.5
    /// +kubebuilder:validation:Maximum=1.5
    /// +kubebuilder:validation:MultipleOf=0.5
    float64_with_validations: f64,
    /// +kubebuilder:validation:Minimum=-2
    /// +kubebuilder:validation:Maximum=2
    /// +kubebuilder:validation:MultipleOf=2
    int_with_validations: isize,
    /// +kubebuilder:validation:Minimum=-2
    /// +kubebuilder:validation:Maximum=2
    /// +kubebuilder:validation:MultipleOf=2
    int32_with_validations: i32,
    #[schemars(flatten)]
    exported_struct: ExportedStruct,
    /// A text.
    ///
    /// +kubebuilder:validation:XValidation:rule="self.size() % 2 == 0",message="must have even length"
    /// +kubebuilder:validation:XValidation:rule="true"
    string_with_even_length: Option<String>,
    /// A text.
    ///
    /// +kubebuilder:validation:XValidation:rule="self.size() % 2 == 0",messageExpression="self + ' has odd length, must be even'"
    string_with_even_length_and_message_expression: Option<String>,
    /// A text.
    ///
    /// +kubebuilder:validation:XValidation:rule="self.startsWith('good-')",message="must have good prefix"
    string_with_even_length_and_good_prefix: Option<StringEvenType>,
    /// A text.
    forbidden_int: Option<isize>,
    /// A text.
    ///
    /// +kubebuilder:validation:MinItems=1
    /// +kubebuilder:validation:items:MinLength=1
    /// +kubebuilder:validation:items:MaxLength=255
    /// +kubebuilder:validation:items:Pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$
    /// +listType=set
    hosts: Option<Vec<String>>,
    /// A text.
    ///
    /// +kubebuilder:validation:items:Enum=0;1;3
    enum_slice: Option<Vec<isize>>,
    hosts_alias: Option<Hosts>,
    /// A text.
    alias_from_package: Option<String>,
    /// A text.
    string_alias: Option<StringAlias>,
    string_alias_ptr: Option<StringAlias>,
    /// A text.
    ///
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=255
    string_alias_added_validation: Option<StringAlias>,
    /// A text.
    string_alias_already_validated: Option<StringAliasWithValidation>,
    /// A text.
    ///
    /// +kubebuilder:validation:MinItems=2
    /// +kubebuilder:validation:MaxItems=2
    string_pair: Vec<String>,
    /// A text.
    ///
    /// +kubebuilder:validation:MinItems=3
    longer_string_array: Option<Vec<LongerString>>,
    /// A text.
    ///
    /// +optional
    /// +default="TCP"
    protocol: Option<String>,
    /// A text.
    selectable_field_string: Option<String>,
    #[schemars(flatten)]
    inline_alias: InlineAlias,
    /// A text.
    ///
    /// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self == 0",message="must be set to 0 on creation. can be set to any value on an update.",optionalOldSelf=true
    only_allow_setting_on_update: Option<i32>,
    /// A text.
    ///
    /// +optional
    embedded_external: Option<EmbeddedExternalSpec>,
    struct_slice: Option<Vec<RootObject>>,
    struct_map: Option<BTreeMap<String, RootObject>>,
}

/// With the fields of a type of another package.
#[derive(JsonSchema)]
struct EmbeddedExternalSpec {
    #[schemars(flatten)]
    external_data: ExternalData,
    /// A text.
    extra: Option<String>,
}

#[derive(JsonSchema)]
struct ExternalData {
    key: Option<String>,
    value: Option<String>,
}
