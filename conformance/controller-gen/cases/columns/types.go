// +groupName=parity.example.com
// +versionName=v1
package columns

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ColumnSpec is what is wanted.
type ColumnSpec struct {
	// Replicas is how many.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// Image is what runs.
	Image string `json:"image"`
}

// ColumnStatus is what is.
type ColumnStatus struct {
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// +optional
	Selector string `json:"selector,omitempty"`
}

// Column has columns and no status.
//
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=".spec.image"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",priority=1
// +kubebuilder:printcolumn:name=Replicas,type=integer,format=int32,JSONPath=.spec.replicas,description="How many; all of them",priority=0
// +kubebuilder:printcolumn:JSONPath=`.status.conditions[?(@.type=="Ready")].status`,name=Ready,type=string
type Column struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ColumnSpec `json:"spec,omitempty"`
}

// Scaled has a scale with a selector.
//
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:path=scaledthings,singular=scaledthing,shortName=sc;sct,categories=all;parity,scope=Cluster
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type Scaled struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ColumnSpec   `json:"spec"`
	Status ColumnStatus `json:"status,omitempty"`
}

// Resized has a scale without a selector and without a status subresource.
//
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas
// +kubebuilder:resource:shortName={rz},categories="solo"
type Resized struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ColumnSpec   `json:"spec"`
	Status ColumnStatus `json:"status,omitempty"`
}

// Labelled has labels and annotations.
//
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=parity";"tier=a=b",annotations="example.com/why=because, it is"
// +kubebuilder:metadata:labels={"numeric=123","empty="},annotations={"example.com/yes=true","a=1"}
// +kubebuilder:selectablefield:JSONPath=.spec.image
// +kubebuilder:selectablefield:JSONPath=".spec.replicas"
type Labelled struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says it in its own words.
	Spec ColumnSpec `json:"spec"`
}
