// Package samples reads the sample objects that programs create on a server.
package samples

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubewright/kubewright/conformance/oracle/internal/output"
)

// Read returns the documents of a YAML file in the workspace's conformance folder.
func Read(name string) ([]unstructured.Unstructured, error) {
	root, err := output.Workspace()
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(filepath.Join(root, "conformance", name))
	if err != nil {
		return nil, err
	}
	var objects []unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		var object unstructured.Unstructured
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", name, len(objects)+1, err)
		}
		objects = append(objects, object)
	}
}
