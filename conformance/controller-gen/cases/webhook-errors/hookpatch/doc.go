// +kubebuilder:webhook:mutating=true,name=a.b.c,path=/a,failurePolicy=fail,groups=g,resources=r,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1,patch=`{`
package hookpatch
