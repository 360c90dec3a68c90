// +groupName=parity.example.com
// +versionName=v1
package gotypes

import (
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type Key string

type Inlined struct {
	FromInlined string `json:"fromInlined"`
}

type Empty struct{}

type TypesSpec struct {
	Inlined `json:",inline"`

	String  string  `json:"string"`
	Bool    bool    `json:"bool"`
	Int     int     `json:"int"`
	Int8    int8    `json:"int8"`
	Int16   int16   `json:"int16"`
	Int32   int32   `json:"int32"`
	Int64   int64   `json:"int64"`
	Uint    uint    `json:"uint"`
	Uint8   uint8   `json:"uint8"`
	Uint16  uint16  `json:"uint16"`
	Uint32  uint32  `json:"uint32"`
	Uint64  uint64  `json:"uint64"`
	Float32 float32 `json:"float32"`
	Float64 float64 `json:"float64"`

	Bytes     []byte                     `json:"bytes"`
	Strings   []string                   `json:"strings"`
	Array     [3]int32                   `json:"array"`
	Nested    [][]string                 `json:"nested"`
	Map       map[string]string          `json:"map"`
	KeyedMap  map[Key]int64              `json:"keyedMap"`
	MapOfMaps map[string]map[string]bool `json:"mapOfMaps"`
	Pointer   *string                    `json:"pointer"`
	Omitted   *int32                     `json:"omitted,omitempty"`
	OmitZero  int32                      `json:"omitZero,omitzero"`
	Empty     Empty                      `json:"empty"`
	Skipped   string                     `json:"-"`

	Time        metav1.Time      `json:"time"`
	TimePointer *metav1.Time     `json:"timePointer,omitempty"`
	MicroTime   metav1.MicroTime `json:"microTime"`
	Duration    metav1.Duration  `json:"duration"`
	StdDuration time.Duration    `json:"stdDuration"`
	Fields      metav1.FieldsV1  `json:"fields"`

	Quantity     resource.Quantity            `json:"quantity"`
	Quantities   map[string]resource.Quantity `json:"quantities"`
	IntOrString  intstr.IntOrString           `json:"intOrString"`
	Raw          runtime.RawExtension         `json:"raw"`
	JSON         apiextensionsv1.JSON         `json:"json"`
	JSONPointer  *apiextensionsv1.JSON        `json:"jsonPointer,omitempty"`
	Unstructured unstructured.Unstructured    `json:"unstructured"`
	UID          types.UID                    `json:"uid"`

	// +kubebuilder:validation:EmbeddedResource
	Embedded runtime.RawExtension `json:"embedded"`
	// +kubebuilder:validation:XEmbeddedResource
	// +kubebuilder:pruning:PreserveUnknownFields
	EmbeddedOther runtime.RawExtension `json:"embeddedOther"`
	// +kubebuilder:validation:XPreserveUnknownFields
	Preserved Empty `json:"preserved"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Schemaless map[string]string `json:"schemaless"`
	// +nullable
	Nullable *string `json:"nullable"`
	// +nullable
	// +optional
	NullableList []string `json:"nullableList,omitempty"`
}

type GoType struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec TypesSpec `json:"spec"`
}
