package probe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FillCache fills a cache of all ConfigMaps, prints that it did, and goes on watching. With strip, managed fields are
// dropped before they are stored.
func FillCache(ctx context.Context, config *rest.Config, strip bool) error {
	options := cache.Options{}
	if strip {
		options.DefaultTransform = cache.TransformStripManagedFields()
	}
	objects, err := cache.New(config, options)
	if err != nil {
		return err
	}
	if _, err := objects.GetInformer(ctx, &corev1.ConfigMap{}, cache.BlockUntilSynced(false)); err != nil {
		return err
	}
	go func() {
		if objects.WaitForCacheSync(ctx) {
			list := &corev1.ConfigMapList{}
			if err := objects.List(ctx, list, client.UnsafeDisableDeepCopy); err == nil {
				fmt.Println("synced", len(list.Items))
			}
		}
	}()
	return objects.Start(ctx)
}
