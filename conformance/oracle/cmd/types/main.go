// Command types writes types.json: every Go API type that a built-in kind reaches, with what the
// wire formats, strategic merge patch and server-side apply need to know about its fields.
//
// Wire facts (JSON name, protobuf number, pointer, omitempty) come from the struct tags; topology,
// merge keys, defaults and required fields come from Kubernetes' generated OpenAPI definitions.
//
// A type is {"kinds", "fields", "special", "mt"}; see field for what a field says. A type with
// "special" has a JSON form that its fields do not tell, named after the Go type ("Quantity",
// "Time", ...), or is a named list of strings ("List").
package main

import (
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
	generated "k8s.io/kubernetes/pkg/generated/openapi"

	"github.com/kubewright/kubewright/conformance/oracle/internal/apis"
	"github.com/kubewright/kubewright/conformance/oracle/internal/output"
)

// field is one field of a type, in the order of the Go struct.
type field struct {
	JSON       string   `json:"j"`            // JSON name; of an inlined struct, its protobuf name
	Number     int      `json:"n,omitempty"`  // protobuf field number; absent: not on the protobuf wire
	Label      string   `json:"k"`            // "opt", "rep" or "map"
	Type       string   `json:"t"`            // protobuf scalar, or "message"; of a map, the key's
	Value      string   `json:"v,omitempty"`  // of a map: the value's protobuf scalar, or "message"
	Inline     int      `json:"i,omitempty"`  // 1: the JSON fields of the struct stand in the parent
	Pointer    int      `json:"p,omitempty"`  // 1: a Go pointer, so a zero is not an absence
	OmitEmpty  int      `json:"o,omitempty"`  // 1: omitempty
	Ref        string   `json:"r,omitempty"`  // the type of the value, item or map value
	Scalar     string   `json:"s,omitempty"`  // JSON type of a scalar value, item or map value
	GoItem     string   `json:"g,omitempty"`  // Go's name of a value, item or map value that is no struct and has a name
	GoType     string   `json:"gw,omitempty"` // Go's name of the whole list or map, where it has one
	Required   int      `json:"req,omitempty"`
	ListType   string   `json:"lt,omitempty"`
	ListKeys   []string `json:"lk,omitempty"`
	MapType    string   `json:"mt,omitempty"`
	Strategy   string   `json:"ps,omitempty"`
	MergeKey   string   `json:"pk,omitempty"`
	Default    any      `json:"d,omitempty"`
	typeOfItem reflect.Type
}

type typeEntry struct {
	Kinds   [][3]string `json:"kinds,omitempty"`
	Special string      `json:"special,omitempty"`
	MapType string      `json:"mt,omitempty"`
	Fields  []field     `json:"fields"`
}

// special lists the types whose JSON form is their own.
var special = map[string]string{
	"io.k8s.apimachinery.pkg.api.resource.Quantity":                                         "Quantity",
	"io.k8s.apimachinery.pkg.apis.meta.v1.Time":                                             "Time",
	"io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime":                                        "MicroTime",
	"io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1":                                         "FieldsV1",
	"io.k8s.apimachinery.pkg.runtime.RawExtension":                                          "RawExtension",
	"io.k8s.apimachinery.pkg.util.intstr.IntOrString":                                       "IntOrString",
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON":                         "JSON",
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray":       "JSONSchemaPropsOrArray",
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool":        "JSONSchemaPropsOrBool",
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": "JSONSchemaPropsOrStringArray",
}

// wire gives the protobuf fields of special types whose Go structs do not carry them as tags.
var wire = map[string][]field{
	"Quantity":     {{JSON: "string", Number: 1, Label: "opt", Type: "string", Scalar: "string"}},
	"Time":         {{JSON: "seconds", Number: 1, Label: "opt", Type: "int64", Scalar: "integer"}, {JSON: "nanos", Number: 2, Label: "opt", Type: "int32", Scalar: "integer"}},
	"MicroTime":    {{JSON: "seconds", Number: 1, Label: "opt", Type: "int64", Scalar: "integer"}, {JSON: "nanos", Number: 2, Label: "opt", Type: "int32", Scalar: "integer"}},
	"FieldsV1":     {{JSON: "raw", Number: 1, Label: "opt", Type: "bytes", Scalar: "string"}},
	"RawExtension": {{JSON: "raw", Number: 1, Label: "opt", Type: "bytes", Scalar: "string"}},
	"JSON":         {{JSON: "raw", Number: 1, Label: "opt", Type: "bytes", Scalar: "string"}},
	"IntOrString":  {{JSON: "type", Number: 1, Label: "opt", Type: "int64", Scalar: "integer"}, {JSON: "intVal", Number: 2, Label: "opt", Type: "int32", Scalar: "integer"}, {JSON: "strVal", Number: 3, Label: "opt", Type: "string", Scalar: "string"}},
}

