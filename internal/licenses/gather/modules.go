package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// module is a module with packages in the program.
type module struct {
	path, version, dir string
	// packages are the directories of the linked packages.
	packages []string
}

// repository returns the root of this repository.
func repository() (string, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}")
	cmd.Env = append(os.Environ(), "GOWORK=off") // excludes the client module
	out, err := output(cmd)
	return strings.TrimSpace(out), err
}

// targets returns the release targets as GOOS/GOARCH.
func targets(root string) ([]string, error) {
	cmd := exec.Command(filepath.Join(root, "scripts", "release"), "--targets")
	out, err := output(cmd)
	return strings.Fields(out), err
}

// linked lists the modules with packages in the program on any of the targets,
// sorted by path. It excludes modules in this repository.
func linked(root string, targets []string) ([]*module, error) {
	found := map[string]*module{}
	for _, target := range targets {
		if err := linkedOn(root, target, found); err != nil {
			return nil, fmt.Errorf("%s: %w", target, err)
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *module) int { return cmp.Compare(a.path, b.path) }), nil
}

func linkedOn(root, target string, found map[string]*module) error {
	system, arch, ok := strings.Cut(target, "/")
	if !ok {
		return errors.New("a target is GOOS/GOARCH")
	}
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Module", "./cmd/anodyne")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	out, err := output(cmd)
	if err != nil {
		return err
	}
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		type listed struct {
			Path, Version, Dir string
			Replace            *struct{ Path, Version, Dir string }
		}
		var p struct {
			Dir    string
			Module *listed
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if p.Module == nil || isIn(root, p.Dir) { // standard library, or ours
			continue
		}
		m := *p.Module
		if m.Replace != nil {
			m.Path, m.Version, m.Dir = m.Replace.Path, m.Replace.Version, m.Replace.Dir
		}
		if found[m.Path] == nil {
			found[m.Path] = &module{path: m.Path, version: m.Version, dir: m.Dir}
		}
		if !slices.Contains(found[m.Path].packages, p.Dir) {
			found[m.Path].packages = append(found[m.Path].packages, p.Dir)
		}
	}
}

// isIn reports whether a path is the directory or below it.
func isIn(folder, path string) bool {
	return path == folder || strings.HasPrefix(path, folder+string(filepath.Separator))
}

// output runs a command. The error includes what the command wrote to stderr.
func output(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("%s: %w: %s", cmd, err, exit.Stderr)
	}
	return string(out), err
}
