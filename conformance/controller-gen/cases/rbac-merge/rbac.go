package rbac

// Same groups and resources: verbs are joined.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=watch;get

// Same verbs: resources are joined.
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;create
// +kubebuilder:rbac:groups=batch,resources=cronjobs,verbs=create;get

// Same resources and verbs: groups are joined.
// +kubebuilder:rbac:groups=extensions,resources=ingresses,verbs=get
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses,verbs=get

// The core group by either name.
// +kubebuilder:rbac:groups=core,resources=pods,verbs=get
// +kubebuilder:rbac:groups="",resources=pods,verbs=list
// +kubebuilder:rbac:groups="",resources=pods/status;pods/log,verbs=get
// +kubebuilder:rbac:groups=core;apps,resources=secrets;configmaps,verbs=get

// Names keep rules apart.
// +kubebuilder:rbac:groups=core,resources=secrets,resourceNames=one,verbs=get
// +kubebuilder:rbac:groups=core,resources=secrets,resourceNames=two,verbs=get
// +kubebuilder:rbac:groups=core,resources=secrets,resourceNames=two;one,verbs=update

// Each verb is all of them.
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;*
// +kubebuilder:rbac:groups=policy,resources=evictions,verbs=create
// +kubebuilder:rbac:groups=policy,resources=*,verbs=get
// +kubebuilder:rbac:groups=*,resources=*,verbs=list

// URLs.
// +kubebuilder:rbac:urls=/metrics;/healthz,verbs=get
// +kubebuilder:rbac:urls=/healthz,verbs=get;post
// +kubebuilder:rbac:urls=/logs/*,verbs=get

// No resources at all, both kinds of things.
// +kubebuilder:rbac:groups=empty.example.com,verbs=get
// +kubebuilder:rbac:groups=mixed.example.com,resources=things,urls=/mixed,verbs=get

// A rule that another implies, and doubles within one.
// +kubebuilder:rbac:groups=double.example.com,resources=a;b;a,verbs=get;get;list
// +kubebuilder:rbac:groups=double.example.com,resources=a,verbs=get
