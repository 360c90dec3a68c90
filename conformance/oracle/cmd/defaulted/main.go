// Command defaulted writes conformance/golden/defaulted.json: the samples and what Kubernetes' own
// code makes of them when it decodes, defaults and encodes them.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane"

	"github.com/kubewright/kubewright/conformance/oracle/internal/output"
	"github.com/kubewright/kubewright/conformance/oracle/internal/samples"
)

type pair struct {
	Given     map[string]any  `json:"given"`
	Defaulted json.RawMessage `json:"defaulted"`
}

func main() {
	content, err := generate()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	output.Write("conformance/golden/defaulted.json", content)
}

func generate() ([]byte, error) {
	var pairs []pair
	for _, file := range []string{"samples.yaml", "states.yaml", "defaults.yaml"} {
		objects, err := samples.Read(file)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			if object.GetKind() == "DeviceTaintRule" {
				continue // its default is the current time
			}
			defaulted, err := roundTrip(object)
			if err != nil {
				return nil, fmt.Errorf("%s: %s %s: %w", file, object.GetKind(), object.GetName(), err)
			}
			pairs = append(pairs, pair{object.Object, defaulted})
		}
	}
	return output.Lines(pairs)
}

func roundTrip(object unstructured.Unstructured) ([]byte, error) {
	gvk := object.GroupVersionKind()
	for _, known := range []struct {
		scheme *runtime.Scheme
		codecs serializer.CodecFactory
	}{
		{legacyscheme.Scheme, legacyscheme.Codecs}, {apiextensions.Scheme, apiextensions.Codecs}, {aggregator.Scheme, aggregator.Codecs},
	} {
		if !known.scheme.Recognizes(gvk) {
			continue
		}
		content, err := json.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		decoded, err := runtime.Decode(known.codecs.UniversalDecoder(), content)
		if err != nil {
			return nil, err
		}
		return runtime.Encode(known.codecs.LegacyCodec(gvk.GroupVersion()), decoded)
	}
	return nil, fmt.Errorf("no scheme knows the kind")
}
