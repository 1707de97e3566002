package store

import (
	"path/filepath"

	"anodyne.example/anodyne/internal/store/journal"
)

// besideKeys returns the private files of a data directory.
func besideKeys(dir string) []string {
	paths := journal.SpoolFiles(dir)
	for _, file := range keyFiles {
		paths = append(paths, filepath.Join(dir, file.name))
	}
	return paths
}
