// +kubebuilder:webhook:mutating=true,name=a.b.c,path=/a,failurePolicy=fail,groups=g,resources=r,verbs=create,versions=v1,admissionReviewVersions=v1
package hooknoeffects
