package main

import (
	"context"
	"fmt"
	"runtime"

	"anodyne.example/anodyne/internal/store"
)

func runVersion(_ context.Context, e env, args []string) error {
	if _, err := parse(e, flags(e, "version", "version"), args, 0); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "anodyne %s, schema %d, %s %s/%s\n", version, store.SchemaVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
