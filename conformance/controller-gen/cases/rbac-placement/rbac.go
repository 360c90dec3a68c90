// +kubebuilder:rbac:groups=doc,resources=package,verbs=get
package placement

// +kubebuilder:rbac:groups=doc,resources=import,verbs=get
import "fmt"

// +kubebuilder:rbac:groups=apart,resources=func,verbs=get

// Run has a marker in its comment.
// +kubebuilder:rbac:groups=doc,resources=func,verbs=get
func Run() {
	// +kubebuilder:rbac:groups=in,resources=body,verbs=get
	fmt.Println() // +kubebuilder:rbac:groups=after,resources=code,verbs=get
}

// +kubebuilder:rbac:groups=doc,resources=variable,verbs=get
var X = 1

// +kubebuilder:rbac:groups=doc,resources=constant,verbs=get
const Y = 1

// Type has a marker in its comment.
// +kubebuilder:rbac:groups=doc,resources=type,verbs=get
type Type struct {
	// +kubebuilder:rbac:groups=doc,resources=field,verbs=get
	Field string
}

// +kubebuilder:rbac:groups=apart,resources=type,verbs=get

// Other type.
type Other struct{}

/*
+kubebuilder:rbac:groups=block,resources=comment,verbs=get
*/

//+kubebuilder:rbac:groups=without,resources=space,verbs=get
//	 +kubebuilder:rbac:groups=with,resources=tab,verbs=get
// Text before it. +kubebuilder:rbac:groups=within,resources=text,verbs=get

func last() {}

// +kubebuilder:rbac:groups=at,resources=end,verbs=get
