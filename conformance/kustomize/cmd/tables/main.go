// Command tables writes what kustomize knows by heart: the fields that its transformers change (fields.json), and
// what it knows of built-in kinds (kinds.json), which is how strategic merge patches merge their lists and which of
// them are not in a namespace.
//
// The kinds are those of the OpenAPI document that is built into kustomize. It is that of an old Kubernetes, and
// what is newer is merged like a custom resource.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
	_ "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

const (
	folder = "../../crates/kubewright-kustomize/data"
	module = "sigs.k8s.io/kustomize/api"
	// The package is internal, so its constants are read from its source.
	constants = "internal/konfig/builtinpluginconsts"
)

func main() {
	log.SetFlags(0)
	check := flag.Bool("check", false, "change nothing, fail if a file is not up to date")
	flag.Parse()
	ok := true
	for name, table := range map[string]any{"fields.json": fields(), "kinds.json": kinds()} {
		text, err := json.MarshalIndent(table, "", " ")
		fatal(err)
		text = append(text, '\n')
		path := filepath.Join(folder, name)
		old, _ := os.ReadFile(path)
		switch {
		case bytes.Equal(old, text):
		case *check:
			log.Printf("%s is not up to date", path)
			ok = false
		default:
			fatal(os.WriteFile(path, text, 0o644))
		}
	}
	if !ok {
		os.Exit(1)
	}
}

func fatal(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// fields reads the string constants whose names end in FieldSpecs. Each is a YAML mapping from a transformer to
// its fields, but for one that has fields alone and stands at the end of others.
func fields() any {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	fatal(err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), constants, "*.go"))
	fatal(err)
	values := map[string]ast.Expr{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		fatal(err)
		for _, declaration := range file.Decls {
			general, ok := declaration.(*ast.GenDecl)
			if !ok || general.Tok != token.CONST {
				continue
			}
			for _, s := range general.Specs {
				value := s.(*ast.ValueSpec)
				values[value.Names[0].Name] = value.Values[0]
			}
		}
	}
	result := map[string]any{}
	for name, expression := range values {
		if !strings.HasSuffix(name, "FieldSpecs") || name == "metadataLabelsFieldSpecs" {
			continue
		}
		part := map[string]any{}
		fatal(yaml.Unmarshal([]byte(text(expression, values)), &part))
		for transformer, list := range part {
			result[transformer] = list
		}
	}
	return result
}

func text(expression ast.Expr, values map[string]ast.Expr) string {
	switch e := expression.(type) {
	case *ast.BasicLit:
		value, err := strconv.Unquote(e.Value)
		fatal(err)
		return value
	case *ast.BinaryExpr:
		return text(e.X, values) + text(e.Y, values)
	case *ast.Ident:
		return text(values[e.Name], values)
	}
	log.Fatalf("a constant is a %T", expression)
	return ""
}

// node is what merging needs to know of a type or field. Nothing is said of what has no merged list in it.
type node struct {
	Ref      string           `json:"ref,omitempty"`      // a type of the table, instead of the rest
	Fields   map[string]*node `json:"fields,omitempty"`   // of an object
	Values   *node            `json:"values,omitempty"`   // of a map: its values
	Items    *node            `json:"items,omitempty"`    // of a list
	Strategy string           `json:"strategy,omitempty"` // x-kubernetes-patch-strategy
	Keys     []string         `json:"keys,omitempty"`     // x-kubernetes-list-map-keys, else the patch merge key
}

type table struct {
	Kinds         map[string]string `json:"kinds"`         // apiVersion and kind to the name of a type
	ClusterScoped []string          `json:"clusterScoped"` // apiVersion and kind
	Types         map[string]*node  `json:"types"`
}

func kinds() any {
	definitions := openapi.Schema().Definitions
	// A type is interesting if it has a merged list in it, however deep.
	interesting := map[string]bool{}
	for changed := true; changed; {
		changed = false
		for name, definition := range definitions {
			if !interesting[name] && isInteresting(&definition, interesting) {
				interesting[name], changed = true, true
			}
		}
	}
	result := table{Kinds: map[string]string{}, Types: map[string]*node{}}
	for name, definition := range definitions {
		if interesting[name] {
			result.Types[strings.TrimPrefix(name, "io.k8s.")] = describe(&definition, interesting)
		}
		extension, _ := definition.Extensions["x-kubernetes-group-version-kind"].([]any)
		for _, entry := range extension {
			of := entry.(map[string]any)
			version := of["version"].(string)
			if group, _ := of["group"].(string); group != "" {
				version = group + "/" + version
			}
			kind := of["kind"].(string)
			key := version + " " + kind
			if interesting[name] {
				result.Kinds[key] = strings.TrimPrefix(name, "io.k8s.")
			}
			if openapi.IsCertainlyClusterScoped(kyaml.TypeMeta{APIVersion: version, Kind: kind}) {
				result.ClusterScoped = append(result.ClusterScoped, key)
			}
		}
	}
	sort.Strings(result.ClusterScoped)
	return result
}

func isInteresting(s *spec.Schema, interesting map[string]bool) bool {
	if strategy, _ := s.Extensions["x-kubernetes-patch-strategy"].(string); strings.Contains(strategy, "merge") && isArray(s) {
		return true
	}
	if name := reference(s); name != "" {
		return interesting[name]
	}
	if s.Items != nil && s.Items.Schema != nil && isInteresting(s.Items.Schema, interesting) {
		return true
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil && isInteresting(s.AdditionalProperties.Schema, interesting) {
		return true
	}
	for _, property := range s.Properties {
		if isInteresting(&property, interesting) {
			return true
		}
	}
	return false
}

func isArray(s *spec.Schema) bool { return len(s.Type) == 1 && s.Type[0] == "array" }

func reference(s *spec.Schema) string {
	return strings.TrimPrefix(s.Ref.String(), "#/definitions/")
}

func describe(s *spec.Schema, interesting map[string]bool) *node {
	if !isInteresting(s, interesting) {
		return nil
	}
	if name := reference(s); name != "" {
		return &node{Ref: strings.TrimPrefix(name, "io.k8s.")}
	}
	n := &node{}
	if strategy, ok := s.Extensions["x-kubernetes-patch-strategy"].(string); ok && isArray(s) {
		n.Strategy = strategy
		if keys, ok := s.Extensions["x-kubernetes-list-map-keys"].([]any); ok {
			for _, key := range keys {
				n.Keys = append(n.Keys, fmt.Sprint(key))
			}
		} else if key, ok := s.Extensions["x-kubernetes-patch-merge-key"].(string); ok {
			n.Keys = []string{key}
		}
	}
	if s.Items != nil && s.Items.Schema != nil && isArray(s) {
		n.Items = describe(s.Items.Schema, interesting)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		n.Values = describe(s.AdditionalProperties.Schema, interesting)
	}
	for name, property := range s.Properties {
		if field := describe(&property, interesting); field != nil {
			if n.Fields == nil {
				n.Fields = map[string]*node{}
			}
			n.Fields[name] = field
		}
	}
	return n
}
