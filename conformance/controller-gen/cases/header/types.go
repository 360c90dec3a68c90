// +groupName=parity.example.com
// +versionName=v1
// +kubebuilder:rbac:groups=parity.example.com,resources=headed,verbs=get
// +kubebuilder:webhook:mutating=true,failurePolicy=fail,groups=parity.example.com,resources=headed,verbs=create,versions=v1,name=headed.example.com,path=/mutate,sideEffects=None,admissionReviewVersions=v1
package header

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Headed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// +kubebuilder:metadata:annotations="a=b"
type Annotated struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}
