package none

// +kubebuilder:rbacs:groups=core,resources=pods,verbs=get
