// Command enums writes enums.json: the values of those string fields whose values the OpenAPI v3 documents of a running
// kube-apiserver list.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/kubewright/kubewright/conformance/oracle/internal/output"
	"github.com/kubewright/kubewright/conformance/oracle/internal/server"
)

// schemaOf is the part of a schema that lists values.
type schemaOf struct {
	Enum       []string            `json:"enum"`
	Items      *schemaOf           `json:"items"`
	Properties map[string]schemaOf `json:"properties"`
	// AdditionalProperties is a schema or a boolean.
	AdditionalProperties json.RawMessage `json:"additionalProperties"`
}

func main() {
	content, err := generate(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	output.Write(output.Data+"enums.json", content)
}

func generate(ctx context.Context) ([]byte, error) {
	s, err := server.Launch(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Stop()

	var index struct {
		Paths map[string]struct {
			URL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := s.Get(ctx, "/openapi/v3", nil, &index); err != nil {
		return nil, err
	}
	types := map[string]map[string][]string{}
	for _, path := range slices.Sorted(maps.Keys(index.Paths)) {
		var document struct {
			Components struct {
				Schemas map[string]schemaOf `json:"schemas"`
			} `json:"components"`
		}
		if err := s.Get(ctx, index.Paths[path].URL, nil, &document); err != nil {
			return nil, err
		}
		for name, schema := range document.Components.Schemas {
			for field, property := range schema.Properties {
				if values := valuesOf(&property); len(values) > 0 {
					if types[name] == nil {
						types[name] = map[string][]string{}
					}
					types[name][field] = values
				}
			}
		}
	}
	return output.LinesByName(types)
}

// valuesOf are the values of a field, or of its items.
func valuesOf(schema *schemaOf) []string {
	if len(schema.Enum) > 0 {
		return slices.Sorted(slices.Values(schema.Enum))
	}
	if schema.Items != nil {
		return valuesOf(schema.Items)
	}
	var values schemaOf
	if json.Unmarshal(schema.AdditionalProperties, &values) == nil && len(schema.AdditionalProperties) > 0 {
		return valuesOf(&values)
	}
	return nil
}
