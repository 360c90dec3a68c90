// +groupName=parity.example.com
// +kubebuilder:skip
package v3

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GadgetSpec of v3.
type GadgetSpec struct {
	Size int64 `json:"size"`
}

// Gadget in version v3.
//
// +kubebuilder:resource:shortName=gd,scope=Cluster
// +kubebuilder:subresource:status
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GadgetSpec `json:"spec"`
}
