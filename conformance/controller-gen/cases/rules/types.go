// +groupName=parity.example.com
// +versionName=v1
package rules

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:validation:XValidation:rule="!has(self.min) || !has(self.max) || self.min <= self.max",message="min is above max",fieldPath=".min",reason=FieldValueForbidden
// +kubebuilder:validation:AtMostOneOf=a;b;c
// +kubebuilder:validation:XValidation:rule=`!has(self.min) || self.min < 1000`,messageExpression="'min is ' + string(self.min)"
type Range struct {
	// +optional
	Min *int32 `json:"min,omitempty"`
	// +optional
	Max *int32 `json:"max,omitempty"`
	// +optional
	A *string `json:"a,omitempty"`
	// +optional
	B *string `json:"b,omitempty"`
	// +optional
	C *string `json:"c,omitempty"`
}

// +kubebuilder:validation:ExactlyOneOf=a;b
// +kubebuilder:validation:AtLeastOneOf=c
// +kubebuilder:validation:AtMostOneOf=c;d
type Union struct {
	// +optional
	A *string `json:"a,omitempty"`
	// +optional
	B *string `json:"b,omitempty"`
	// +optional
	C *string `json:"c,omitempty"`
	// +optional
	D *string `json:"d,omitempty"`
}

type RulesSpec struct {
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="immutable",reason="FieldValueInvalid"
	// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self != ''",optionalOldSelf=true
	// +kubebuilder:validation:XValidation:rule="self.startsWith(\"a\\\\\")",message="no a"
	// +kubebuilder:validation:MaxLength=100
	Name  string `json:"name"`
	Range Range  `json:"range"`
	// +optional
	Union *Union `json:"union,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.size() < 10)",message="each is short"
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:XValidation:rule="self != 'x'"
	// +kubebuilder:validation:items:MaxLength=100
	List []string `json:"list"`
}

// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() < 20",message="the name is long"
type Ruled struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="self.name != 'no'"
	Spec RulesSpec `json:"spec"`
}
