// +groupName=label.example.com
// +versionName=v1
package label

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:metadata:annotations="without"
type Wrong struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}
