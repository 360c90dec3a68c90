// The types of the entries in crates/kubewright-manifests/tests/effects, whose test writes this file.

// +groupName=parity.example.com
// +versionName=v1
package effects

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Item struct {
	Name string `json:"name"`
	Port *int32 `json:"port,omitempty"`
}

type Effect struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec EffectSpec `json:"spec"`
}

type EffectSpec struct {
	MinimumOnField MinimumOnField `json:"minimumOnField"`
	MinimumOnType MinimumOnType `json:"minimumOnType"`
	MinimumItemsOnField MinimumItemsOnField `json:"minimumItemsOnField"`
	MinimumItemsOnType MinimumItemsOnType `json:"minimumItemsOnType"`
	MaximumOnField MaximumOnField `json:"maximumOnField"`
	MaximumOnType MaximumOnType `json:"maximumOnType"`
	MaximumItemsOnField MaximumItemsOnField `json:"maximumItemsOnField"`
	MaximumItemsOnType MaximumItemsOnType `json:"maximumItemsOnType"`
	MaximumOnField2 MaximumOnField2 `json:"maximumOnField2"`
	MinimumOnField2 MinimumOnField2 `json:"minimumOnField2"`
	MaximumOnField3 MaximumOnField3 `json:"maximumOnField3"`
	MinimumOnField3 MinimumOnField3 `json:"minimumOnField3"`
	MaximumOnField4 MaximumOnField4 `json:"maximumOnField4"`
	ExclusiveMinimumOnField ExclusiveMinimumOnField `json:"exclusiveMinimumOnField"`
	ExclusiveMinimumOnType ExclusiveMinimumOnType `json:"exclusiveMinimumOnType"`
	ExclusiveMinimumItemsOnField ExclusiveMinimumItemsOnField `json:"exclusiveMinimumItemsOnField"`
	ExclusiveMinimumItemsOnType ExclusiveMinimumItemsOnType `json:"exclusiveMinimumItemsOnType"`
	ExclusiveMaximumOnField ExclusiveMaximumOnField `json:"exclusiveMaximumOnField"`
	ExclusiveMaximumOnType ExclusiveMaximumOnType `json:"exclusiveMaximumOnType"`
	ExclusiveMaximumItemsOnField ExclusiveMaximumItemsOnField `json:"exclusiveMaximumItemsOnField"`
	ExclusiveMaximumItemsOnType ExclusiveMaximumItemsOnType `json:"exclusiveMaximumItemsOnType"`
	MultipleOfOnField MultipleOfOnField `json:"multipleOfOnField"`
	MultipleOfOnType MultipleOfOnType `json:"multipleOfOnType"`
	MultipleOfItemsOnField MultipleOfItemsOnField `json:"multipleOfItemsOnField"`
	MultipleOfItemsOnType MultipleOfItemsOnType `json:"multipleOfItemsOnType"`
	MinLengthOnField MinLengthOnField `json:"minLengthOnField"`
	MinLengthOnType MinLengthOnType `json:"minLengthOnType"`
	MinLengthItemsOnField MinLengthItemsOnField `json:"minLengthItemsOnField"`
	MinLengthItemsOnType MinLengthItemsOnType `json:"minLengthItemsOnType"`
	MaxLengthOnField MaxLengthOnField `json:"maxLengthOnField"`
	MaxLengthOnType MaxLengthOnType `json:"maxLengthOnType"`
	MaxLengthItemsOnField MaxLengthItemsOnField `json:"maxLengthItemsOnField"`
	MaxLengthItemsOnType MaxLengthItemsOnType `json:"maxLengthItemsOnType"`
	PatternOnField PatternOnField `json:"patternOnField"`
	PatternOnType PatternOnType `json:"patternOnType"`
	PatternItemsOnField PatternItemsOnField `json:"patternItemsOnField"`
	PatternItemsOnType PatternItemsOnType `json:"patternItemsOnType"`
	FormatOnField FormatOnField `json:"formatOnField"`
	FormatOnType FormatOnType `json:"formatOnType"`
	FormatItemsOnField FormatItemsOnField `json:"formatItemsOnField"`
	FormatItemsOnType FormatItemsOnType `json:"formatItemsOnType"`
	EnumOnField EnumOnField `json:"enumOnField"`
	EnumOnType EnumOnType `json:"enumOnType"`
	EnumItemsOnField EnumItemsOnField `json:"enumItemsOnField"`
	EnumItemsOnType EnumItemsOnType `json:"enumItemsOnType"`
	EnumOnField2 EnumOnField2 `json:"enumOnField2"`
	MinItemsOnField MinItemsOnField `json:"minItemsOnField"`
	MinItemsOnType MinItemsOnType `json:"minItemsOnType"`
	MinItemsItemsOnField MinItemsItemsOnField `json:"minItemsItemsOnField"`
	MinItemsItemsOnType MinItemsItemsOnType `json:"minItemsItemsOnType"`
	MaxItemsOnField MaxItemsOnField `json:"maxItemsOnField"`
	MaxItemsOnType MaxItemsOnType `json:"maxItemsOnType"`
	MaxItemsItemsOnField MaxItemsItemsOnField `json:"maxItemsItemsOnField"`
	MaxItemsItemsOnType MaxItemsItemsOnType `json:"maxItemsItemsOnType"`
	MaxItemsOnField2 MaxItemsOnField2 `json:"maxItemsOnField2"`
	UniqueItemsOnField UniqueItemsOnField `json:"uniqueItemsOnField"`
	UniqueItemsOnType UniqueItemsOnType `json:"uniqueItemsOnType"`
	UniqueItemsItemsOnField UniqueItemsItemsOnField `json:"uniqueItemsItemsOnField"`
	UniqueItemsItemsOnType UniqueItemsItemsOnType `json:"uniqueItemsItemsOnType"`
	MinPropertiesOnField MinPropertiesOnField `json:"minPropertiesOnField"`
	MinPropertiesOnType MinPropertiesOnType `json:"minPropertiesOnType"`
	MinPropertiesItemsOnField MinPropertiesItemsOnField `json:"minPropertiesItemsOnField"`
	MinPropertiesItemsOnType MinPropertiesItemsOnType `json:"minPropertiesItemsOnType"`
	MaxPropertiesOnField MaxPropertiesOnField `json:"maxPropertiesOnField"`
	MaxPropertiesOnType MaxPropertiesOnType `json:"maxPropertiesOnType"`
	MaxPropertiesItemsOnField MaxPropertiesItemsOnField `json:"maxPropertiesItemsOnField"`
	MaxPropertiesItemsOnType MaxPropertiesItemsOnType `json:"maxPropertiesItemsOnType"`
	XValidationOnField XValidationOnField `json:"xValidationOnField"`
	XValidationOnType XValidationOnType `json:"xValidationOnType"`
	XValidationItemsOnField XValidationItemsOnField `json:"xValidationItemsOnField"`
	XValidationItemsOnType XValidationItemsOnType `json:"xValidationItemsOnType"`
	XValidationOnField2 XValidationOnField2 `json:"xValidationOnField2"`
	XValidationOnField3 XValidationOnField3 `json:"xValidationOnField3"`
	XValidationOnField4 XValidationOnField4 `json:"xValidationOnField4"`
	XValidationOnField5 XValidationOnField5 `json:"xValidationOnField5"`
	XValidationOnField6 XValidationOnField6 `json:"xValidationOnField6"`
	AtMostOneOfOnType AtMostOneOfOnType `json:"atMostOneOfOnType"`
	ExactlyOneOfOnType ExactlyOneOfOnType `json:"exactlyOneOfOnType"`
	AtLeastOneOfOnType AtLeastOneOfOnType `json:"atLeastOneOfOnType"`
	ImmutableOnField ImmutableOnField `json:"immutableOnField"`
	ImmutableOnField2 ImmutableOnField2 `json:"immutableOnField2"`
	EnumOnType2 EnumOnType2 `json:"enumOnType2"`
	OptionalOnField OptionalOnField `json:"optionalOnField"`
	OptionalOnField2 OptionalOnField2 `json:"optionalOnField2"`
	OptionalOnField3 OptionalOnField3 `json:"optionalOnField3"`
	RequiredOnField RequiredOnField `json:"requiredOnField"`
	RequiredOnField2 RequiredOnField2 `json:"requiredOnField2"`
	RequiredOnField3 RequiredOnField3 `json:"requiredOnField3"`
	RequiredOnField4 RequiredOnField4 `json:"requiredOnField4"`
	RequiredOnField5 RequiredOnField5 `json:"requiredOnField5"`
	RequiredOnField6 RequiredOnField6 `json:"requiredOnField6"`
	RequiredOnField7 RequiredOnField7 `json:"requiredOnField7"`
	NullableOnField NullableOnField `json:"nullableOnField"`
	DefaultOnField DefaultOnField `json:"defaultOnField"`
	DefaultOnField2 DefaultOnField2 `json:"defaultOnField2"`
	DefaultOnField3 DefaultOnField3 `json:"defaultOnField3"`
	DefaultOnField4 DefaultOnField4 `json:"defaultOnField4"`
	DefaultOnField5 DefaultOnField5 `json:"defaultOnField5"`
	ExampleOnField ExampleOnField `json:"exampleOnField"`
	TitleOnField TitleOnField `json:"titleOnField"`
	TitleOnType TitleOnType `json:"titleOnType"`
	ExternalDocsOnField ExternalDocsOnField `json:"externalDocsOnField"`
	ExternalDocsOnType ExternalDocsOnType `json:"externalDocsOnType"`
	ExternalDocsOnField2 ExternalDocsOnField2 `json:"externalDocsOnField2"`
	TypeOnField TypeOnField `json:"typeOnField"`
	TypeOnType TypeOnType `json:"typeOnType"`
	TypeItemsOnField TypeItemsOnField `json:"typeItemsOnField"`
	TypeItemsOnType TypeItemsOnType `json:"typeItemsOnType"`
	XIntOrStringOnField XIntOrStringOnField `json:"xIntOrStringOnField"`
	XIntOrStringOnType XIntOrStringOnType `json:"xIntOrStringOnType"`
	XIntOrStringItemsOnField XIntOrStringItemsOnField `json:"xIntOrStringItemsOnField"`
	XIntOrStringItemsOnType XIntOrStringItemsOnType `json:"xIntOrStringItemsOnType"`
	PreserveUnknownFieldsOnField PreserveUnknownFieldsOnField `json:"preserveUnknownFieldsOnField"`
	PreserveUnknownFieldsOnType PreserveUnknownFieldsOnType `json:"preserveUnknownFieldsOnType"`
	XPreserveUnknownFieldsOnField XPreserveUnknownFieldsOnField `json:"xPreserveUnknownFieldsOnField"`
	XPreserveUnknownFieldsOnType XPreserveUnknownFieldsOnType `json:"xPreserveUnknownFieldsOnType"`
	XPreserveUnknownFieldsItemsOnField XPreserveUnknownFieldsItemsOnField `json:"xPreserveUnknownFieldsItemsOnField"`
	XPreserveUnknownFieldsItemsOnType XPreserveUnknownFieldsItemsOnType `json:"xPreserveUnknownFieldsItemsOnType"`
	EmbeddedResourceOnField EmbeddedResourceOnField `json:"embeddedResourceOnField"`
	XEmbeddedResourceOnField XEmbeddedResourceOnField `json:"xEmbeddedResourceOnField"`
	XEmbeddedResourceOnType XEmbeddedResourceOnType `json:"xEmbeddedResourceOnType"`
	XEmbeddedResourceItemsOnField XEmbeddedResourceItemsOnField `json:"xEmbeddedResourceItemsOnField"`
	XEmbeddedResourceItemsOnType XEmbeddedResourceItemsOnType `json:"xEmbeddedResourceItemsOnType"`
	SchemalessOnField SchemalessOnField `json:"schemalessOnField"`
	ListTypeOnField ListTypeOnField `json:"listTypeOnField"`
	ListTypeOnField2 ListTypeOnField2 `json:"listTypeOnField2"`
	ListTypeOnType ListTypeOnType `json:"listTypeOnType"`
	ListMapKeyOnField ListMapKeyOnField `json:"listMapKeyOnField"`
	ListMapKeyOnField2 ListMapKeyOnField2 `json:"listMapKeyOnField2"`
	ListMapKeyOnType ListMapKeyOnType `json:"listMapKeyOnType"`
	MapTypeOnField MapTypeOnField `json:"mapTypeOnField"`
	MapTypeOnType MapTypeOnType `json:"mapTypeOnType"`
	StructTypeOnField StructTypeOnField `json:"structTypeOnField"`
	StructTypeOnType StructTypeOnType `json:"structTypeOnType"`
}

