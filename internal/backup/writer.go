package backup

import (
	"bufio"
	"cmp"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
)

// Progress is called with the number of rows processed and the total.
type Progress func(step string, done, total int64)

// Summary describes the content of a backup.
type Summary struct {
	Rows      int64
	Tables    int
	Bytes     int64
	MadeAt    time.Time
	Schema    int64
	Encrypted bool
}

// Write backs up a database to a new file while it is in use. The file only
// gets its name once it is complete, on disk and verified; an existing file is
// never overwritten.
func Write(ctx context.Context, s store.System, keys Keys, path, program string, now time.Time, progress Progress) (sum Summary, err error) {
	if err := notThere(path); err != nil {
		return sum, err
	}
	f, err := createPartial(path + ".partial")
	if err != nil {
		return sum, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
		err = errors.Join(err, f.Close()) // last, because it releases the lock
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			err = fmt.Errorf("the disk is full; the incomplete backup was removed: %w", err)
		}
	}()
	h := head{MadeAt: now.UTC().Truncate(time.Second), Program: program, Engine: s.Engine()}
	if keys.Database != nil {
		h.Keys = s.KeyFiles()
	}
	if err := s.Dump(ctx, func(d *engine.Dump) error { return write(ctx, f, keys, h, d, progress) }); err != nil {
		return sum, err
	}
	if err := f.Sync(); err != nil {
		return sum, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return sum, err
	}
	if sum, err = verify(ctx, f, keys, progress); err != nil {
		return sum, fmt.Errorf("verifying the backup: %w", err)
	}
	if err := notThere(path); err != nil {
		return sum, err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return sum, err
	}
	return sum, syncDir(path)
}

// notThere returns an error if a file exists. Concurrent backups to the same
// name are excluded by the lock on the partial file.
func notThere(path string) error {
	switch _, err := os.Lstat(path); {
	case err == nil:
		return fmt.Errorf("%s already exists; name a new file", path)
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	return nil
}

// syncDir syncs the directory of a file.
func syncDir(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// createPartial creates the file under its temporary name. It takes over one
// left by a killed backup, but not one that is being written.
func createPartial(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another backup is writing %s", name), f.Close())
	}
	// The previous holder of the lock may have finished and renamed the file.
	mine, err := f.Stat()
	if named, statErr := os.Stat(name); err != nil || statErr != nil || !os.SameFile(mine, named) {
		return nil, errors.Join(fmt.Errorf("another backup was writing %s", name), err, statErr, f.Close())
	}
	// An existing file keeps its mode, but the content is patient data.
	if err := errors.Join(f.Chmod(0o600), f.Truncate(0)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// write writes header, head, rows and trailer.
func write(ctx context.Context, f io.Writer, keys Keys, h head, d *engine.Dump, progress Progress) error {
	header, err := newHeader(keys)
	if err != nil {
		return err
	}
	file := bufio.NewWriterSize(f, 1<<20)
	if _, err := file.Write(header); err != nil {
		return err
	}
	_, aead, err := derive(header, keys)
	if err != nil {
		return err
	}
	sealed := newSealWriter(file, aead)
	packed, err := flate.NewWriter(sealed, flate.BestSpeed)
	if err != nil {
		return err
	}
	h.Schema, h.Tables = d.Schema, d.Tables
	rows := writeBehind(packed)
	err = writeRows(rows, h, d, progress)
	if err = cmp.Or(err, rows.Close()); err != nil {
		return err
	}
	return errors.Join(packed.Close(), sealed.Close(), file.Flush(), ctx.Err())
}

// writeRows writes head, rows and trailer.
func writeRows(to io.Writer, h head, d *engine.Dump, progress Progress) error {
	if err := writeJSON(to, h); err != nil {
		return err
	}
	var end trailer
	var done int64
	for _, t := range d.Tables {
		hash, rows, buf := sha256.New(), int64(0), []byte(nil)
		err := d.Rows(t, func(r engine.Row) error {
			if done%256 == 0 {
				progress("writing", done, h.total())
			}
			buf = t.AppendRow(buf[:0], r)
			hash.Write(buf)
			rows, done = rows+1, done+1
			_, err := to.Write(buf)
			return err
		})
		if err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
		if rows != t.Rows {
			return fmt.Errorf("table %s: expected %d rows, found %d", t.Name, t.Rows, rows)
		}
		end.Sums = append(end.Sums, engine.Sum{Rows: rows, SHA256: hash.Sum(nil)})
	}
	progress("writing", done, h.total())
	return writeJSON(to, end)
}

// writeJSON writes a document preceded by its length.
func writeJSON(w io.Writer, document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	_, err = w.Write(append(binary.AppendUvarint(nil, uint64(len(text))), text...))
	return err
}
