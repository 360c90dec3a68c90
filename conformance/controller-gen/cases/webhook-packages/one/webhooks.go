package one

// +kubebuilder:webhookconfiguration:mutating=false,name=from-one
// +kubebuilder:webhook:mutating=false,name=one.example.com,path=/one,failurePolicy=fail,groups=parity.example.com,resources=things,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1
