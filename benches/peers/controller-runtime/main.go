// Command controller-runtime is what benches/ measures of controller-runtime: the Memcached operator, and probes of the
// cache, of the queue, and of the time from an event to its reconciliation.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	cachev1alpha1 "github.com/kubewright/kubewright/benches/peers/controller-runtime/api/v1alpha1"
	"github.com/kubewright/kubewright/benches/peers/controller-runtime/memcached"
	"github.com/kubewright/kubewright/benches/peers/controller-runtime/probe"
)

const image = "memcached:1.6"

func main() {
	// The flag --kubeconfig is controller-runtime's own.
	workers := flag.Int("workers", 1, "how many objects are reconciled at once")
	gadgets := flag.Bool("gadgets", false, "latency: watch Gadgets as well")
	strip := flag.Bool("strip", false, "cache: drop managed fields")
	flag.Parse()
	if err := run(flag.Arg(0), *workers, *gadgets, *strip); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(what string, workers int, gadgets, strip bool) error {
	ctrl.SetLogger(zap.New())
	switch what {
	case "queue":
		probe.MeasureQueue([]int{0, 1_000, 20_000}, 20_000, 100*time.Millisecond)
		return nil
	case "cache":
		return probe.FillCache(ctrl.SetupSignalHandler(), ctrl.GetConfigOrDie(), strip)
	}
	manager, err := newManager(workers)
	if err != nil {
		return err
	}
	switch what {
	case "memcached":
		err = memcached.Register(manager, image)
	case "latency":
		err = probe.RegisterLatencies(manager, gadgets)
	default:
		err = fmt.Errorf("%q is none of memcached, latency, cache, queue", what)
	}
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func newManager(workers int) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := cachev1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:     scheme,
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{MaxConcurrentReconciles: workers},
	})
}
