package two

// +kubebuilder:rbac:groups=core,namespace=alpha,resources=pods,verbs=watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=watch
// +kubebuilder:rbac:urls=/metrics,namespace=alpha,verbs=get
