// Command bootstrap writes bootstrap.json: what a running kube-apiserver makes for itself beside namespaces, roles and
// the service of the API.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/kubewright/kubewright/conformance/oracle/internal/output"
	"github.com/kubewright/kubewright/conformance/oracle/internal/server"
)

// kinds are in the order of the file. Objects of a kind come as the server lists them.
var kinds = []struct{ kind, path string }{
	{"PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses"},
	{"PriorityLevelConfiguration", "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"},
	{"FlowSchema", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"},
	{"ServiceCIDR", "/apis/networking.k8s.io/v1/servicecidrs"},
}

// own are the fields of metadata that differ from run to run.
var own = []string{"creationTimestamp", "managedFields", "resourceVersion", "uid"}

func main() {
	content, err := generate(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	output.Write(output.Data+"bootstrap.json", content)
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
		if err := s.Get(ctx, k.path, nil, &list); err != nil {
			return nil, err
		}
		for _, object := range list.Items {
			object["apiVersion"], object["kind"] = list.APIVersion, k.kind
			metadata, _ := object["metadata"].(map[string]any)
			for _, field := range own {
				delete(metadata, field)
			}
			dropTimes(object)
			objects = append(objects, object)
		}
	}
	return output.Lines(objects)
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
