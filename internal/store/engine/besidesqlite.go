package engine

import "path/filepath"

// besideSQLite are the files that a database at path has or may have. SQLite
// puts its own beside the file itself, the others are beside the name.
func besideSQLite(path string) []string {
	itself := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		itself = real
	}
	return []string{path, itself + "-wal", itself + "-shm", itself + "-journal", path + ".lock", path + keyCheckSuffix}
}
