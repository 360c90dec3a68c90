package order

// +kubebuilder:rbac:groups=batch.io,resources=b,verbs=get
// +kubebuilder:rbac:groups=batch;cron,resources=b,verbs=list
// +kubebuilder:rbac:groups=batch,resources=b,verbs=watch
// +kubebuilder:rbac:groups=B,resources=b,verbs=create
// +kubebuilder:rbac:groups=batch,resources=a-b;a/b;a.b;ab,verbs=delete
// +kubebuilder:rbac:groups=batch,resources=b,resourceNames=z,verbs=patch
// +kubebuilder:rbac:groups=batch,resources=b,resourceNames=a;b,verbs=update
// +kubebuilder:rbac:groups=batch,resources=v10;v9;v2,verbs=bind
// +kubebuilder:rbac:groups="y",resources="on";"null";"123";"1e3",verbs="get"
// +kubebuilder:rbac:groups=x,resources={braced,list},verbs={get,list}
// +kubebuilder:rbac:groups=x,resources="with space";`raw`;'single',verbs=get
// +kubebuilder:rbac:groups="",resources=nodes,resourceNames="a: b";"#c";"- d",verbs=get
// +kubebuilder:rbac:urls=/z;/a,verbs=get