type MinimumOnField struct {
	// +kubebuilder:validation:Minimum=1
	Value int32 `json:"value"`
}

// +kubebuilder:validation:Minimum=1
type MinimumOnTypeValue int32

type MinimumOnType struct {
	Value MinimumOnTypeValue `json:"value"`
}

type MinimumItemsOnField struct {
	// +kubebuilder:validation:items:Minimum=1
	Value []int32 `json:"value"`
}

// +kubebuilder:validation:items:Minimum=1
type MinimumItemsOnTypeValue []int32

type MinimumItemsOnType struct {
	Value MinimumItemsOnTypeValue `json:"value"`
}

type MaximumOnField struct {
	// +kubebuilder:validation:Maximum=3
	Value int32 `json:"value"`
}

// +kubebuilder:validation:Maximum=3
type MaximumOnTypeValue int32

type MaximumOnType struct {
	Value MaximumOnTypeValue `json:"value"`
}

type MaximumItemsOnField struct {
	// +kubebuilder:validation:items:Maximum=3
	Value []int32 `json:"value"`
}

// +kubebuilder:validation:items:Maximum=3
type MaximumItemsOnTypeValue []int32

type MaximumItemsOnType struct {
	Value MaximumItemsOnTypeValue `json:"value"`
}

type MaximumOnField2 struct {
	// +kubebuilder:validation:Maximum=9223372036854775807
	Value int64 `json:"value"`
}

