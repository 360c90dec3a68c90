package patch

// +kubebuilder:webhookconfiguration:mutating=true,name=my-mutating
// +kubebuilder:webhookconfiguration:mutating=false

// +kubebuilder:webhook:mutating=true,name=a.example.com,path=/a,failurePolicy=fail,groups=parity.example.com,resources=things,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1,patch=`{"namespaceSelector":{"matchLabels":{"b":"1","a":"true"}}}`
// +kubebuilder:webhook:mutating=true,name=b.example.com,path=/b,timeoutSeconds=3,failurePolicy=fail,groups=parity.example.com,resources=things,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1,patch=`{"objectSelector":{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]},"matchConditions":[{"name":"m","expression":"object.metadata.name != 'a'"}],"timeoutSeconds":30,"failurePolicy":null,"rules":[{"operations":["DELETE"],"scope":"Cluster"}]}`
// +kubebuilder:webhook:mutating=false,name=c.example.com,path=/c,failurePolicy=fail,groups=parity.example.com,resources=things,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1,patch=`{"clientConfig":{"caBundle":"Cg=="},"admissionReviewVersions":["v2"]}`
