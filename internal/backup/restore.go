package backup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
)

// Restore restores a backup into a new database of either engine. It verifies
// the whole file before it touches the database, compares the resulting content
// with the file's checksums, and calls finish, unless it is nil, for what must be
// done before the database is used. Until all that is done, the database is
// marked, and nobody else can open it.
func Restore(ctx context.Context, cfg store.Config, keys Keys, path string, progress Progress, finish func(store.System, Summary) error) (sum Summary, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	if sum, err = verify(ctx, f, keys, progress); err != nil {
		return sum, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return sum, err
	}
	r, err := newReader(f, keys)
	if err != nil {
		return sum, err
	}
	defer r.Close()
	if err := store.CheckKeyFiles(cfg.DataDir, r.Keys); err != nil {
		return sum, err
	}
	cfg.Restore = rand.Text()
	if err := load(ctx, cfg, r, progress); err != nil {
		return sum, err
	}
	if _, err := store.Migrate(ctx, cfg); err != nil {
		return sum, fmt.Errorf("the data was restored, but migrating it to this program's schema failed: %w", err)
	}
	s, err := store.Open(ctx, cfg)
	if err != nil {
		return sum, err
	}
	if finish != nil {
		err = finish(s.System(), sum)
	}
	if err == nil {
		err = s.System().EndRestore(ctx)
	}
	return sum, errors.Join(err, s.Close())
}

// load fills the database.
func load(ctx context.Context, cfg store.Config, r *reader, progress Progress) (err error) {
	l, err := engine.StartLoading(ctx, cfg.Engine(), r.Schema, r.Tables)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	// Before removing the mark: the database is incomplete without its keys.
	if err := store.WriteKeyFiles(cfg.DataDir, r.Keys); err != nil {
		return err
	}
	var done int64
	for _, t := range r.Tables {
		next := r.rows(t)
		err := l.Load(ctx, t, func() ([]any, int, error) {
			if done%256 == 0 {
				progress("restoring", done, r.total())
			}
			row, err := next()
			if err != nil {
				return nil, 0, err
			}
			done++
			return t.Row(row), len(row), nil
		})
		if err != nil {
			return err
		}
	}
	progress("restoring", done, r.total())
	if err := r.end(); err != nil {
		return err
	}
	done = 0
	return l.Finish(ctx, r.Tables, r.sums, func() {
		if done++; done%256 == 0 || done == r.total() {
			progress("comparing", done, r.total())
		}
	})
}