func main() {
	output.Write(output.Data+"types.json", generate())
}

func generate() []byte {
	definitions := generated.GetOpenAPIDefinitions(func(name string) spec.Ref {
		return spec.MustCreateRef("#/components/schemas/" + name)
	})
	w := walker{definitions: definitions, types: map[string]*typeEntry{}}

	for gvk, t := range apis.Scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal {
			continue
		}
		if t.PkgPath() == reflect.TypeFor[metav1.ObjectMeta]().PkgPath() {
			// Options, Status, WatchEvent and the like are registered in every group; they are
			// written once for the core group and once for their own.
			if gvk.Group != "" && gvk.Group != metav1.GroupName {
				continue
			}
		}
		w.kind(gvk, t)
	}
	for _, kind := range []runtime.Object{&metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadataList{}, &metav1.Table{}} {
		t := reflect.TypeOf(kind).Elem()
		w.kind(schema.GroupVersionKind{Group: metav1.GroupName, Version: "v1", Kind: t.Name()}, t)
	}

	for _, entry := range w.types {
		sort.Slice(entry.Kinds, func(i, j int) bool {
			return fmt.Sprint(entry.Kinds[i]) < fmt.Sprint(entry.Kinds[j])
		})
	}
	lines, err := output.LinesByName(w.types)
	if err != nil {
		panic(err)
	}
	return lines
}

type walker struct {
	definitions map[string]common.OpenAPIDefinition
	types       map[string]*typeEntry
}

func (w *walker) kind(gvk schema.GroupVersionKind, t reflect.Type) {
	name := w.visit(t)
	w.types[name].Kinds = append(w.types[name].Kinds, [3]string{gvk.Group, gvk.Version, gvk.Kind})
}

// modelName is the OpenAPI name of a Go type.
func modelName(t reflect.Type) string {
	if named, ok := reflect.New(t).Interface().(interface{ OpenAPIModelName() string }); ok {
		return named.OpenAPIModelName()
	}
	return util.ToRESTFriendlyName(t.PkgPath() + "." + t.Name())
}

func (w *walker) visit(t reflect.Type) string {
	name := modelName(t)
	if _, seen := w.types[name]; seen {
		return name
	}
	entry := &typeEntry{Fields: []field{}}
	w.types[name] = entry
	def := w.definitions[name].Schema
	entry.MapType, _ = def.Extensions.GetString("x-kubernetes-map-type")

	if t.Kind() == reflect.Slice {
		if t.Elem().Kind() != reflect.String {
			panic("named list of something else than strings: " + name)
		}
		entry.Special = "List"
		entry.Fields = []field{{JSON: "items", Number: 1, Label: "rep", Type: "string", Scalar: "string"}}
		return name
	}
	if kind, ok := special[name]; ok {
		entry.Special = kind
		if fields, ok := wire[kind]; ok {
			entry.Fields = fields
			return name
		}
	}

	required := map[string]bool{}
	for _, r := range def.Required {
		required[r] = true
	}
	for i := range t.NumField() {
		f, ok := w.field(t.Field(i))
		if !ok {
			continue
		}
		if f.Inline == 1 && strings.HasSuffix(f.Ref, ".meta.v1.TypeMeta") && f.Number == 0 {
			for _, j := range []string{"kind", "apiVersion"} {
				entry.Fields = append(entry.Fields, field{JSON: j, Label: "opt", Type: "string", Scalar: "string", OmitEmpty: 1})
			}
			continue
		}
		if f.Inline == 0 {
			if required[f.JSON] {
				f.Required = 1
			}
			topology(&f, def.Properties[f.JSON])
		}
		entry.Fields = append(entry.Fields, f)
	}
	for _, f := range entry.Fields {
		if f.typeOfItem != nil {
			w.visit(f.typeOfItem)
		}
	}
	return name
}