type MinimumOnField2 struct {
	// +kubebuilder:validation:Minimum=-9223372036854775808
	Value int64 `json:"value"`
}

type MaximumOnField3 struct {
	// +kubebuilder:validation:Maximum=1.5
	Value float64 `json:"value"`
}

type MinimumOnField3 struct {
	// +k8s:minimum=1 # at least one
	Value int32 `json:"value"`
}

type MaximumOnField4 struct {
	// +k8s:maximum=3
	Value int32 `json:"value"`
}

type ExclusiveMinimumOnField struct {
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:ExclusiveMinimum=true
	Value int32 `json:"value"`
}

// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:ExclusiveMinimum=true
type ExclusiveMinimumOnTypeValue int32

type ExclusiveMinimumOnType struct {
	Value ExclusiveMinimumOnTypeValue `json:"value"`
}

type ExclusiveMinimumItemsOnField struct {
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:ExclusiveMinimum=true
	Value []int32 `json:"value"`
}

// +kubebuilder:validation:items:Minimum=1
// +kubebuilder:validation:items:ExclusiveMinimum=true
type ExclusiveMinimumItemsOnTypeValue []int32

type ExclusiveMinimumItemsOnType struct {
	Value ExclusiveMinimumItemsOnTypeValue `json:"value"`
}

