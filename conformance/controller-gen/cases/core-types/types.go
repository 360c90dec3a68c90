// +groupName=parity.example.com
// +versionName=v1
package core

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type CoreSpec struct {
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`
	// +optional
	Affinity        *corev1.Affinity                  `json:"affinity,omitempty"`
	Tolerations     []corev1.Toleration               `json:"tolerations,omitempty"`
	Env             []corev1.EnvVar                   `json:"env,omitempty"`
	EnvFrom         []corev1.EnvFromSource            `json:"envFrom,omitempty"`
	Ports           []corev1.ServicePort              `json:"ports,omitempty"`
	Container       *corev1.Container                 `json:"container,omitempty"`
	SecretRef       *corev1.SecretKeySelector         `json:"secretRef,omitempty"`
	ObjectRef       corev1.ObjectReference            `json:"objectRef,omitempty"`
	LocalRef        corev1.LocalObjectReference       `json:"localRef,omitempty"`
	TypedRef        *corev1.TypedLocalObjectReference `json:"typedRef,omitempty"`
	PullPolicy      corev1.PullPolicy                 `json:"pullPolicy,omitempty"`
	ServiceType     corev1.ServiceType                `json:"serviceType,omitempty"`
	SecurityContext *corev1.PodSecurityContext        `json:"securityContext,omitempty"`
	Spread          []corev1.TopologySpreadConstraint `json:"spread,omitempty"`
	Claim           *corev1.PersistentVolumeClaimSpec `json:"claim,omitempty"`
	List            corev1.ResourceList               `json:"list,omitempty"`
}

type Core struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec CoreSpec `json:"spec"`
}
