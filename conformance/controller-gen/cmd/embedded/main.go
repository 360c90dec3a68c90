// Command embedded writes embedded.json: what controller-gen says of the fields of Kubernetes' own types beyond their structure,
// so that it can be said of types that are generated from OpenAPI documents, which lack it: how lists and maps are merged,
// defaults, and the bounds of values. With --check it changes nothing and fails if the file is not up to date.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// file is the table, as seen from the folder of this module.
const file = "../../crates/kubewright-manifests/data/embedded.json"

// prefixes of packages, and of the names of their types in OpenAPI.
var prefixes = map[string]string{
	"k8s.io/api/":                        "io.k8s.api.",
	"k8s.io/apimachinery/pkg/apis/meta/": "io.k8s.apimachinery.pkg.apis.meta.",
}

// structure is what OpenAPI documents say as well, and what is text for readers.
var structure = []string{
	"$ref", "additionalProperties", "allOf", "anyOf", "description", "format", "items", "properties", "required", "title", "type",
	"x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields",
}

func main() {
	check := flag.Bool("check", false, "change nothing; exit 1 if the file is not up to date")
	flag.Parse()
	content, err := table()
	if err == nil {
		err = write(content, *check)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// table is a line per type: its fields, and what is said of each. What is said of the type itself stands under an empty name.
func table() ([]byte, error) {
	packages, err := loader.LoadRoots("k8s.io/api/...", "k8s.io/apimachinery/pkg/apis/meta/v1")
	if err != nil {
		return nil, err
	}
	generator := crd.Generator{}
	registry := &markers.Registry{}
	if err := generator.RegisterMarkers(registry); err != nil {
		return nil, err
	}
	parser := &crd.Parser{
		Collector:           &markers.Collector{Registry: registry},
		Checker:             &loader.TypeChecker{NodeFilters: []loader.NodeFilter{generator.CheckFilter()}},
		AllowDangerousTypes: true,
	}
	crd.AddKnownTypes(parser)
	types := map[string]map[string]map[string]any{}
	for _, pkg := range packages {
		parser.NeedPackage(pkg)
	}
	for _, ident := range slices.Collect(maps.Keys(parser.Types)) {
		if !slices.Contains(packages, ident.Package) {
			continue
		}
		parser.NeedSchemaFor(ident)
		schema := parser.Schemata[ident]
		if schema.Type != "object" {
			// Its fields are of a plain type in OpenAPI documents, so it is said there.
			continue
		}
		fields := map[string]map[string]any{}
		collect(parser, ident, fields)
		if name := openAPIName(ident); name != "" && len(fields) > 0 {
			types[name] = fields
		}
	}
	var b bytes.Buffer
	b.WriteString("{\n")
	names := slices.Sorted(maps.Keys(types))
	for i, name := range names {
		line, err := json.Marshal(types[name])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", name, line)
		if i < len(names)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}

// collect adds what is said of a type and of its fields, those of embedded structs included.
func collect(parser *crd.Parser, ident crd.TypeIdent, fields map[string]map[string]any) {
	schema := parser.Schemata[ident]
	for _, embedded := range schema.AllOf {
		if embedded.Ref != nil {
			collect(parser, referenced(ident.Package, *embedded.Ref), fields)
		}
	}
	for name, property := range schema.Properties {
		said := said(property)
		for keyword, value := range saidOfName(parser, ident.Package, property.Ref) {
			if _, found := said[keyword]; !found {
				said[keyword] = value
			}
		}
		if len(said) > 0 {
			fields[name] = said
		}
	}
	if said := said(schema); len(said) > 0 {
		fields[""] = said
	}
}

// referenced is the type that a reference in this package leads to.
func referenced(pkg *loader.Package, ref string) crd.TypeIdent {
	name, path, err := crd.RefParts(ref)
	if err != nil {
		panic(err)
	}
	if path != "" {
		pkg = pkg.Imports()[path]
	}
	return crd.TypeIdent{Package: pkg, Name: name}
}

// saidOfName is what a field says because of its type, if that is a string or number with a name of its own.
func saidOfName(parser *crd.Parser, pkg *loader.Package, ref *string) map[string]any {
	if ref == nil {
		return nil
	}
	schema := parser.Schemata[referenced(pkg, *ref)]
	if schema.Type != "string" && schema.Type != "integer" {
		return nil
	}
	return said(schema)
}

// said is what a schema says beyond its structure.
func said(schema apiextensionsv1.JSONSchemaProps) map[string]any {
	content, err := json.Marshal(schema)
	if err != nil {
		panic(err)
	}
	keywords := map[string]any{}
	if err := json.Unmarshal(content, &keywords); err != nil {
		panic(err)
	}
	for _, keyword := range structure {
		delete(keywords, keyword)
	}
	return keywords
}

func openAPIName(ident crd.TypeIdent) string {
	for prefix, name := range prefixes {
		if rest, found := strings.CutPrefix(ident.Package.PkgPath, prefix); found {
			return name + strings.ReplaceAll(rest, "/", ".") + "." + ident.Name
		}
	}
	return ""
}

func write(content []byte, check bool) error {
	old, err := os.ReadFile(file)
	if err == nil && bytes.Equal(old, content) {
		return nil
	}
	if check {
		return fmt.Errorf("%s is not up to date: run conformance/controller-gen/record", file)
	}
	return os.WriteFile(file, content, 0o644)
}
