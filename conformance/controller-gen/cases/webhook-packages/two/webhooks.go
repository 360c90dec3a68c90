package two

// +kubebuilder:webhookconfiguration:mutating=false,name=from-two
// +kubebuilder:webhook:mutating=false,name=two.example.com,path=/two,failurePolicy=fail,groups=parity.example.com,resources=things,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1
