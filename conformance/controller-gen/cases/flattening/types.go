// +groupName=parity.example.com
// +versionName=v1
package flattening

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Limited is a text.
// +kubebuilder:validation:MinLength=2
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:Pattern=`^a`
type Limited string

// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=10
// +kubebuilder:validation:MultipleOf=2
type Number int32

// +kubebuilder:validation:Enum=A;B;C
type Choice string

// +kubebuilder:validation:MinItems=1
// +kubebuilder:validation:MaxItems=9
// +listType=set
type Names []Limited

// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:MaxProperties=5
// +mapType=granular
type Table map[string]Limited

// +kubebuilder:validation:XValidation:rule="self != 'first'",message="first"
// +kubebuilder:validation:XValidation:rule="self != 'second'",message="second"
type Ruled string

// Alias of a limited text.
type Alias Limited

// +kubebuilder:validation:MaxLength=15
type Narrower Limited

// +kubebuilder:validation:XValidation:rule="self.size() < 100"
type NarrowerNames Names

// +kubebuilder:title=Titled
// +kubebuilder:externalDocs:url="https://example.com/type",description="of the type"
// +kubebuilder:validation:Format=label
type Titled string

// Inner is a struct.
// +structType=atomic
type Inner struct {
	Text Limited `json:"text"`
}

type FlatteningSpec struct {
	Plain Limited `json:"plain"`
	// Longer than the type's.
	// +kubebuilder:validation:MinLength=3
	Longer Limited `json:"longer"`
	// +kubebuilder:validation:MinLength=2
	Equal Limited `json:"equal"`
	// +kubebuilder:validation:MaxLength=20
	EqualMax Limited `json:"equalMax"`
	// +kubebuilder:validation:Pattern=`^a`
	EqualPattern Limited `json:"equalPattern"`
	// +kubebuilder:validation:Pattern=`b$`
	OtherPattern Limited `json:"otherPattern"`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=30
	// +kubebuilder:validation:Pattern=`c`
	All Limited `json:"all"`
	// +kubebuilder:validation:Format=hostname
	Format Limited `json:"format"`
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=8
	Tighter Number `json:"tighter"`
	// +kubebuilder:validation:Minimum=-1
	// +kubebuilder:validation:Maximum=80
	Looser Number `json:"looser"`
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:ExclusiveMinimum=true
	Exclusive Number `json:"exclusive"`
	// +kubebuilder:validation:MultipleOf=3
	Multiple Number `json:"multiple"`
	// +kubebuilder:validation:Enum=B;C;D
	Chosen Choice `json:"chosen"`
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=8
	Names Names `json:"names"`
	// +kubebuilder:validation:items:MinLength=5
	ItemsOfType []Limited `json:"itemsOfType"`
	// +listType=atomic
	Atomic Names `json:"atomic"`
	// +kubebuilder:validation:MinProperties=2
	// +kubebuilder:validation:MaxProperties=5
	Table Table `json:"table"`
	// +mapType=atomic
	AtomicTable Table `json:"atomicTable"`
	// +kubebuilder:validation:XValidation:rule="self != 'third'",message="third"
	Ruled    Ruled    `json:"ruled"`
	Alias    Alias    `json:"alias"`
	Narrower Narrower `json:"narrower"`
	// +kubebuilder:validation:MaxLength=10
	NarrowerStill Narrower      `json:"narrowerStill"`
	NarrowerNames NarrowerNames `json:"narrowerNames"`
	Titled        Titled        `json:"titled"`
	// +kubebuilder:title="Titled by the field"
	// +kubebuilder:externalDocs:url="https://example.com/field"
	// +kubebuilder:validation:Format=other-label
	TitledOver Titled `json:"titledOver"`
	// +structType=granular
	Inner Inner `json:"inner"`
	// +nullable
	InnerBounded *Inner `json:"innerBounded"`
	// +kubebuilder:default={text: "abc"}
	InnerDefault Inner `json:"innerDefault"`
}

type Flattened struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec FlatteningSpec `json:"spec"`
}
