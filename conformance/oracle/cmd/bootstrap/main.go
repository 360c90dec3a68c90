// Command bootstrap writes what a running kube-apiserver with an empty store makes for itself, beside namespaces and the
// service of the API: rbac.json has roles and bindings, bootstrap.json the rest.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/kubewright/kubewright/conformance/oracle/internal/output"
	"github.com/kubewright/kubewright/conformance/oracle/internal/server"
)

type kind struct{ name, path string }

// files have their kinds in this order. Objects of a kind come as the server lists them.
var files = []struct {
	name  string
	kinds []kind
}{
	{"rbac.json", []kind{
		{"ClusterRole", "/apis/rbac.authorization.k8s.io/v1/clusterroles"},
		{"ClusterRoleBinding", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"},
		{"Role", "/apis/rbac.authorization.k8s.io/v1/roles"},
		{"RoleBinding", "/apis/rbac.authorization.k8s.io/v1/rolebindings"},
	}},
	{"bootstrap.json", []kind{
		{"PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses"},
		{"PriorityLevelConfiguration", "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"},
		{"FlowSchema", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"},
		{"ServiceCIDR", "/apis/networking.k8s.io/v1/servicecidrs"},
	}},
}

// own are the fields of metadata that differ from run to run.
var own = []string{"creationTimestamp", "managedFields", "resourceVersion", "uid"}

func main() {
	contents, err := generate(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for i, file := range files {
		output.Write(output.Data+file.name, contents[i])
	}
}

func generate(ctx context.Context) ([][]byte, error) {
	s, err := server.Launch(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Stop()

	var contents [][]byte
	for _, file := range files {
		var objects []map[string]any
		for _, k := range file.kinds {
			of, err := list(ctx, s, k)
			if err != nil {
				return nil, err
			}
			objects = append(objects, of...)
		}
		content, err := output.Lines(objects)
		if err != nil {
			return nil, err
		}
		contents = append(contents, content)
	}
	return contents, nil
}

func list(ctx context.Context, s *server.Server, k kind) ([]map[string]any, error) {
	var list struct {
		APIVersion string           `json:"apiVersion"`
		Items      []map[string]any `json:"items"`
	}
	if err := s.Get(ctx, k.path, nil, &list); err != nil {
		return nil, err
	}
	for _, object := range list.Items {
		object["apiVersion"], object["kind"] = list.APIVersion, k.name
		metadata, _ := object["metadata"].(map[string]any)
		for _, field := range own {
			delete(metadata, field)
		}
		dropTimes(object)
	}
	return list.Items, nil
}

// dropTimes takes the times out of the conditions, which the server sets.
func dropTimes(object map[string]any) {
	status, _ := object["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	for _, condition := range conditions {
		if condition, ok := condition.(map[string]any); ok {
			delete(condition, "lastTransitionTime")
		}
	}
}
