// Package private creates files that only their owner can access: files with
// mode 0600, folders with mode 0700.
//
// The program first sets its umask accordingly, which covers the files that
// SQLite creates by itself. [Tighten] is for existing files with looser modes:
// from an earlier version, which left the modes of the log and the shared
// memory to the umask, or from a copy. See
// docs/decisions/0036-private-files.md.
package private

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// WriteBeside durably writes a file with a unique name next to path, to be
// renamed to path.
func WriteBeside(path string, content []byte) (temp string, err error) {
	temp = fmt.Sprintf("%s.%s", path, rand.Text()[:8])
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(temp))
	}
	return temp, nil
}

// LinkBeside creates a file atomically. An existing file stays as it is, even
// if another process creates it at the same time.
func LinkBeside(path string, content []byte) error {
	temp, err := WriteBeside(path, content)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	if err := os.Link(temp, path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return SyncDir(path)
}

// SyncDir makes the directory entry of a file durable.
func SyncDir(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Tighten removes the permissions of all others on files, and logs it. It
// ignores missing files, and folders, which may be shared for a reason.
func Tighten(log *slog.Logger, paths ...string) {
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
