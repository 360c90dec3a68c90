package server

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is a resource that the server serves.
type Resource struct {
	schema.GroupVersionKind
	Plural     string
	Namespaced bool
	Verbs      []string
}

// Path is the URL path of an object, or of a collection without a name; of all namespaces without one.
func (r Resource) Path(namespace, name string) string {
	path := GroupPath(r.Group, r.Version)
	if r.Namespaced && namespace != "" {
		path += "/namespaces/" + namespace
	}
	path += "/" + r.Plural
	if name != "" {
		path += "/" + name
	}
	return path
}

// GroupPath is the URL path of a group and version.
func GroupPath(group, version string) string {
	if group == "" {
		return "/api/" + version
	}
	return "/apis/" + group + "/" + version
}

// Resources are the resources of all groups and versions, without subresources, in the order of discovery.
func (s *Server) Resources(ctx context.Context) ([]Resource, error) {
	paths := []string{"/api/v1"}
	var groups metav1.APIGroupList
	if err := s.Get(ctx, "/apis", nil, &groups); err != nil {
		return nil, err
	}
	for _, group := range groups.Groups {
		for _, version := range group.Versions {
			paths = append(paths, "/apis/"+version.GroupVersion)
		}
	}
	var resources []Resource
	for _, path := range paths {
		var list metav1.APIResourceList
		if err := s.Get(ctx, path, nil, &list); err != nil {
			return nil, err
		}
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range list.APIResources {
			if r.SingularName != "" {
				resources = append(resources, Resource{gv.WithKind(r.Kind), r.Name, r.Namespaced, r.Verbs})
			}
		}
	}
	return resources, nil
}

// Find is the resource of a kind.
func Find(resources []Resource, kind schema.GroupVersionKind) (Resource, error) {
	for _, r := range resources {
		if r.GroupVersionKind == kind {
			return r, nil
		}
	}
	return Resource{}, fmt.Errorf("the server has no resource of %v", kind)
}

// Send sends an object as JSON and returns the status code and the object that is answered.
func (s *Server) Send(ctx context.Context, method, path string, object unstructured.Unstructured) (int, unstructured.Unstructured, error) {
	var answer unstructured.Unstructured
	body, err := object.MarshalJSON()
	if err != nil {
		return 0, answer, err
	}
	code, content, err := s.Do(ctx, method, path, http.Header{"Content-Type": {"application/json"}}, body)
	if err != nil {
		return 0, answer, err
	}
	return code, answer, answer.UnmarshalJSON(content)
}

// Expect is Send where every other status code is an error.
func (s *Server) Expect(ctx context.Context, want int, method, path string, object unstructured.Unstructured) (unstructured.Unstructured, error) {
	code, answer, err := s.Send(ctx, method, path, object)
	if err == nil && code != want {
		err = fmt.Errorf("%s %s answered %d: %v", method, path, code, answer.Object["message"])
	}
	return answer, err
}
