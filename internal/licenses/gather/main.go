// Gather writes internal/licenses/licenses.txt: the licences of all modules
// linked into the program on any release target, read from the module cache.
// Run it with go generate after a dependency has changed.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gather:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := repository()
	if err != nil {
		return err
	}
	text, err := gather(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "internal", "licenses", "licenses.txt"), []byte(text), 0o644)
}