type ExclusiveMaximumOnField struct {
	// +kubebuilder:validation:Maximum=3
	// +kubebuilder:validation:ExclusiveMaximum=true
	Value int32 `json:"value"`
}

// +kubebuilder:validation:Maximum=3
// +kubebuilder:validation:ExclusiveMaximum=true
type ExclusiveMaximumOnTypeValue int32

type ExclusiveMaximumOnType struct {
	Value ExclusiveMaximumOnTypeValue `json:"value"`
}

type ExclusiveMaximumItemsOnField struct {
	// +kubebuilder:validation:items:Maximum=3
	// +kubebuilder:validation:items:ExclusiveMaximum=true
	Value []int32 `json:"value"`
}

// +kubebuilder:validation:items:Maximum=3
// +kubebuilder:validation:items:ExclusiveMaximum=true
type ExclusiveMaximumItemsOnTypeValue []int32

type ExclusiveMaximumItemsOnType struct {
	Value ExclusiveMaximumItemsOnTypeValue `json:"value"`
}

type MultipleOfOnField struct {
	// +kubebuilder:validation:MultipleOf=5
	Value int32 `json:"value"`
}

// +kubebuilder:validation:MultipleOf=5
type MultipleOfOnTypeValue int32

type MultipleOfOnType struct {
	Value MultipleOfOnTypeValue `json:"value"`
}

type MultipleOfItemsOnField struct {
	// +kubebuilder:validation:items:MultipleOf=5
	Value []int32 `json:"value"`
}

// +kubebuilder:validation:items:MultipleOf=5
type MultipleOfItemsOnTypeValue []int32

type MultipleOfItemsOnType struct {
	Value MultipleOfItemsOnTypeValue `json:"value"`
}

type MinLengthOnField struct {
	// +kubebuilder:validation:MinLength=1
	Value string `json:"value"`
}

// +kubebuilder:validation:MinLength=1
type MinLengthOnTypeValue string

type MinLengthOnType struct {
	Value MinLengthOnTypeValue `json:"value"`
}

