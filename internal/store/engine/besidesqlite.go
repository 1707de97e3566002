package engine

import "path/filepath"

// besideSQLite returns the files that may belong to the database at path.
// SQLite places its own next to the target of a symbolic link, the others are
// next to the link.
func besideSQLite(path string) []string {
	itself := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		itself = real
	}
	return []string{path, itself + "-wal", itself + "-shm", itself + "-journal", path + ".lock", path + keyCheckSuffix}
}
