// +groupName=parity.example.com
// +versionName=v1
package compatibility

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Preserving struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}