type MinLengthItemsOnField struct {
	// +kubebuilder:validation:items:MinLength=1
	Value []string `json:"value"`
}

// +kubebuilder:validation:items:MinLength=1
type MinLengthItemsOnTypeValue []string

type MinLengthItemsOnType struct {
	Value MinLengthItemsOnTypeValue `json:"value"`
}

type MaxLengthOnField struct {
	// +kubebuilder:validation:MaxLength=63
	Value string `json:"value"`
}

// +kubebuilder:validation:MaxLength=63
type MaxLengthOnTypeValue string

type MaxLengthOnType struct {
	Value MaxLengthOnTypeValue `json:"value"`
}

type MaxLengthItemsOnField struct {
	// +kubebuilder:validation:items:MaxLength=63
	Value []string `json:"value"`
}

// +kubebuilder:validation:items:MaxLength=63
type MaxLengthItemsOnTypeValue []string

type MaxLengthItemsOnType struct {
	Value MaxLengthItemsOnTypeValue `json:"value"`
}

type PatternOnField struct {
	// +kubebuilder:validation:Pattern=`^[a-z]{1,8}$`
	Value string `json:"value"`
}

// +kubebuilder:validation:Pattern=`^[a-z]{1,8}$`
type PatternOnTypeValue string

type PatternOnType struct {
	Value PatternOnTypeValue `json:"value"`
}

type PatternItemsOnField struct {
	// +kubebuilder:validation:items:Pattern=`^[a-z]{1,8}$`
	Value []string `json:"value"`
}

// +kubebuilder:validation:items:Pattern=`^[a-z]{1,8}$`
type PatternItemsOnTypeValue []string

type PatternItemsOnType struct {
	Value PatternItemsOnTypeValue `json:"value"`
}

type FormatOnField struct {
	// +kubebuilder:validation:Format=date-time
	Value string `json:"value"`
}

// +kubebuilder:validation:Format=date-time
type FormatOnTypeValue string

type FormatOnType struct {
	Value FormatOnTypeValue `json:"value"`
}

type FormatItemsOnField struct {
	// +kubebuilder:validation:items:Format=date-time
	Value []string `json:"value"`
}

// +kubebuilder:validation:items:Format=date-time
type FormatItemsOnTypeValue []string

type FormatItemsOnType struct {
	Value FormatItemsOnTypeValue `json:"value"`
}

type EnumOnField struct {
	// +kubebuilder:validation:Enum=small;large
	Value string `json:"value"`
}

// +kubebuilder:validation:Enum=small;large
type EnumOnTypeValue string

type EnumOnType struct {
	Value EnumOnTypeValue `json:"value"`
}

type EnumItemsOnField struct {
	// +kubebuilder:validation:items:Enum=small;large
	Value []string `json:"value"`
}

// +kubebuilder:validation:items:Enum=small;large
type EnumItemsOnTypeValue []string

type EnumItemsOnType struct {
	Value EnumItemsOnTypeValue `json:"value"`
}

type EnumOnField2 struct {
	// +kubebuilder:validation:Enum=1;2
	Value int32 `json:"value"`
}

type MinItemsOnField struct {
	// +kubebuilder:validation:MinItems=1
	Value []string `json:"value"`
}

// +kubebuilder:validation:MinItems=1
type MinItemsOnTypeValue []string

type MinItemsOnType struct {
	Value MinItemsOnTypeValue `json:"value"`
}

type MinItemsItemsOnField struct {
	// +kubebuilder:validation:items:MinItems=1
	Value [][]string `json:"value"`
}

// +kubebuilder:validation:items:MinItems=1
type MinItemsItemsOnTypeValue [][]string

type MinItemsItemsOnType struct {
	Value MinItemsItemsOnTypeValue `json:"value"`
}

type MaxItemsOnField struct {
	// +kubebuilder:validation:MaxItems=10
	Value []string `json:"value"`
}

// +kubebuilder:validation:MaxItems=10
type MaxItemsOnTypeValue []string

type MaxItemsOnType struct {
	Value MaxItemsOnTypeValue `json:"value"`
}

type MaxItemsItemsOnField struct {
	// +kubebuilder:validation:items:MaxItems=10
	Value [][]string `json:"value"`
}

// +kubebuilder:validation:items:MaxItems=10
type MaxItemsItemsOnTypeValue [][]string

