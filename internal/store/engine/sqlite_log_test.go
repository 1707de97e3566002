package engine

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/testneed"
)

// grow writes the given number of megabytes during a read, so that the log has
// to keep them.
func grow(t *testing.T, e *sqliteEngine, megabytes int) {
	t.Helper()
	err := e.snapshot(t.Context(), func(tx Tx) error {
		if err := tx.Query(`SELECT count(*) FROM heap`, func(Row) error { return nil }); err != nil {
			return err
		}
		part := make([]byte, 64<<10)
		return e.write(t.Context(), func(tx Tx) error {
			for range megabytes << 20 / len(part) {
				if _, err := tx.Exec(`INSERT INTO heap (part) VALUES ($1)`, part); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func logSize(t *testing.T, e *sqliteEngine) int64 {
	t.Helper()
	info, err := os.Stat(e.keeper.path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// A log that had to grow shrinks again, both when writes continue and when
// there is no more activity. A concurrent reader can still use it.
func TestLogShrinksAfterAPeak(t *testing.T) {
	t.Parallel()
	testneed.Long(t, "writing a large log")
	key, err := seal.ParseKey([]byte(strings.Repeat("0123456789abcdef", 4)))
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]*seal.Key{"clear": nil, "encrypted": key} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opened, err := openSQLite(filepath.Join(t.TempDir(), "anodyne.db"), key, slog.New(slog.DiscardHandler), newWriterMetrics(nil), nil)
			if err != nil {
				t.Fatal(err)
			}
			e := opened.(*sqliteEngine)
			defer e.close()
			e.keeper.close() // here, the log shrinks only when the test says so
			run := func(sql string) {
				t.Helper()
				if err := e.write(t.Context(), func(tx Tx) error { _, err := tx.Exec(sql); return err }); err != nil {
					t.Fatal(err)
				}
			}
			run(`CREATE TABLE heap (id INTEGER PRIMARY KEY, part BLOB)`)

			grow(t, e, 80)
			if size := logSize(t, e); size < 80<<20 {
				t.Fatalf("the log has only %d bytes", size)
			}
			run(`INSERT INTO heap (part) VALUES ('copies the log into the file')`)
			run(`INSERT INTO heap (part) VALUES ('begins it anew')`)
			if size := logSize(t, e); size != logKeep {
				t.Errorf("writes went on, and the log has %d bytes", size)
			}

			grow(t, e, 80)
			err = e.snapshot(t.Context(), func(tx Tx) error {
				before := int64(0)
				count := func(r Row) error { before = r.Int(0); return nil }
				if err := tx.Query(`SELECT count(*) FROM heap`, count); err != nil {
					return err
				}
				run(`INSERT INTO heap (part) VALUES ('nobody else sees this')`)
				seen := before
				if err := e.shrinkLog(t.Context()); err != nil {
					return err
				}
				if size := logSize(t, e); size < 80<<20 {
					t.Errorf("somebody reads the log, and it has %d bytes", size)
				}
				if err := tx.Query(`SELECT count(*) FROM heap`, count); err != nil || before != seen {
					t.Errorf("a reader saw %d rows, then %d: %v", seen, before, err)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.shrinkLog(t.Context()); err != nil {
				t.Error(err)
			}
			if size := logSize(t, e); size != 0 {
				t.Errorf("nobody comes any more, and the log has %d bytes", size)
			}
			run(`INSERT INTO heap (part) VALUES ('and it goes on')`)
			err = e.read(t.Context(), func(tx Tx) error {
				return tx.Query(`PRAGMA integrity_check`, func(r Row) error {
					if verdict := r.Text(0); verdict != "ok" {
						t.Error(verdict)
					}
					return nil
				})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
