// Command columns writes columns.json: the columns of the tables that a running kube-apiserver
// answers for each built-in resource.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"

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
	return output.Lines(tables)
}
