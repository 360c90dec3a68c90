// +groupName=parity.example.com
// +versionName=v1
package bounds

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:validation:Minimum=3
// +kubebuilder:validation:ExclusiveMinimum=true
type Above int32

// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
type Label string

// +kubebuilder:validation:MinItems=1
// +kubebuilder:validation:items:MaxLength=7
type Labels []Label

type BoundsSpec struct {
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:validation:ExclusiveMaximum=true
	Percent int32 `json:"percent"`
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:ExclusiveMinimum=false
	NotExclusive int64 `json:"notExclusive"`
	// +kubebuilder:validation:Minimum=+5
	// +kubebuilder:validation:Maximum=1e3
	Forms int32 `json:"forms"`
	// +kubebuilder:validation:Minimum=0x10p0
	// +kubebuilder:validation:Maximum= 17.0
	HexAndSpaces int32 `json:"hexAndSpaces"`
	// +kubebuilder:validation:Minimum=-1.5e-7
	// +kubebuilder:validation:Maximum=1.25e+21
	// +kubebuilder:validation:MultipleOf=0.25
	Ratio float64 `json:"ratio"`
	// +kubebuilder:validation:MultipleOf=7
	Weekly int64 `json:"weekly"`
	Above  Above `json:"above"`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern="^[A-Z]:\\\\.*$"
	// +kubebuilder:validation:Format=uri
	Name   string `json:"name"`
	Label  Label  `json:"label"`
	Labels Labels `json:"labels"`
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:UniqueItems=false
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:ExclusiveMaximum=true
	// +kubebuilder:validation:items:Maximum=65536
	// +kubebuilder:validation:items:MultipleOf=2
	Ports []int32 `json:"ports"`
	// +kubebuilder:validation:items:Enum=a;b;c
	// +kubebuilder:validation:items:Format=hostname
	// +kubebuilder:validation:items:XValidation:rule="self != 'd'",message="not d"
	// +listType=set
	Letters []string `json:"letters"`
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=4
	Map map[string]string `json:"map"`
	// +kubebuilder:validation:Enum=1;2;3
	Small int32 `json:"small"`
	// +kubebuilder:validation:Enum={"true",yes,"1",1.5,a b}
	Words string `json:"words"`
	// +kubebuilder:validation:Enum=""
	Empty string `json:"empty"`
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=int-or-string
	Retyped int32 `json:"retyped"`
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^[0-9]+%?$`
	// +kubebuilder:validation:MaxLength=5
	Either string `json:"either"`
	// +kubebuilder:validation:Pattern:=`^a:b$`
	ColonEquals string `json:"colonEquals"`
}

type Bound struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec BoundsSpec `json:"spec"`
}

type UniqueSpec struct {
	// +kubebuilder:validation:UniqueItems=true
	Names []string `json:"names"`
}

type Unique struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec UniqueSpec `json:"spec"`
}

type ExtremeSpec struct {
	// +kubebuilder:validation:Minimum=-9223372036854775808
	// +kubebuilder:validation:Maximum=9223372036854775807
	Extremes int64 `json:"extremes"`
}

type Extreme struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ExtremeSpec `json:"spec"`
}
