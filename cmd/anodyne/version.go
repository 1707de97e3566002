package main

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/licenses"
	"anodyne.example/anodyne/internal/store/engine"
)

func runVersion(_ context.Context, e cli.Env, args []string) error {
	fs := cli.Flags(e, "version", "version [flags]\n\nPrints the version of this program.")
	all := fs.Bool("licenses", false, "also print the licences of Anodyne and everything linked into it")
	if _, err := cli.Parse(e, fs, args, 0); err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "anodyne %s, schema %d, %s %s/%s\n", version, engine.SchemaVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if *all {
		_, err := io.WriteString(e.Stdout, "\n"+licenses.Text())
		return err
	}
	return nil
}
