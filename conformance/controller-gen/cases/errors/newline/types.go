// +groupName=newline.example.com
// +versionName=v1
package newline

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Inner struct {
	A string `json:"a,omitempty"`
	B string `json:"b"`
}

type Spec struct {
	// +kubebuilder:validation:XValidation:rule="self != 'a'",message="line one\nline two"
	Field string `json:"field"`
	// +optional
	One string `json:"one,omitempty"`
	Two string `json:"two"`
}

type Wrong struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec"`
}
