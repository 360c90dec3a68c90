// Command resources writes resources.json: every built-in resource as a running kube-apiserver
// serves it, in the order of its discovery documents (groups by priority, versions by preference).
//
// Names, verbs and subresources come from discovery. How writes behave is found by writing: the
// samples are created, updated without a resourceVersion, and put under a name that does not exist.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubewright/kubewright/conformance/oracle/internal/output"
	"github.com/kubewright/kubewright/conformance/oracle/internal/samples"
	"github.com/kubewright/kubewright/conformance/oracle/internal/server"
)

type resource struct {
	Group        string        `json:"group"`
	Version      string        `json:"version"`
	Kind         string        `json:"kind"`
	ListKind     string        `json:"listKind"`
	Plural       string        `json:"plural"`
	Singular     string        `json:"singular"`
	ShortNames   []string      `json:"shortNames,omitempty"`
	Categories   []string      `json:"categories,omitempty"`
	Namespaced   bool          `json:"namespaced"`
	Verbs        []string      `json:"verbs"`
	Subresources []subresource `json:"subresources,omitempty"`
	// Storage: objects are stored in this group and version.
	Storage bool `json:"storage"`
	// Generation: metadata.generation is 1 after a create.
	Generation bool `json:"generation"`
	// UnconditionalUpdate: a PUT without resourceVersion is accepted.
	UnconditionalUpdate bool `json:"unconditionalUpdate"`
	// CreateOnUpdate: a PUT creates an object that does not exist.
	CreateOnUpdate bool `json:"createOnUpdate"`

	storageHash string
}

type subresource struct {
	Name    string   `json:"name"`
	Group   string   `json:"group"`
	Version string   `json:"version"`
	Kind    string   `json:"kind"`
	Verbs   []string `json:"verbs"`
}

func main() {
	content, err := generate(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	output.Write(output.Data+"resources.json", content)
}

func generate(ctx context.Context) ([]byte, error) {
	s, err := server.Launch(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Stop()

	resources, err := discover(ctx, s)
	if err != nil {
		return nil, err
	}
	objects, err := samples.Read("samples.yaml")
	if err != nil {
		return nil, err
	}
	sampled := map[schema.GroupVersionKind]unstructured.Unstructured{}
	for _, object := range objects {
		sampled[object.GroupVersionKind()] = object
	}
	for i := range resources {
		r := &resources[i]
		if !slices.Contains(r.Verbs, "update") {
			continue
		}
		object, ok := sampled[schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}]
		if ok {
			err = probeSample(ctx, s, r, object)
		}
		if err == nil {
			err = probeCreateOnUpdate(ctx, s, r, object)
		}
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", r.Plural, r.Group, err)
		}
		if !ok {
			fmt.Fprintf(os.Stderr, "no sample of %s.%s: its generation and updates are not probed\n", r.Plural, r.Group)
		}
	}

	return output.Lines(resources)
}

