// +groupName=parity.example.com
package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GadgetSpec of v1alpha1.
type GadgetSpec struct {
	Large bool `json:"large"`
}

// Gadget in version v1alpha1.
//
// +kubebuilder:resource:shortName=gd,scope=Cluster
// +kubebuilder:skipversion
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GadgetSpec `json:"spec"`
}
