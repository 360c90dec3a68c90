package one

// +kubebuilder:rbac:groups=core,namespace=zeta,resources=pods,verbs=get
// +kubebuilder:rbac:groups=core,namespace=alpha,resources=pods,verbs=get
// +kubebuilder:rbac:groups=core,roleName=viewer,resources=pods,verbs=get
// +kubebuilder:rbac:groups=core,roleName=viewer,namespace=alpha,resources=pods,verbs=list
// +kubebuilder:rbac:groups=core,roleName=manager-role,resources=pods,verbs=list
// +kubebuilder:rbac:groups=core,namespace=123,resources=pods,verbs=get
// +kubebuilder:rbac:groups=core,namespace="true",roleName="null",resources=pods,verbs=get