func discover(ctx context.Context, s *server.Server) ([]resource, error) {
	var resources []resource
	for _, root := range []string{"/api", "/apis"} {
		var document apidiscoveryv2.APIGroupDiscoveryList
		accept := http.Header{"Accept": {"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}}
		if err := s.Get(ctx, root, accept, &document); err != nil {
			return nil, err
		}
		for _, group := range document.Items {
			for _, version := range group.Versions {
				hashes, err := storageHashes(ctx, s, group.Name, version.Version)
				if err != nil {
					return nil, err
				}
				for _, found := range version.Resources {
					resources = append(resources, describe(group.Name, version.Version, found, hashes))
				}
			}
		}
	}
	markStorage(resources)
	return resources, nil
}

// markStorage finds the group and version in which each resource is stored. Where discovery names
// none that is served (a beta version, or no hash at all), it is the most preferred one.
func markStorage(resources []resource) {
	stored := map[string]*resource{}
	for i := range resources {
		r := &resources[i]
		stored[storageHash(r.Group, r.Version, r.Kind)] = r
	}
	seen := map[schema.GroupResource]bool{}
	for i := range resources {
		r := &resources[i]
		if by, ok := stored[r.storageHash]; ok {
			by.Storage = true
		} else if key := (schema.GroupResource{Group: r.Group, Resource: r.Plural}); !seen[key] && slices.Contains(r.Verbs, "update") {
			r.Storage = true
			seen[key] = true
		}
	}
}

func describe(group, version string, found apidiscoveryv2.APIResourceDiscovery, hashes map[string]string) resource {
	kind := kindIn(group, version, found.ResponseKind)
	r := resource{
		Group: group, Version: version, Kind: kind.Kind, ListKind: kind.Kind + "List",
		Plural: found.Resource, Singular: found.SingularResource, ShortNames: found.ShortNames, Categories: found.Categories,
		Namespaced: found.Scope == apidiscoveryv2.ScopeNamespace, Verbs: found.Verbs,
		storageHash: hashes[found.Resource],
	}
	for _, sub := range found.Subresources {
		kind := kindIn(group, version, sub.ResponseKind)
		r.Subresources = append(r.Subresources, subresource{sub.Subresource, kind.Group, kind.Version, kind.Kind, sub.Verbs})
	}
	return r
}

// kindIn fills in the group and version that discovery leaves out when they are the resource's own.
func kindIn(group, version string, kind *metav1.GroupVersionKind) metav1.GroupVersionKind {
	if kind == nil {
		return metav1.GroupVersionKind{Group: group, Version: version}
	}
	if kind.Group == "" && kind.Version == "" {
		return metav1.GroupVersionKind{Group: group, Version: version, Kind: kind.Kind}
	}
	return *kind
}

// storageHashes are the hashes that discovery gives of the group, version and kind stored for each resource.
func storageHashes(ctx context.Context, s *server.Server, group, version string) (map[string]string, error) {
	var list metav1.APIResourceList
	if err := s.Get(ctx, server.GroupPath(group, version), nil, &list); err != nil {
		return nil, err
	}
	hashes := map[string]string{}
	for _, r := range list.APIResources {
		hashes[r.Name] = r.StorageVersionHash
	}
	return hashes, nil
}

func storageHash(group, version, kind string) string {
	sum := sha256.Sum256([]byte(group + "/" + version + "/" + kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

// probeSample creates the sample and updates it without a resourceVersion.
func probeSample(ctx context.Context, s *server.Server, r *resource, object unstructured.Unstructured) error {
	code, answer, err := s.Send(ctx, http.MethodPost, collection(r), object)
	if err != nil {
		return err
	}
	if code != http.StatusCreated {
		return fmt.Errorf("create answered %d: %v", code, answer.Object["message"])
	}
	r.Generation = answer.GetGeneration() == 1
	update := answer.DeepCopy()
	update.SetResourceVersion("")
	code, answer, err = s.Send(ctx, http.MethodPut, collection(r)+"/"+object.GetName(), *update)
	if err != nil {
		return err
	}
	switch message := fmt.Sprint(answer.Object["message"]); {
	case code == http.StatusOK:
		r.UnconditionalUpdate = true
	case code == http.StatusUnprocessableEntity && strings.Contains(message, "must be specified for an update"):
	default:
		return fmt.Errorf("update answered %d: %s", code, message)
	}
	return nil
}

// probeCreateOnUpdate puts the object under a name that does not exist. Where a PUT may not create,
// that is 404 before the object is validated.
func probeCreateOnUpdate(ctx context.Context, s *server.Server, r *resource, object unstructured.Unstructured) error {
	put := object.DeepCopy()
	if put.Object == nil {
		put.Object = map[string]any{}
	}
	put.SetName("not-there")
	put.SetGroupVersionKind(schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind})
	code, answer, err := s.Send(ctx, http.MethodPut, collection(r)+"/not-there?dryRun=All", *put)
	if err != nil {
		return err
	}
	switch code {
	case http.StatusCreated, http.StatusUnprocessableEntity:
		r.CreateOnUpdate = true
	case http.StatusNotFound, http.StatusConflict:
	default:
		return fmt.Errorf("PUT of a missing object answered %d: %v", code, answer.Object["message"])
	}
	return nil
}

func collection(r *resource) string {
	path := server.GroupPath(r.Group, r.Version)
	if r.Namespaced {
		path += "/namespaces/default"
	}
	return path + "/" + r.Plural
}