type MaxItemsItemsOnType struct {
	Value MaxItemsItemsOnTypeValue `json:"value"`
}

type MaxItemsOnField2 struct {
	// +k8s:maxItems=10
	Value []string `json:"value"`
}

type UniqueItemsOnField struct {
	// +kubebuilder:validation:UniqueItems=true
	Value []string `json:"value"`
}

// +kubebuilder:validation:UniqueItems=true
type UniqueItemsOnTypeValue []string

type UniqueItemsOnType struct {
	Value UniqueItemsOnTypeValue `json:"value"`
}

type UniqueItemsItemsOnField struct {
	// +kubebuilder:validation:items:UniqueItems=true
	Value [][]string `json:"value"`
}

// +kubebuilder:validation:items:UniqueItems=true
type UniqueItemsItemsOnTypeValue [][]string

type UniqueItemsItemsOnType struct {
	Value UniqueItemsItemsOnTypeValue `json:"value"`
}

type MinPropertiesOnField struct {
	// +kubebuilder:validation:MinProperties=1
	Value map[string]string `json:"value"`
}

// +kubebuilder:validation:MinProperties=1
type MinPropertiesOnTypeValue map[string]string

type MinPropertiesOnType struct {
	Value MinPropertiesOnTypeValue `json:"value"`
}

type MinPropertiesItemsOnField struct {
	// +kubebuilder:validation:items:MinProperties=1
	Value []map[string]string `json:"value"`
}

// +kubebuilder:validation:items:MinProperties=1
type MinPropertiesItemsOnTypeValue []map[string]string

type MinPropertiesItemsOnType struct {
	Value MinPropertiesItemsOnTypeValue `json:"value"`
}

type MaxPropertiesOnField struct {
	// +kubebuilder:validation:MaxProperties=10
	Value map[string]string `json:"value"`
}

// +kubebuilder:validation:MaxProperties=10
type MaxPropertiesOnTypeValue map[string]string

type MaxPropertiesOnType struct {
	Value MaxPropertiesOnTypeValue `json:"value"`
}

type MaxPropertiesItemsOnField struct {
	// +kubebuilder:validation:items:MaxProperties=10
	Value []map[string]string `json:"value"`
}

// +kubebuilder:validation:items:MaxProperties=10
type MaxPropertiesItemsOnTypeValue []map[string]string

type MaxPropertiesItemsOnType struct {
	Value MaxPropertiesItemsOnTypeValue `json:"value"`
}

type XValidationOnField struct {
	// +kubebuilder:validation:XValidation:rule="self != 2"
	Value int32 `json:"value"`
}

// +kubebuilder:validation:XValidation:rule="self != 2"
type XValidationOnTypeValue int32

type XValidationOnType struct {
	Value XValidationOnTypeValue `json:"value"`
}

type XValidationItemsOnField struct {
	// +kubebuilder:validation:items:XValidation:rule="self != 2"
	Value []int32 `json:"value"`
}

// +kubebuilder:validation:items:XValidation:rule="self != 2"
type XValidationItemsOnTypeValue []int32

type XValidationItemsOnType struct {
	Value XValidationItemsOnTypeValue `json:"value"`
}

type XValidationOnField2 struct {
	// +kubebuilder:validation:XValidation:rule="self != 2",message="two is not allowed"
	Value int32 `json:"value"`
}

type XValidationOnField3 struct {
	// +kubebuilder:validation:XValidation:rule="self != 2",messageExpression="'not ' + string(self)"
	Value int32 `json:"value"`
}

type XValidationOnField4 struct {
	// +kubebuilder:validation:XValidation:rule="self != 2",reason=FieldValueForbidden
	Value int32 `json:"value"`
}

type XValidationOnField5 struct {
	// +kubebuilder:validation:XValidation:rule="self != 2",optionalOldSelf=true
	Value int32 `json:"value"`
}

type XValidationOnField6 struct {
	// +kubebuilder:validation:XValidation:rule="self.name != ''",fieldPath=.name
	Value Item `json:"value"`
}

// +kubebuilder:validation:AtMostOneOf=a;b
type AtMostOneOfOnTypeValue struct {
	A *string `json:"a,omitempty"`
	B *string `json:"b,omitempty"`
}

type AtMostOneOfOnType struct {
	Value AtMostOneOfOnTypeValue `json:"value"`
}

// +kubebuilder:validation:ExactlyOneOf=a;b
type ExactlyOneOfOnTypeValue struct {
	A *string `json:"a,omitempty"`
	B *string `json:"b,omitempty"`
}

