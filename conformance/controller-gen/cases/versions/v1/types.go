// +groupName=parity.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GadgetSpec of v1.
type GadgetSpec struct {
	// Size is how large.
	Size int32 `json:"size"`
}

// Gadget in version v1.
//
// +kubebuilder:resource:shortName=gd,scope=Cluster
// +kubebuilder:storageversion
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GadgetSpec `json:"spec"`
}
