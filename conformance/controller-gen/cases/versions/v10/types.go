// +groupName=parity.example.com
package v10

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GadgetSpec of v10.
type GadgetSpec struct {
	Size int64 `json:"size"`
}

// Gadget in version v10.
//
// +kubebuilder:resource:shortName=gd,scope=Cluster
// +kubebuilder:unservedversion
// +kubebuilder:printcolumn:name=Size,type=integer,JSONPath=.spec.size
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GadgetSpec `json:"spec"`
}
