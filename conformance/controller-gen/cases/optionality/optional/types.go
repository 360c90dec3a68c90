// +groupName=parity.example.com
// +versionName=v1
// +kubebuilder:validation:Optional
package optional

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type OptionalSpec struct {
	Plain     string  `json:"plain"`
	Pointer   *string `json:"pointer"`
	Omitempty string  `json:"omitempty,omitempty"`
	Omitzero  string  `json:"omitzero,omitzero"`
	// +optional
	Optional string `json:"optional"`
	// +required
	Required string `json:"required,omitempty"`
	// +kubebuilder:validation:Optional
	LongOptional string `json:"longOptional"`
	// +kubebuilder:validation:Required
	LongRequired string `json:"longRequired,omitempty"`
	// +optional
	// +required
	Both string `json:"both"`
	// +kubebuilder:validation:Required
	// +optional
	LongRequiredOptional string `json:"longRequiredOptional"`
	// +kubebuilder:validation:Optional
	// +required
	LongOptionalRequired string `json:"longOptionalRequired"`
	// +kubebuilder:validation:Optional
	// +kubebuilder:validation:Required
	LongBoth string `json:"longBoth"`
	// +kubebuilder:default=a
	Defaulted string `json:"defaulted"`
}

type Optional struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec OptionalSpec `json:"spec"`
}
