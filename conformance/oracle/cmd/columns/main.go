// Command columns writes columns.json: the columns of the tables that a running kube-apiserver
// answers for each built-in resource, and for the scale of one.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubewright/kubewright/conformance/oracle/internal/output"
	"github.com/kubewright/kubewright/conformance/oracle/internal/server"
)

type table struct {
	Group   string   `json:"group"`
	Version string   `json:"version"`
	Kind    string   `json:"kind"`
	Columns []column `json:"columns"`
}

// column is a TableColumnDefinition as the server writes it.
type column struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description"`
	Priority    int32  `json:"priority"`
}

func main() {
	content, err := generate(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	output.Write(output.Data+"columns.json", content)
}

func generate(ctx context.Context) ([]byte, error) {
	s, err := server.Launch(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Stop()

	resources, err := s.Resources(ctx)
	if err != nil {
		return nil, err
	}
	var tables []table
	for _, r := range resources {
		if !slices.Contains(r.Verbs, "list") {
			continue
		}
		var answer struct {
			ColumnDefinitions []column `json:"columnDefinitions"`
		}
		accept := http.Header{"Accept": {"application/json;as=Table;v=v1;g=meta.k8s.io"}}
		if err := s.Get(ctx, r.Path("", ""), accept, &answer); err != nil {
			return nil, err
		}
		tables = append(tables, table{r.Group, r.Version, r.Kind, answer.ColumnDefinitions})
	}
	scale, err := scaleTable(ctx, s)
	if err != nil {
		return nil, err
	}
	return output.Lines(append(tables, scale))
}

// scaleTable is the table of a Scale, which no list has.
func scaleTable(ctx context.Context, s *server.Server) (table, error) {
	labels := map[string]any{"app": "scaled"}
	controller := unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "ReplicationController",
		"metadata":   map[string]any{"name": "scaled"},
		"spec": map[string]any{
			"selector": labels,
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "main"}}},
			},
		},
	}}
	const path = "/api/v1/namespaces/default/replicationcontrollers"
	if _, err := s.Expect(ctx, http.StatusCreated, http.MethodPost, path, controller); err != nil {
		return table{}, err
	}
	var answer struct {
		ColumnDefinitions []column `json:"columnDefinitions"`
	}
	accept := http.Header{"Accept": {"application/json;as=Table;v=v1;g=meta.k8s.io"}}
	err := s.Get(ctx, path+"/scaled/scale", accept, &answer)
	return table{"autoscaling", "v1", "Scale", answer.ColumnDefinitions}, err
}
