// +kubebuilder:webhook:mutating=true,name=a.b.c,path=/a,timeoutSeconds=31,failurePolicy=fail,groups=g,resources=r,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1
package hooktimeout
