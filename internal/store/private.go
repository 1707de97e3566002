package store

import (
	"log/slog"
	"os"
	"path/filepath"
)

// Patients' data and keys are for the owner's eyes only: files 0600, folders
// 0700. The program sets its umask to that before it does anything, which
// covers what SQLite creates by itself. What is here is for files that are there
// already, with looser modes: from an earlier version, which left the log and
// the shared memory to the umask, or from a copy. See
// docs/decisions/0036-private-files.md.

// tighten takes files away from everybody but their owner, and says so. Files
// that are not there are left out, and so are folders: they may be shared for a
// reason.
func tighten(log *slog.Logger, paths ...string) {
	var changed, open []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
			continue
		}
		if err := os.Chmod(path, info.Mode().Perm()&0o700); err != nil {
			open = append(open, path)
		} else {
			changed = append(changed, path)
		}
	}
	if changed != nil {
		log.Warn("files were accessible to other users of this machine; permissions corrected", "files", changed)
	}
	if open != nil {
		log.Warn("files are accessible to other users of this machine and belong to another user; set their mode to 0600", "files", open)
	}
}

// besideSQLite are the files that a database at path has or may have. SQLite
// puts its own beside the file itself, the others are beside the name.
func besideSQLite(path string) []string {
	itself := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		itself = real
	}
	return []string{path, itself + "-wal", itself + "-shm", itself + "-journal", path + ".lock", path + keyCheckSuffix}
}

// besideKeys are the files of a data directory.
func besideKeys(dir string) []string {
	segments, _ := filepath.Glob(filepath.Join(dir, spoolFolder, "*"+segmentSuffix+"*")) // the pattern is good
	for _, file := range keyFiles {
		segments = append(segments, filepath.Join(dir, file.name))
	}
	return segments
}
