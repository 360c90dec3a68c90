// Package memcached is the operator of examples/memcached-operator on controller-runtime: the same watches, the same calls
// in the same order, the same objects.
package memcached

import (
	"context"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cachev1alpha1 "github.com/kubewright/kubewright/benches/peers/controller-runtime/api/v1alpha1"
)

const (
	finalizer = "cache.example.com/finalizer"
	owner     = client.FieldOwner("memcached-operator")
)

// Reconciler reconciles one Memcached.
type Reconciler struct {
	client client.Client
	events events.EventRecorder
	image  string
}

// Register adds the controller to a manager; the instances run the image.
func Register(manager ctrl.Manager, image string) error {
	reconciler := &Reconciler{
		client: manager.GetClient(),
		events: manager.GetEventRecorder("memcached-controller"),
		image:  image,
	}
	return ctrl.NewControllerManagedBy(manager).
		For(&cachev1alpha1.Memcached{}).
		Owns(&appsv1.Deployment{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context, pod client.Object) []reconcile.Request {
			name, belongs := pod.GetLabels()[instance]
			if !belongs {
				return nil
			}
			return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
		})).
		Complete(reconciler)
}

// Reconcile brings the Deployment of a Memcached about, and reports on it.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	memcached := &cachev1alpha1.Memcached{}
	if err := r.client.Get(ctx, request.NamespacedName, memcached); err != nil {
		// Deleted. What it owned is garbage collected.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !memcached.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.finalize(ctx, memcached)
	}
	if !controllerutil.ContainsFinalizer(memcached, finalizer) {
		base := memcached.DeepCopy()
		controllerutil.AddFinalizer(memcached, finalizer)
		patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
		if err := r.client.Patch(ctx, memcached, patch, owner); err != nil {
			return ctrl.Result{}, err
		}
	}
	deployment := desired(memcached, r.image)
	if err := r.client.Apply(ctx, deployment, owner, client.ForceOwnership); err != nil {
		return ctrl.Result{}, err
	}
	base := memcached.DeepCopy()
	if err := r.observe(ctx, memcached); err != nil {
		return ctrl.Result{}, err
	}
	for _, condition := range conditions(memcached, deployment) {
		condition.ObservedGeneration = memcached.Generation
		meta.SetStatusCondition(&memcached.Status.Conditions, condition)
	}
	if equality.Semantic.DeepEqual(base.Status, memcached.Status) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.client.Status().Patch(ctx, memcached, client.MergeFrom(base), owner)
}

// finalize lets a deleted Memcached go.
func (r *Reconciler) finalize(ctx context.Context, memcached *cachev1alpha1.Memcached) error {
	base := memcached.DeepCopy()
	if !controllerutil.RemoveFinalizer(memcached, finalizer) {
		return nil
	}
	r.events.Eventf(memcached, nil, corev1.EventTypeWarning, "Deleting", "Finalize",
		"Custom resource %s/%s is being deleted", memcached.Namespace, memcached.Name)
	patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	return client.IgnoreNotFound(r.client.Patch(ctx, memcached, patch, owner))
}

// observe reads the names of the pods into the status.
func (r *Reconciler) observe(ctx context.Context, memcached *cachev1alpha1.Memcached) error {
	pods := &corev1.PodList{}
	selector := client.MatchingLabels{instance: memcached.Name}
	if err := r.client.List(ctx, pods, client.InNamespace(memcached.Namespace), selector); err != nil {
		return err
	}
	memcached.Status.Nodes = nil
	for index := range pods.Items {
		memcached.Status.Nodes = append(memcached.Status.Nodes, pods.Items[index].Name)
	}
	return nil
}

// value is what a pointer points to, or the zero value.
func value[T any](pointer *T) T {
	if pointer == nil {
		var zero T
		return zero
	}
	return *pointer
}

func itoa(number int32) string {
	return strconv.Itoa(int(number))
}
