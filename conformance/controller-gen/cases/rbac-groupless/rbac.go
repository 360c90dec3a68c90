package groupless

// +kubebuilder:rbac:resources=groupless,verbs=get
// +kubebuilder:rbac:groups=core,resources=pods,verbs=get
