// +groupName=parity.example.com
// +versionName=v1
package recursion

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Node struct {
	Name     string          `json:"name"`
	Children []Node          `json:"children,omitempty"`
	Parent   *Node           `json:"parent,omitempty"`
	Named    map[string]Node `json:"named,omitempty"`
}

type Tree struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Node `json:"spec"`
}
