package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"anodyne.example/anodyne/internal/store/private"
	"anodyne.example/anodyne/internal/store/reports"
)

// ManifestName is the file that lists the files of a directory.
const ManifestName = "manifest.json"

// Directory is a new directory of files. It gets its name in Finish, so that a
// directory with that name is complete. Only its owner may read it.
type Directory struct {
	path, temp string
	lock       *os.File // held while the directory is written

	// Abandoned is the number of incomplete directories of the same path that
	// were left by processes that no longer run, and were removed.
	Abandoned int
}

// NewDirectory returns a directory that will have a path. It must not exist, or
// be empty.
func NewDirectory(path string) (*Directory, error) {
	switch entries, err := os.ReadDir(path); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	case len(entries) > 0:
		return nil, fmt.Errorf("%s is not empty; name a new directory", path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	d := &Directory{path: path}
	prefix := "." + filepath.Base(path) + ".partial-"
	if d.Abandoned, err = removeAbandoned(filepath.Dir(path), prefix); err != nil {
		return nil, err
	}
	if d.temp, err = os.MkdirTemp(filepath.Dir(path), prefix+"*"); err != nil { // readable by the owner only
		return nil, err
	}
	if d.lock, err = lockDir(d.temp); err != nil {
		return nil, errors.Join(err, os.RemoveAll(d.temp))
	}
	return d, nil
}

// lockDir locks a directory, until it is closed or the process ends.
func lockDir(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// removeAbandoned removes incomplete directories that no process writes. It
// returns how many there were.
func removeAbandoned(parent, prefix string) (removed int, err error) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		path := filepath.Join(parent, e.Name())
		lock, err := lockDir(path)
		if err != nil {
			continue // being written, or removed by another process
		}
		if err := errors.Join(os.RemoveAll(path), lock.Close()); err != nil {
			return removed, fmt.Errorf("an earlier export was interrupted; remove %s: %w", path, err)
		}
		removed++
	}
	return removed, nil
}

// Create creates a file.
func (d *Directory) Create(name string) (io.WriteCloser, error) {
	f, err := os.OpenFile(filepath.Join(d.temp, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return synced{f}, nil
}

// Scratch implements Folder.
func (d *Directory) Scratch() (*os.File, error) { return Scratch(d.temp) }

// synced is a file that is on disk once it is closed.
type synced struct{ *os.File }

// Close writes the file to disk.
func (s synced) Close() error { return errors.Join(s.File.Sync(), s.File.Close()) }

// manifest describes an export in a directory, like the answer of the API.
type manifest struct {
	AsOf         time.Time            `json:"as_of"`
	Organization string               `json:"organization,omitempty"` // not if de-identified
	Format       reports.ExportFormat `json:"format"`
	Parameters   json.RawMessage      `json:"parameters"`
	Files        []reports.ExportFile `json:"files"`
}

// Finish writes the manifest and gives the directory its name.
func (d *Directory) Finish(organization string, o *Options, made Result) error {
	q, err := o.Request()
	if err != nil {
		return err
	}
	if o.Deidentify {
		organization = ""
	}
	text, err := json.MarshalIndent(manifest{made.AsOf, organization, o.Format, json.RawMessage(q.Parameters), made.Files}, "", "  ")
	if err != nil {
		return err
	}
	f, err := d.Create(ManifestName)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err := errors.Join(err, f.Close(), private.SyncDir(filepath.Join(d.temp, ManifestName))); err != nil {
		return err
	}
	if err := os.Remove(d.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s was filled meanwhile: %w", d.path, err)
	}
	if err := os.Rename(d.temp, d.path); err != nil {
		return err
	}
	return private.SyncDir(d.path)
}

// Discard deletes what was written, unless the directory is finished.
func (d *Directory) Discard() {
	_ = os.RemoveAll(d.temp)
	_ = d.lock.Close()
}
