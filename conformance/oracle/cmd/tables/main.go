// Command tables writes conformance/golden/tables.json: the tables that a running kube-apiserver
// answers for the samples and for objects in many states, with the whole objects in their rows.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubewright/kubewright/conformance/oracle/internal/output"
	"github.com/kubewright/kubewright/conformance/oracle/internal/samples"
	"github.com/kubewright/kubewright/conformance/oracle/internal/server"
)

type recorded struct {
	Group   string          `json:"group"`
	Version string          `json:"version"`
	Kind    string          `json:"kind"`
	Now     string          `json:"now"`
	Table   json.RawMessage `json:"table"`
}

// label marks what was created here, as opposed to what the server creates itself.
const label = "conformance"

func main() {
	content, err := generate(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	output.Write("conformance/golden/tables.json", content)
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
	for _, file := range []string{"samples.yaml", "states.yaml"} {
		objects, err := samples.Read(file)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			r, err := server.Find(resources, object.GroupVersionKind())
			if err == nil {
				err = create(ctx, s, r, object)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %s %s: %w", file, object.GetKind(), object.GetName(), err)
			}
		}
	}

	var tables []recorded
	for _, r := range resources {
		if !slices.Contains(r.Verbs, "list") || r.Kind == "ComponentStatus" {
			continue // component statuses are not stored
		}
		path := r.Path("", "") + "?includeObject=Object&labelSelector=" + label
		accept := http.Header{"Accept": {"application/json;as=Table;v=v1;g=meta.k8s.io"}}
		var table map[string]any
		if err := s.Get(ctx, path, accept, &table); err != nil {
			return nil, err
		}
		now := time.Now().UTC().Format(time.RFC3339)
		if rows, _ := table["rows"].([]any); len(rows) == 0 {
			continue
		}
		table["columnDefinitions"] = nil
		for _, row := range table["rows"].([]any) {
			object := unstructured.Unstructured{Object: row.(map[string]any)["object"].(map[string]any)}
			object.SetManagedFields(nil)
		}
		content, err := json.Marshal(table)
		if err != nil {
			return nil, err
		}
		tables = append(tables, recorded{r.Group, r.Version, r.Kind, now, content})
	}
	return output.Lines(tables)
}

// create makes the object, writes its status and deletes it, as far as it asks for that.
func create(ctx context.Context, s *server.Server, r server.Resource, object unstructured.Unstructured) error {
	status, hasStatus := object.Object["status"]
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[label] = ""
	object.SetLabels(labels)
	created, err := s.Expect(ctx, http.StatusCreated, http.MethodPost, r.Path(object.GetNamespace(), ""), object)
	if err != nil {
		return err
	}
	path := r.Path(object.GetNamespace(), object.GetName())
	if hasStatus {
		created.Object["status"] = status
		if _, err := s.Expect(ctx, http.StatusOK, http.MethodPut, path+"/status", created); err != nil {
			return err
		}
	}
	if object.GetAnnotations()["delete"] == "true" {
		options := unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "DeleteOptions"}}
		if _, err := s.Expect(ctx, http.StatusOK, http.MethodDelete, path, options); err != nil {
			return err
		}
	}
	return nil
}
