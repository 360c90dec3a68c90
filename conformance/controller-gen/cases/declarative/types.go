// +groupName=parity.example.com
// +versionName=v1
package declarative

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// +k8s:enum
type Phase string

const (
	PhaseB Phase = "B"
	PhaseA Phase = "A"
	// PhaseOdd needs quotes.
	PhaseOdd Phase = "a \"quoted\" one"
)

type Nested struct {
	Key string `json:"key"`
	// +k8s:optional
	Value string `json:"value"`
}

type DeclarativeSpec struct {
	// +k8s:required
	Text string `json:"text,omitempty"`
	// +k8s:required
	// +kubebuilder:validation:MinLength=3
	LongText string `json:"longText,omitempty"`
	// +kubebuilder:validation:MinLength=0
	// +k8s:required
	MaybeEmpty string `json:"maybeEmpty,omitempty"`
	// +k8s:required
	Pointer *string `json:"pointer,omitempty"`
	// +k8s:required
	Number int32 `json:"number,omitempty"`
	// +k8s:required
	Flag *bool `json:"flag,omitempty"`
	// +k8s:required
	List []string `json:"list,omitempty"`
	// +k8s:required
	// +kubebuilder:validation:MinItems=2
	Pair []string `json:"pair,omitempty"`
	// +k8s:required
	Map map[string]string `json:"map,omitempty"`
	// +k8s:required
	Bytes []byte `json:"bytes,omitempty"`
	// +k8s:required
	Struct Nested `json:"struct,omitempty"`
	// +k8s:required
	StructPointer *Nested `json:"structPointer,omitempty"`
	// +k8s:required
	Time metav1.Time `json:"time,omitempty"`
	// +k8s:required
	Either intstr.IntOrString `json:"either,omitempty"`
	// +k8s:required
	Phase Phase `json:"phase,omitempty"`
	// +k8s:optional
	Left string `json:"left"`
	// +k8s:required
	// +optional
	Both string `json:"both"`
	// +k8s:minimum=1
	// +k8s:maximum=10 # no more
	Bounded int32 `json:"bounded"`
	// +k8s:maxItems=5
	// +k8s:listType=set
	Set []string `json:"set"`
	// +k8s:listType=map
	// +k8s:listMapKey=key
	// +listMapKey=key
	Keyed []Nested `json:"keyed"`
	// +k8s:immutable
	Fixed string `json:"fixed"`
	// +k8s:immutable
	// +optional
	FixedOnceSet string `json:"fixedOnceSet,omitempty"`
}

type Declared struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec DeclarativeSpec `json:"spec"`
}
