// Command rules writes the answers of a running kube-apiserver into
// crates/kubewright-schema/tests/data/cel_static.json: what it says about the CEL rules of each case
// when a definition with them is created. New cases are written into the file by hand, without an
// answer.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubewright/kubewright/conformance/oracle/internal/output"
	"github.com/kubewright/kubewright/conformance/oracle/internal/server"
)

const file = "crates/kubewright-schema/tests/data/cel_static.json"

type recorded struct {
	Schemas json.RawMessage `json:"schemas"`
	Cases   []testCase      `json:"cases"`
}

type testCase struct {
	// Schema is the name of the schema of spec.
	Schema string `json:"schema"`
	// At is where the rules stand: names of fields, @items and @values, from spec; or @root.
	At     string            `json:"at,omitempty"`
	Rules  []json.RawMessage `json:"rules"`
	Answer []string          `json:"answer"`
}

var (
	// The type of self has a number that changes from request to request.
	selfType = regexp.MustCompile(`selfType\d+`)
	// The rule that an answer shows says nothing new.
	shownRule = regexp.MustCompile(`(?s)Invalid value: \{"Rule":.*?,"OptionalOldSelf":(?:null|true|false)\}: `)
)

func main() {
	content, err := record(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	output.Write(file, content)
}

func record(ctx context.Context) ([]byte, error) {
	root, err := output.Workspace()
	if err != nil {
		return nil, err
	}
	old, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return nil, err
	}
	var data recorded
	if err := json.Unmarshal(old, &data); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s, err := server.Launch(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Stop()
	for i := range data.Cases {
		if data.Cases[i].Answer, err = answer(ctx, s, data.Schemas, data.Cases[i]); err != nil {
			return nil, fmt.Errorf("case %d, %s: %w", i, data.Cases[i].Rules, err)
		}
	}
	// The schemas stay as they are written, and the cases follow one a line.
	schemas, _, _ := bytes.Cut(old, []byte("\"cases\": "))
	cases, err := lines(data.Cases)
	if err != nil {
		return nil, err
	}
	return append(append(bytes.Clone(schemas), "\"cases\": "...), append(cases, "}\n"...)...), nil
}

// lines is output.Lines without the escapes that JSON in HTML needs.
func lines(cases []testCase) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, c := range cases {
		var line bytes.Buffer
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(c); err != nil {
			return nil, err
		}
		b.Write(bytes.TrimRight(line.Bytes(), "\n"))
		if i < len(cases)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	return b.Bytes(), nil
}

// answer is the causes of what the server says, as field: message. None if it takes the definition.
func answer(ctx context.Context, s *server.Server, schemas json.RawMessage, c testCase) ([]string, error) {
	object, err := definition(schemas, c)
	if err != nil {
		return nil, err
	}
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All"
	code, status, err := s.Send(ctx, http.MethodPost, path, object)
	if err != nil {
		return nil, err
	}
	if code == http.StatusCreated {
		return []string{}, nil
	}
	causes, _, err := unstructured.NestedSlice(status.Object, "details", "causes")
	if err != nil || len(causes) == 0 {
		return nil, fmt.Errorf("status %d without causes: %v", code, status.Object)
	}
	answers := make([]string, 0, len(causes))
	for _, cause := range causes {
		cause := cause.(map[string]any)
		text := fmt.Sprintf("%v: %v", cause["field"], cause["message"])
		text = selfType.ReplaceAllString(text, "selfType0")
		answers = append(answers, shownRule.ReplaceAllString(text, "Invalid value: {rule}: "))
	}
	return answers, nil
}

func definition(schemas json.RawMessage, c testCase) (unstructured.Unstructured, error) {
	object := unstructured.Unstructured{}
	var all map[string]map[string]any
	if err := json.Unmarshal(schemas, &all); err != nil {
		return object, err
	}
	spec, known := all[c.Schema]
	if !known {
		return object, fmt.Errorf("there is no schema %q", c.Schema)
	}
	schema := map[string]any{"type": "object", "properties": map[string]any{
		"spec":     spec,
		"metadata": map[string]any{"type": "object"},
	}}
	node := schema
	if c.At != "@root" {
		node = spec
		for _, segment := range strings.FieldsFunc(c.At, func(r rune) bool { return r == '.' }) {
			next := any(nil)
			switch segment {
			case "@items":
				next = node["items"]
			case "@values":
				next = node["additionalProperties"]
			default:
				properties, _ := node["properties"].(map[string]any)
				next = properties[segment]
			}
			below, ok := next.(map[string]any)
			if !ok {
				return object, fmt.Errorf("schema %q has no %s", c.Schema, c.At)
			}
			node = below
		}
	}
	rules := make([]any, len(c.Rules))
	for i, rule := range c.Rules {
		if err := json.Unmarshal(rule, &rules[i]); err != nil {
			return object, err
		}
	}
	node["x-kubernetes-validations"] = rules
	object.Object = map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": "widgets.example.com"},
		"spec": map[string]any{
			"group": "example.com",
			"scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "kind": "Widget"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": schema},
			}},
		},
	}
	return object, nil
}
