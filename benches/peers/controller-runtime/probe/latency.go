// Package probe has what is measured of controller-runtime beside the operator.
package probe

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// sent is the annotation in which the driver writes when it sent a change, in nanoseconds since 1970.
const sent = "bench.kubewright.dev/sent"

// work is how long a reconciliation takes, as if it made calls.
const work = 5 * time.Millisecond

// Gadget is a kind whose watch fails once its definition is deleted.
var Gadget = schema.GroupVersionKind{Group: "bench.kubewright.dev", Version: "v1", Kind: "Gadget"}

// latencies reconciles ConfigMaps and prints, for each change, when it was sent and when its reconciliation began.
type latencies struct {
	client client.Client
	lock   sync.Mutex
	seen   map[string]string
}

// RegisterLatencies adds the controller to a manager, with a watch of Gadgets beside that of ConfigMaps if asked for.
func RegisterLatencies(manager ctrl.Manager, gadgets bool) error {
	builder := ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{})
	if gadgets {
		gadget := &metav1.PartialObjectMetadata{}
		gadget.SetGroupVersionKind(Gadget)
		builder = builder.Watches(gadget, &handler.EnqueueRequestForObject{})
	}
	return builder.Complete(&latencies{client: manager.GetClient(), seen: map[string]string{}})
}

func (l *latencies) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	began := time.Now().UnixNano()
	object := &corev1.ConfigMap{}
	if err := l.client.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	stamp, changed := object.Annotations[sent]
	if changed && l.isNew(request.Name, stamp) {
		fmt.Println(stamp, began)
	}
	time.Sleep(work)
	return ctrl.Result{}, nil
}

func (l *latencies) isNew(name, stamp string) bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.seen[name] == stamp {
		return false
	}
	l.seen[name] = stamp
	return true
}
