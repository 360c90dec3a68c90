// +groupName=parity.example.com
package v2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GadgetSpec of v2.
type GadgetSpec struct {
	Size int64 `json:"size"`
}

// Gadget in version v2.
//
// +kubebuilder:resource:shortName=gd,scope=Cluster
// +kubebuilder:deprecatedversion:warning="use v1, v2 went too far"
// +kubebuilder:subresource:status
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GadgetSpec `json:"spec"`
}