func (w *walker) field(sf reflect.StructField) (field, bool) {
	jsonTag, hasJSON := sf.Tag.Lookup("json")
	parts := strings.Split(jsonTag, ",")
	if !sf.IsExported() || (hasJSON && parts[0] == "-" && special[modelName(sf.Type)] == "" && sf.Tag.Get("protobuf") == "") {
		return field{}, false
	}
	f := field{JSON: parts[0], Label: "opt"}
	for _, option := range parts[1:] {
		switch option {
		case "omitempty", "omitzero":
			f.OmitEmpty = 1
		case "inline":
			f.Inline = 1
		}
	}
	if f.JSON == "" && sf.Anonymous {
		f.Inline = 1
	}
	if tag := sf.Tag.Get("protobuf"); tag != "" {
		for i, part := range strings.Split(tag, ",") {
			if i == 1 {
				f.Number, _ = strconv.Atoi(part)
			}
			if name, ok := strings.CutPrefix(part, "name="); ok && (f.JSON == "" || f.JSON == "-") {
				f.JSON = name
			}
		}
	}
	if f.JSON == "" {
		f.JSON = sf.Name
	}

	t := sf.Type
	if t.Kind() == reflect.Pointer {
		f.Pointer = 1
		t = t.Elem()
	}
	if (t.Kind() == reflect.Map || t.Kind() == reflect.Slice) && t.Name() != "" && !namedList(t) {
		f.GoType = t.String()
	}
	switch {
	case t.Kind() == reflect.Map:
		f.Label = "map"
		f.Type, _ = scalar(t.Key())
		f.Value = w.item(&f, t.Elem())
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 && !namedList(t):
		f.Label = "rep"
		f.Type = w.item(&f, t.Elem())
	default:
		f.Type = w.item(&f, t)
	}
	return f, true
}

// namedList tells the list types that are a message of their own on the protobuf wire.
func namedList(t reflect.Type) bool {
	if t.Kind() != reflect.Slice || t.Name() == "" || t.Elem().Kind() != reflect.String {
		return false
	}
	_, message := reflect.New(t).Interface().(interface{ Marshal() ([]byte, error) })
	return message
}

// item notes the type of a value, list item or map value, and returns its protobuf type.
func (w *walker) item(f *field, t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.PkgPath() != "" && t.Kind() != reflect.Struct {
		f.GoItem = t.String()
	}
	if proto, s := scalar(t); proto != "" {
		f.Scalar = s
		return proto
	}
	if t.Kind() == reflect.Interface {
		f.Scalar = "any"
		return "any"
	}
	if t.Kind() != reflect.Struct && !namedList(t) {
		// Not on the protobuf wire: a list of lists, or a list as a map value.
		if t.Kind() == reflect.Slice {
			inner := field{}
			w.item(&inner, t.Elem())
			f.Ref, f.Scalar, f.typeOfItem = inner.Ref, inner.Scalar, inner.typeOfItem
			return "list"
		}
		panic(fmt.Sprintf("unexpected type %v in field %s", t, f.JSON))
	}
	f.Ref = modelName(t)
	f.typeOfItem = t
	return "message"
}

func scalar(t reflect.Type) (proto, jsonType string) {
	switch t.Kind() {
	case reflect.String:
		return "string", "string"
	case reflect.Bool:
		return "bool", "boolean"
	case reflect.Int32:
		return "int32", "integer"
	case reflect.Int64, reflect.Int:
		return "int64", "integer"
	case reflect.Uint32:
		return "uint32", "integer"
	case reflect.Uint64:
		return "uint64", "integer"
	case reflect.Float64:
		return "double", "number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes", "string"
		}
	}
	return "", ""
}

// topology copies what OpenAPI says about how a field merges.
func topology(f *field, property spec.Schema) {
	f.ListType, _ = property.Extensions.GetString("x-kubernetes-list-type")
	f.ListKeys, _ = property.Extensions.GetStringSlice("x-kubernetes-list-map-keys")
	f.MapType, _ = property.Extensions.GetString("x-kubernetes-map-type")
	f.Strategy, _ = property.Extensions.GetString("x-kubernetes-patch-strategy")
	f.MergeKey, _ = property.Extensions.GetString("x-kubernetes-patch-merge-key")
	switch d := property.Default.(type) {
	case nil, map[string]any:
	default:
		f.Default = d
	}
}
