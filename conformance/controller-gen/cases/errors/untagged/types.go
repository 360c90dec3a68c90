// +groupName=untagged.example.com
// +versionName=v1
package untagged

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Wrong struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Untagged string
}
