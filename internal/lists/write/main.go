// Write updates the generated parts of files. Go generate runs it in the
// directory of internal/lists.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"anodyne.example/anodyne/internal/lists"
)

func main() {
	const root = "../.."
	files, err := lists.Files(root)
	for path, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(root, path), text, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
