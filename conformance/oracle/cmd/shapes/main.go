// Command shapes writes shapes.json: how the internal Go types of the built-in kinds look in JSON.
//
// A server checks objects in these types, and the messages of its checks show values of them: with Go's names of the
// fields, in the order of the struct, also those that are empty. A type is a list of its fields, each a text
// "NAME PATH TYPE": the name in the message; where the value stands in the versioned JSON, "-" if nowhere; and its
// type. "?" after the name means that an empty value is left out. A type is "string", "int", "bool", "bytes" or
// "json" (written as in the versioned form; "json:ZERO" with what is written of nothing), the name of another type, or
// one of these after "*" (a pointer), "[]" (a list) or "{}" (a map).
package main

import (
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane"

	"github.com/kubewright/kubewright/conformance/oracle/internal/output"
)

var typeMeta = reflect.TypeFor[metav1.TypeMeta]()

// zeros are the types with a JSON form of their own, and what is written of their zero values.
var zeros = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():          "null",
	reflect.TypeFor[metav1.MicroTime]():     "null",
	reflect.TypeFor[resource.Quantity]():    `"0"`,
	reflect.TypeFor[intstr.IntOrString]():   "0",
	reflect.TypeFor[metav1.FieldsV1]():      "null",
	reflect.TypeFor[runtime.RawExtension](): "null",
}

type walker map[string][]string

func main() {
	w := walker{}
	known := legacyscheme.Scheme.AllKnownTypes()
	// In order, because a type that several kinds have gets the versioned form of the first.
	kinds := slices.SortedFunc(maps.Keys(known), func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	for _, gvk := range kinds {
		internal := known[gvk]
		if gvk.Version != runtime.APIVersionInternal {
			continue
		}
		for _, gv := range legacyscheme.Scheme.PrioritizedVersionsForGroup(gvk.Group) {
			versioned, ok := known[schema.GroupVersionKind{Group: gvk.Group, Version: gv.Version, Kind: gvk.Kind}]
			if ok && strings.HasPrefix(internal.PkgPath(), "k8s.io/kubernetes/pkg/apis/") && !strings.HasSuffix(gvk.Kind, "List") && !strings.HasSuffix(gvk.Kind, "Options") {
				w.visit(internal, versioned)
				break
			}
		}
	}
	lines, err := output.LinesByName(w)
	if err != nil {
		panic(err)
	}
	output.Write(output.Data+"shapes.json", lines)
}

func (w walker) visit(internal, versioned reflect.Type) string {
	group := path.Base(internal.PkgPath())
	if !strings.Contains(internal.PkgPath(), "pkg/apis/") || strings.Contains(internal.PkgPath(), "apis/meta/") {
		group = path.Base(path.Dir(internal.PkgPath()))
	}
	name := group + "." + internal.Name()
	if _, ok := w[name]; ok {
		return name
	}
	w[name] = nil
	w[name] = w.fields(internal, versioned, "")
	return name
}

// fields are those of a struct, those of structs embedded in it among them.
func (w walker) fields(internal, versioned reflect.Type, at string) []string {
	fields := []string{}
	for i := range internal.NumField() {
		field := internal.Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Type == typeMeta || tag == "-" || !field.IsExported() {
			continue
		}
		own, where := counterpart(versioned, field.Name)
		if field.Anonymous && tag == "" {
			if where != "" {
				where += "/"
			} else if strings.Contains(field.Type.PkgPath(), "pkg/apis/") {
				// Messages may show it alone.
				w.visit(field.Type, own)
			}
			fields = append(fields, w.fields(field.Type, own, at+where)...)
			continue
		}
		shown := field.Name
		if tag != "" {
			shown = tag
		}
		if strings.Contains(options, "omitempty") {
			shown += "?"
		}
		place := "-"
		if own != nil {
			place = at + where
		}
		fields = append(fields, fmt.Sprintf("%s %s %s", shown, place, w.typeOf(field.Type, own)))
	}
	return fields
}

// counterpart is the type of the field with a Go name in the versioned struct, and its JSON name.
func counterpart(versioned reflect.Type, name string) (reflect.Type, string) {
	for versioned != nil && versioned.Kind() == reflect.Pointer {
		versioned = versioned.Elem()
	}
	if versioned == nil || versioned.Kind() != reflect.Struct {
		return nil, ""
	}
	field, ok := versioned.FieldByName(name)
	if !ok {
		return nil, ""
	}
	tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return field.Type, tag
}

func (w walker) typeOf(internal, versioned reflect.Type) string {
	elem := func() reflect.Type {
		if versioned != nil && versioned.Kind() == internal.Kind() {
			return versioned.Elem()
		}
		return versioned
	}
	if zero, ok := zeros[internal]; ok {
		return "json:" + zero
	}
	switch internal.Kind() {
	case reflect.Pointer:
		return "*" + w.typeOf(internal.Elem(), elem())
	case reflect.Slice:
		if internal.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + w.typeOf(internal.Elem(), elem())
	case reflect.Map:
		return "{}" + w.typeOf(internal.Elem(), elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Struct:
		for versioned != nil && versioned.Kind() == reflect.Pointer {
			versioned = versioned.Elem()
		}
		return w.visit(internal, versioned)
	case reflect.Interface:
		return "json:null"
	default:
		return "int"
	}
}
