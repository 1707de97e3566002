// Gather writes internal/licenses/licenses.txt: the licences of all modules that
// are linked into the program on any of the systems a release is built for, read
// from the module cache. go generate runs it after a dependency has changed.
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
