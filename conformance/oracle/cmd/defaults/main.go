// Command defaults writes defaults.json: the defaults that Kubernetes' own code gives to the empty
// fields of each type, found by defaulting objects in which every struct is there but empty.
//
// A default is listed with its type if it is given wherever the type occurs; what depends on the place
// or on other fields is for code.
package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/util"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane"

	"github.com/kubewright/kubewright/conformance/oracle/internal/output"
)

func main() {
	root, err := output.Workspace()
	if err != nil {
		panic(err)
	}
	content, err := os.ReadFile(filepath.Join(root, output.Data, "resources.json"))
	if err != nil {
		panic(err)
	}
	var resources []struct{ Group, Version, Kind string }
	if err := json.Unmarshal(content, &resources); err != nil {
		panic(err)
	}
	p := prober{types: map[string]map[string]any{}}
	for _, r := range resources {
		gvk := schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
		p.probe(gvk)
	}
	for name, fields := range conditional {
		for _, field := range fields {
			delete(p.types[name], field)
		}
	}
	maps.DeleteFunc(p.types, func(_ string, fields map[string]any) bool { return len(fields) == 0 })
	lines, err := output.LinesByName(p.types)
	if err != nil {
		panic(err)
	}
	output.Write(output.Data+"defaults.json", lines)
}

// conditional lists what an empty object gets, but not every object: the defaults are in code.
var conditional = map[string][]string{
	"io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy": {"maxUnavailable", "partition"},
	"io.k8s.api.autoscaling.v2.HPAScalingRules":           {"selectPolicy"},
	"io.k8s.api.core.v1.ConfigMap":                        {"data"},
	"io.k8s.api.core.v1.Container":                        {"imagePullPolicy"},
	"io.k8s.api.core.v1.EphemeralContainer":               {"imagePullPolicy"},
	"io.k8s.api.core.v1.EphemeralContainerCommon":         {"imagePullPolicy"},
	"io.k8s.api.core.v1.ImageVolumeSource":                {"pullPolicy"},
	"io.k8s.api.core.v1.ServiceSpec":                      {"internalTrafficPolicy", "sessionAffinityConfig"},
	"io.k8s.api.networking.v1.NetworkPolicySpec":          {"policyTypes"},
	"io.k8s.api.resource.v1.DeviceSubRequest":             {"count"},
	"io.k8s.api.resource.v1.DeviceTaint":                  {"timeAdded"},
	"io.k8s.api.resource.v1.ExactDeviceRequest":           {"count"},
}

type prober struct {
	types map[string]map[string]any
}

func (p *prober) probe(gvk schema.GroupVersionKind) {
	for _, scheme := range []*runtime.Scheme{legacyscheme.Scheme, apiextensions.Scheme, aggregator.Scheme} {
		if !scheme.Recognizes(gvk) {
			continue
		}
		before, err := scheme.New(gvk)
		if err != nil {
			panic(err)
		}
		fill(reflect.ValueOf(before).Elem(), nil)
		after := before.DeepCopyObject()
		scheme.Default(after)
		p.compare(reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem())
		return
	}
	panic("no scheme knows " + gvk.String())
}

// fill allocates every struct below v, lists with one item and maps with one entry.
func fill(v reflect.Value, parents []reflect.Type) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.Struct && !recursive(v.Type().Elem(), parents) && !opaque(v.Type().Elem()) {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), parents)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct && !recursive(v.Type().Elem(), parents) && !opaque(v.Type().Elem()) {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), parents)
		}
	case reflect.Struct:
		if opaque(v.Type()) {
			return
		}
		parents = append(parents, v.Type())
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), parents)
			}
		}
	}
}

func recursive(t reflect.Type, parents []reflect.Type) bool {
	for _, parent := range parents {
		if parent == t {
			return true
		}
	}
	return false
}

// opaque tells the types whose JSON form is their own.
func opaque(t reflect.Type) bool {
	switch t.Name() {
	case "Time", "MicroTime", "Quantity", "IntOrString", "RawExtension", "FieldsV1", "JSON", "ObjectMeta", "ListMeta":
		return true
	}
	return strings.HasPrefix(t.Name(), "JSONSchemaPropsOr")
}

// compare notes what defaulting changed in a struct, and goes on below.
func (p *prober) compare(before, after reflect.Value) {
	t := before.Type()
	changed := map[string]any{}
	p.fields(before, after, changed)
	name := modelName(t)
	if known, seen := p.types[name]; !seen {
		p.types[name] = changed
	} else {
		for field, value := range known {
			if !reflect.DeepEqual(changed[field], value) {
				delete(known, field)
			}
		}
	}
}

func (p *prober) fields(before, after reflect.Value, changed map[string]any) {
	t := before.Type()
	for i := range t.NumField() {
		sf := t.Field(i)
		if !sf.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		b, a := before.Field(i), after.Field(i)
		for b.Kind() == reflect.Pointer && !b.IsNil() && !a.IsNil() {
			b, a = b.Elem(), a.Elem()
		}
		switch {
		case b.Kind() == reflect.Struct && !opaque(b.Type()) && name == "":
			// An inlined struct is part of its parent, and a type of its own.
			p.compare(b, a)
			p.fields(b, a, changed)
		case b.Kind() == reflect.Struct && !opaque(b.Type()):
			p.compare(b, a)
		case b.Kind() == reflect.Slice && b.Type().Elem().Kind() == reflect.Struct && b.Len() == 1 && a.Len() == 1:
			p.compare(b.Index(0), a.Index(0))
		case !reflect.DeepEqual(b.Interface(), a.Interface()):
			content, err := json.Marshal(a.Interface())
			if err != nil {
				panic(err)
			}
			var value any
			if err := json.Unmarshal(content, &value); err != nil {
				panic(err)
			}
			changed[name] = value
		}
	}
}

func modelName(t reflect.Type) string {
	if named, ok := reflect.New(t).Interface().(interface{ OpenAPIModelName() string }); ok {
		return named.OpenAPIModelName()
	}
	return util.ToRESTFriendlyName(t.PkgPath() + "." + t.Name())
}
