// +kubebuilder:rbac:groups=core,resource=pods,verbs=get
package rbacargument
