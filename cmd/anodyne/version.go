package main

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"anodyne.example/anodyne/internal/licenses"
	"anodyne.example/anodyne/internal/store"
)

func runVersion(_ context.Context, e env, args []string) error {
	fs := flags(e, "version", "version [flags]")
	all := fs.Bool("licenses", false, "also print the licences of Anodyne and everything linked into it")
	if _, err := parse(e, fs, args, 0); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "anodyne %s, schema %d, %s %s/%s\n", version, store.SchemaVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if *all {
		_, err := io.WriteString(e.stdout, "\n"+licenses.Text())
		return err
	}
	return nil
}
