// +kubebuilder:webhookconfiguration:mutating=true,name=one
// +kubebuilder:webhookconfiguration:mutating=true,name=two
package hooktwice
