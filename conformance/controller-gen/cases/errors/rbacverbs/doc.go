// +kubebuilder:rbac:groups=core,resources=pods
package rbacverbs
