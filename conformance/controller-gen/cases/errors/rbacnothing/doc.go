// +kubebuilder:rbac
package rbacnothing
