// +kubebuilder:webhook:mutating=true,path=/a,failurePolicy=fail,groups=g,resources=r,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1
package hookname
