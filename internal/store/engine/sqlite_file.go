package engine

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"anodyne.example/anodyne/internal/seal"
)

// sqliteFile is a database file and how to open it. The key of its pages is
// derived once and passed to each connection.
type sqliteFile struct {
	path string
	key  []byte // nil if unencrypted
}

// makeFile creates the file if it is missing. Only the owner may have access to
// it before it has any content.
func makeFile(path string) error {
	if path == "" {
		return errors.New(`database "sqlite:" names no file`)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("database directory: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return fmt.Errorf("database file: %w", err)
	}
	return nil
}

// findFile determines how to open a file with a key, or without one.
func findFile(path string, key *seal.Key) (sqliteFile, error) {
	pages, err := pageKey(path, key)
	return sqliteFile{path, pages}, err
}

// open opens a connection. The key is set by a pragma, because a URI that
// contains the key could be logged.
func (f sqliteFile) open(flags sqlite3.OpenFlag, pragmas ...string) (*sqliteConn, error) {
	name := f.path
	if f.key != nil {
		name, flags = f.uri(encryptedVFS), flags|sqlite3.OPEN_URI
		pragmas = append([]string{"hexkey = '" + hex.EncodeToString(f.key) + "'"}, pragmas...)
	}
	c, err := openConn(name, flags, pragmas...)
	if err == nil {
		return c, nil
	}
	if f.key != nil && errors.Is(err, sqlite3.NOTADB) {
		return nil, fmt.Errorf("%s does not open with this key: it is the wrong key, or the file is damaged: %w", f.path, err)
	}
	return nil, sqliteOpenError(f.path, err)
}

// uri returns the URI of the file in a VFS.
func (f sqliteFile) uri(vfs string) string {
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.Clean(f.path))
	return "file:" + escaped + "?vfs=" + vfs
}

// keepCheck recreates the key check if it was lost. That is possible only for a
// key that needs no salt.
func (f sqliteFile) keepCheck(key *seal.Key) error {
	if f.key == nil {
		return nil
	}
	if checks, err := readKeyChecks(f.path); err != nil || checks != nil {
		return err
	}
	return makeKeyCheck(f.path, key)
}
