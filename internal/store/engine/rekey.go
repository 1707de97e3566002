package engine

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store/private"
)

// Rekey changes the key of a SQLite file. Either key may be nil for an
// unencrypted file. No other process may have the file open. Rekey makes a copy
// next to the file, compares the two, and replaces the file. If the process
// dies halfway, either the old or the new file is in place, and it opens with
// its own key.
func Rekey(ctx context.Context, database string, old, fresh *seal.Key, seen func(step string, done, total int64)) error {
	path, ok := strings.CutPrefix(database, "sqlite:")
	if !ok {
		return errors.New("only a SQLite file has a key; encrypt PostgreSQL's disks, and its connections with sslmode=verify-full")
	}
	if info, err := os.Lstat(path); err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file; name the file itself, not a link", path)
	}
	lock, err := ownDatabase(path)
	if err != nil {
		return err
	}
	return errors.Join(rekey(ctx, path, old, fresh, seen), lock.Close())
}

const rekeySuffix = ".rekey"

func rekey(ctx context.Context, path string, old, fresh *seal.Key, seen func(string, int64, int64)) (err error) {
	from, err := findFile(path, old)
	if err != nil {
		return err
	}
	checks, err := readKeyChecks(path)
	if err != nil {
		return err
	}
	to := sqliteFile{path: path + rekeySuffix}
	var next []keyCheck
	if fresh != nil {
		for _, c := range checks {
			if from.key != nil && c.fits(fresh) && bytes.Equal(c.pageKey(fresh), from.key) {
				return errors.New("the new key is the same as the current one")
			}
		}
		made := newKeyCheck(fresh)
		next, to.key = []keyCheck{made}, made.pageKey(fresh)
	} else if from.key == nil {
		return errors.New("the file is not encrypted")
	}
	var keep []keyCheck // of the current file
	for _, c := range checks {
		if old != nil && c.fits(old) {
			keep = append(keep, c)
		}
	}
	if from.key != nil && keep == nil {
		keep = []keyCheck{newKeyCheck(old)} // it was lost, so old is not a passphrase
	}
	if err := removeCopy(to.path); err != nil { // left by a process that died
		return err
	}
	if err := copyFile(ctx, from, to, seen); err != nil {
		return errors.Join(err, removeCopy(to.path))
	}
	if err := writeKeyChecks(path, append(keep, next...)...); err != nil {
		return errors.Join(err, removeCopy(to.path))
	}
	if err := os.Rename(to.path, path); err != nil {
		return errors.Join(err, removeCopy(to.path))
	}
	if err := private.SyncDir(path); err != nil {
		return err
	}
	return writeKeyChecks(path, next...)
}

// copyFile makes the copy and compares it with the file.
func copyFile(ctx context.Context, from, to sqliteFile, seen func(string, int64, int64)) (err error) {
	// Leaving WAL mode moves everything into the file. It fails if a process
	// that does not use our lock has the file open.
	source, err := from.open(sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI, "journal_mode = delete")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	source.SetInterrupt(ctx)
	seen("copying", 0, 1)
	if err := makeFile(to.path); err != nil {
		return err
	}
	if err := to.vacuumInto(source); err != nil {
		if isFull(err) {
			err = fmt.Errorf("the disk is full; nothing was changed: %w", err)
		}
		return err
	}
	seen("copying", 1, 1)
	target, err := to.open(sqlite3.OPEN_READWRITE)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.close()) }()
	target.SetInterrupt(ctx)
	if err := compare(&sqliteTx{conn: source}, &sqliteTx{conn: target}, seen); err != nil {
		return err
	}
	return syncFile(to.path)
}

// vacuumInto writes the database of a connection to the file, using the file's
// own VFS and key.
func (f sqliteFile) vacuumInto(source *sqliteConn) error {
	name := f.uri("os")
	if f.key != nil {
		name = f.uri(encryptedVFS) + "&hexkey=" + hex.EncodeToString(f.key)
	}
	tx := &sqliteTx{conn: source}
	_, err := tx.Exec(`VACUUM INTO $1`, name)
	if err != nil && !isFull(err) && strings.Contains(err.Error(), f.path) {
		return fmt.Errorf("%s cannot be written", f.path) // the driver's message would contain the key
	}
	return err
}

// compare compares two databases table by table, and checks the integrity of
// the second.
func compare(source, target Tx, seen func(string, int64, int64)) error {
	d := &sqliteDialect
	list, err := tables(source, d)
	if err != nil {
		return err
	}
	for i, t := range list {
		seen("comparing", int64(i), int64(len(list)))
		want, err := (&contents{tx: source, d: d}).sum(t, func() {})
		if err != nil {
			return err
		}
		got, err := (&contents{tx: target, d: d}).sum(t, func() {})
		if err != nil {
			return err
		}
		if got.Rows != want.Rows || !bytes.Equal(got.SHA256, want.SHA256) {
			return fmt.Errorf("table %s: the copy (%d rows) is not the same as the original (%d rows)", t.Name, got.Rows, want.Rows)
		}
	}
	err = target.Query(`PRAGMA integrity_check`, func(r Row) error {
		if verdict := r.Text(0); verdict != "ok" {
			return fmt.Errorf("the integrity check of the copy failed: %s", verdict)
		}
		return nil
	})
	seen("comparing", int64(len(list)), int64(len(list)))
	return err
}

func removeCopy(path string) error {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