type ExactlyOneOfOnType struct {
	Value ExactlyOneOfOnTypeValue `json:"value"`
}

// +kubebuilder:validation:AtLeastOneOf=a;b
type AtLeastOneOfOnTypeValue struct {
	A *string `json:"a,omitempty"`
	B *string `json:"b,omitempty"`
}

type AtLeastOneOfOnType struct {
	Value AtLeastOneOfOnTypeValue `json:"value"`
}

type ImmutableOnField struct {
	// +k8s:immutable
	Value int32 `json:"value"`
}

type ImmutableOnField2 struct {
	// +k8s:immutable
	Value *int32 `json:"value,omitempty"`
}

// +k8s:enum
type EnumOnType2Value string

const EnumOnType2ValueSmall EnumOnType2Value = "Small"
const EnumOnType2ValueLarge EnumOnType2Value = "Large"

type EnumOnType2 struct {
	Value EnumOnType2Value `json:"value"`
}

type OptionalOnField struct {
	// +optional
	Value int32 `json:"value"`
}

type OptionalOnField2 struct {
	// +kubebuilder:validation:Optional
	Value int32 `json:"value"`
}

type OptionalOnField3 struct {
	// +k8s:optional
	Value int32 `json:"value"`
}

type RequiredOnField struct {
	// +required
	Value *int32 `json:"value,omitempty"`
}

type RequiredOnField2 struct {
	// +kubebuilder:validation:Required
	Value *int32 `json:"value,omitempty"`
}

type RequiredOnField3 struct {
	// +k8s:required
	Value *int32 `json:"value,omitempty"`
}

type RequiredOnField4 struct {
	// +k8s:required
	Value *string `json:"value,omitempty"`
}

type RequiredOnField5 struct {
	// +k8s:required
	Value []string `json:"value,omitempty"`
}

type RequiredOnField6 struct {
	// +k8s:required
	Value map[string]string `json:"value,omitempty"`
}

type RequiredOnField7 struct {
	// +k8s:required
	Value *Item `json:"value,omitempty"`
}

type NullableOnField struct {
	// +nullable
	Value *int32 `json:"value,omitempty"`
}

type DefaultOnField struct {
	// +kubebuilder:default=3
	Value *int32 `json:"value,omitempty"`
}

type DefaultOnField2 struct {
	// +kubebuilder:default={}
	Value []string `json:"value,omitempty"`
}

type DefaultOnField3 struct {
	// +kubebuilder:default={name: web, port: 80}
	Value *Item `json:"value,omitempty"`
}

type DefaultOnField4 struct {
	// +default={"name": "web"}
	Value *Item `json:"value,omitempty"`
}

type DefaultOnField5 struct {
	// +default=2
	// +kubebuilder:default=3
	Value *int32 `json:"value,omitempty"`
}

type ExampleOnField struct {
	// +kubebuilder:example=10.0.0.0/8
	Value string `json:"value"`
}

type TitleOnField struct {
	// +kubebuilder:title=Size of the cache
	Value string `json:"value"`
}

// +kubebuilder:title=Size of the cache
type TitleOnTypeValue string

type TitleOnType struct {
	Value TitleOnTypeValue `json:"value"`
}

type ExternalDocsOnField struct {
	// +kubebuilder:externalDocs:url="https://example.com/sizes"
	Value string `json:"value"`
}

// +kubebuilder:externalDocs:url="https://example.com/sizes"
type ExternalDocsOnTypeValue string

type ExternalDocsOnType struct {
	Value ExternalDocsOnTypeValue `json:"value"`
}

type ExternalDocsOnField2 struct {
	// +kubebuilder:externalDocs:url="https://example.com/sizes",description=How to choose
	Value string `json:"value"`
}

type TypeOnField struct {
	// +kubebuilder:validation:Type=string
	Value int32 `json:"value"`
}

// +kubebuilder:validation:Type=string
type TypeOnTypeValue int32

type TypeOnType struct {
	Value TypeOnTypeValue `json:"value"`
}

type TypeItemsOnField struct {
	// +kubebuilder:validation:items:Type=string
	Value []int32 `json:"value"`
}

// +kubebuilder:validation:items:Type=string
type TypeItemsOnTypeValue []int32

type TypeItemsOnType struct {
	Value TypeItemsOnTypeValue `json:"value"`
}

