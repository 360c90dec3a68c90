// +groupName=parity.example.com
// +versionName=v1
package embedded

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Template struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Text              string `json:"text"`
}

type EmbeddedSpec struct {
	Template Template `json:"template"`
	// +optional
	Metadata *metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:pruning:PreserveUnknownFields
	Kept metav1.ObjectMeta   `json:"kept,omitempty"`
	List []metav1.ObjectMeta `json:"list,omitempty"`
}

type Embedding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec EmbeddedSpec `json:"spec"`
}
