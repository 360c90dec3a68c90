// Command roles writes rbac.json: the roles and bindings that a running kube-apiserver makes for itself.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/kubewright/kubewright/conformance/oracle/internal/output"
	"github.com/kubewright/kubewright/conformance/oracle/internal/server"
)

// kinds are in the order of the file. Objects of a kind come as the server lists them.
var kinds = []struct{ kind, plural string }{
	{"ClusterRole", "clusterroles"},
	{"ClusterRoleBinding", "clusterrolebindings"},
	{"Role", "roles"},
	{"RoleBinding", "rolebindings"},
}

// own are the fields of metadata that differ from run to run.
var own = []string{"creationTimestamp", "managedFields", "resourceVersion", "uid"}

func main() {
	content, err := generate(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	output.Write(output.Data+"rbac.json", content)
}

func generate(ctx context.Context) ([]byte, error) {
	s, err := server.Launch(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Stop()

	var objects []map[string]any
	for _, k := range kinds {
		var list struct {
			APIVersion string           `json:"apiVersion"`
			Items      []map[string]any `json:"items"`
		}
		if err := s.Get(ctx, "/apis/rbac.authorization.k8s.io/v1/"+k.plural, nil, &list); err != nil {
			return nil, err
		}
		for _, object := range list.Items {
			object["apiVersion"], object["kind"] = list.APIVersion, k.kind
			metadata, _ := object["metadata"].(map[string]any)
			for _, field := range own {
				delete(metadata, field)
			}
			objects = append(objects, object)
		}
	}
	return output.Lines(objects)
}
