package probe

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	keys  = 200_000
	batch = 1_000
)

// MeasureQueue prints hand-overs per second with each number of other keys in flight, and then how many seconds it takes
// to work on many keys at once, each for a while.
func MeasureQueue(inFlight []int, atOnce int, each time.Duration) {
	for _, number := range inFlight {
		fmt.Printf("%f\n", cycles(number))
	}
	fmt.Printf("%f\n", together(atOnce, each))
}

func cycles(inFlight int) float64 {
	queue := priorityqueue.New[reconcile.Request]("cycles")
	defer queue.ShutDown()
	for index := range inFlight {
		queue.Add(key("held", index))
		_, _ = queue.Get()
	}
	all := make([]reconcile.Request, keys)
	for index := range all {
		all[index] = key("key", index)
	}
	started := time.Now()
	for start := 0; start < keys; start += batch {
		for _, key := range all[start : start+batch] {
			queue.Add(key)
		}
		for range batch {
			taken, _ := queue.Get()
			queue.Forget(taken)
			queue.Done(taken)
		}
	}
	return keys / time.Since(started).Seconds()
}

func together(number int, each time.Duration) float64 {
	queue := priorityqueue.New[reconcile.Request]("together")
	started := time.Now()
	var workers sync.WaitGroup
	for range number {
		workers.Go(func() {
			taken, _ := queue.Get()
			time.Sleep(each)
			queue.Forget(taken)
			queue.Done(taken)
		})
	}
	for index := range number {
		queue.Add(key("key", index))
	}
	workers.Wait()
	took := time.Since(started).Seconds()
	queue.ShutDown()
	return took
}

func key(prefix string, index int) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{
		Namespace: "default", Name: fmt.Sprintf("%s-%d", prefix, index),
	}}
}