type XIntOrStringOnField struct {
	// +kubebuilder:validation:XIntOrString
	Value string `json:"value"`
}

// +kubebuilder:validation:XIntOrString
type XIntOrStringOnTypeValue string

type XIntOrStringOnType struct {
	Value XIntOrStringOnTypeValue `json:"value"`
}

type XIntOrStringItemsOnField struct {
	// +kubebuilder:validation:items:XIntOrString
	Value []string `json:"value"`
}

// +kubebuilder:validation:items:XIntOrString
type XIntOrStringItemsOnTypeValue []string

type XIntOrStringItemsOnType struct {
	Value XIntOrStringItemsOnTypeValue `json:"value"`
}

type PreserveUnknownFieldsOnField struct {
	// +kubebuilder:pruning:PreserveUnknownFields
	Value Item `json:"value"`
}

// +kubebuilder:pruning:PreserveUnknownFields
type PreserveUnknownFieldsOnTypeValue struct {
	A int32 `json:"a"`
}

type PreserveUnknownFieldsOnType struct {
	Value PreserveUnknownFieldsOnTypeValue `json:"value"`
}

type XPreserveUnknownFieldsOnField struct {
	// +kubebuilder:validation:XPreserveUnknownFields
	Value Item `json:"value"`
}

// +kubebuilder:validation:XPreserveUnknownFields
type XPreserveUnknownFieldsOnTypeValue Item

type XPreserveUnknownFieldsOnType struct {
	Value XPreserveUnknownFieldsOnTypeValue `json:"value"`
}

type XPreserveUnknownFieldsItemsOnField struct {
	// +kubebuilder:validation:items:XPreserveUnknownFields
	Value []Item `json:"value"`
}

// +kubebuilder:validation:items:XPreserveUnknownFields
type XPreserveUnknownFieldsItemsOnTypeValue []Item

type XPreserveUnknownFieldsItemsOnType struct {
	Value XPreserveUnknownFieldsItemsOnTypeValue `json:"value"`
}

type EmbeddedResourceOnField struct {
	// +kubebuilder:validation:EmbeddedResource
	Value Item `json:"value"`
}

type XEmbeddedResourceOnField struct {
	// +kubebuilder:validation:XEmbeddedResource
	Value Item `json:"value"`
}

// +kubebuilder:validation:XEmbeddedResource
type XEmbeddedResourceOnTypeValue Item

type XEmbeddedResourceOnType struct {
	Value XEmbeddedResourceOnTypeValue `json:"value"`
}

type XEmbeddedResourceItemsOnField struct {
	// +kubebuilder:validation:items:XEmbeddedResource
	Value []Item `json:"value"`
}

// +kubebuilder:validation:items:XEmbeddedResource
type XEmbeddedResourceItemsOnTypeValue []Item

type XEmbeddedResourceItemsOnType struct {
	Value XEmbeddedResourceItemsOnTypeValue `json:"value"`
}

type SchemalessOnField struct {
	// +kubebuilder:validation:Schemaless
	Value Item `json:"value"`
}

type ListTypeOnField struct {
	// +listType=set
	Value []string `json:"value"`
}

type ListTypeOnField2 struct {
	// +k8s:listType=atomic
	Value []string `json:"value"`
}

// +listType=set
type ListTypeOnTypeValue []string

type ListTypeOnType struct {
	Value ListTypeOnTypeValue `json:"value"`
}

type ListMapKeyOnField struct {
	// +listType=map
	// +listMapKey=name
	Value []Item `json:"value"`
}

type ListMapKeyOnField2 struct {
	// +k8s:listType=map
	// +k8s:listMapKey=name
	Value []Item `json:"value"`
}

// +listType=map
// +listMapKey=name
type ListMapKeyOnTypeValue []Item

type ListMapKeyOnType struct {
	Value ListMapKeyOnTypeValue `json:"value"`
}

type MapTypeOnField struct {
	// +mapType=atomic
	Value map[string]string `json:"value"`
}

// +mapType=granular
type MapTypeOnTypeValue map[string]string

type MapTypeOnType struct {
	Value MapTypeOnTypeValue `json:"value"`
}

type StructTypeOnField struct {
	// +structType=atomic
	Value Item `json:"value"`
}

// +structType=atomic
type StructTypeOnTypeValue struct {
	A int32 `json:"a"`
}

type StructTypeOnType struct {
	Value StructTypeOnTypeValue `json:"value"`
}
