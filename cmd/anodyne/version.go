package main

import (
	"context"
	"fmt"
	"runtime"

	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/store"
)

func runVersion(_ context.Context, e cli.Env, args []string) error {
	if _, err := cli.Parse(e, cli.Flags(e, "version", "version"), args, 0); err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "anodyne %s, schema %d, %s %s/%s\n", version, store.SchemaVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
