// +groupName=parity.example.com
package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GadgetSpec of v1beta1.
type GadgetSpec struct {
	Size string `json:"size,omitempty"`
}

// Gadget in version v1beta1.
//
// +kubebuilder:resource:shortName=gd,scope=Cluster
// +kubebuilder:deprecatedversion
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GadgetSpec `json:"spec"`
}
