package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// findServer returns the path and version of the anodyne binary to measure:
// named, or else the one beside this program.
func findServer(ctx context.Context, named string) (path, version string, err error) {
	wanted := named
	if wanted == "" {
		self, err := os.Executable()
		if err != nil {
			return "", "", err
		}
		wanted = filepath.Join(filepath.Dir(self), "anodyne")
	}
	path, err = exec.LookPath(wanted)
	if err != nil {
		return "", "", fmt.Errorf("no server to measure: %w; build both programs with \"make build\", or name an anodyne with --server", err)
	}
	out, err := exec.CommandContext(ctx, path, "version").Output()
	if err != nil {
		return "", "", fmt.Errorf("%s version: %w", path, err)
	}
	version, ok := strings.CutPrefix(string(out), "anodyne ")
	version, _, whole := strings.Cut(version, ",")
	if !ok || !whole {
		return "", "", fmt.Errorf("%s is no anodyne server: asked for its version it prints %.80q", path, out)
	}
	return path, version, nil
}
