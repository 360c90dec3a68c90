package forms

// +kubebuilder:webhook:mutating=true,name=zeta.example.com,path=/z,failurePolicy=fail,groups=parity.example.com,resources=things,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=true,name=alpha.example.com,path=/a,failurePolicy=Ignore,groups=core;"";apps,resources=pods;pods/status,verbs=create;UPDATE;Delete;connect,versions=v1;v1beta1,sideEffects=NoneOnDryRun,admissionReviewVersions=v1;v1beta1,matchPolicy=Equivalent,timeoutSeconds=5,reinvocationPolicy=IfNeeded,serviceName=hooks,serviceNamespace=elsewhere,servicePort=8443
// +kubebuilder:webhook:mutating=false,name=zeta.example.com,path=/z,matchPolicy=Exact,reinvocationPolicy=IfNeeded,failurePolicy=fail,groups=parity.example.com,resources=things,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=false,name=by-url.example.com,url="https://hooks.example.com:8443/v?x=1",failurePolicy=fail,groups=parity.example.com,resources=things,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=false,name=v10.example.com,path=/10,failurePolicy=fail,groups=parity.example.com,resources=things,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=false,name=v9.example.com,path=/9,failurePolicy=fail,groups=parity.example.com,resources=things,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=false,name=V9.example.com,path=/V9,failurePolicy=fail,groups=parity.example.com,resources=things,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=false,name=zeta.example.com,path=/again,failurePolicy=fail,groups=parity.example.com,resources=things,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=false,name=all.example.com,path=/all,failurePolicy=Sometimes,groups=*,resources=*,verbs=*,versions=*,sideEffects=None,admissionReviewVersions=v1,timeoutSeconds=0
// +kubebuilder:webhook:mutating=true,name=never.example.com,path=/never,reinvocationPolicy=Never,failurePolicy=fail,groups=parity.example.com,resources=things,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=true,name=odd.example.com,path=/odd,reinvocationPolicy=Sometimes,failurePolicy=fail,groups=parity.example.com,resources=things,verbs=create,versions=v1,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=true,name=odd-verbs.example.com,path=/verbs,failurePolicy=fail,groups=g,resources=r,verbs=get;patch,versions=v1,sideEffects=None,admissionReviewVersions=v1,webhookVersions=v1
