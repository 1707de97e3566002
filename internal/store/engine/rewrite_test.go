package engine

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
)

// As long as somebody reads, the file is not rewritten; afterwards it is.
func TestRewriteWaitsForReaders(t *testing.T) {
	t.Parallel()
	opened, err := openSQLite(filepath.Join(t.TempDir(), "anodyne.db"), nil, slog.New(slog.DiscardHandler), newWriterMetrics(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	e := opened.(*sqliteEngine)
	defer e.close()
	run := func(sql string) {
		t.Helper()
		if err := e.write(t.Context(), func(tx Tx) error { _, err := tx.Exec(sql); return err }); err != nil {
			t.Fatal(err)
		}
	}
	free := func() (pages int64) {
		t.Helper()
		if err := e.write(t.Context(), func(tx Tx) error {
			return tx.Query(`PRAGMA freelist_count`, func(r Row) error { pages = r.Int(0); return nil })
		}); err != nil {
			t.Fatal(err)
		}
		return pages
	}
	run(`CREATE TABLE heap (id INTEGER PRIMARY KEY, part BLOB)`)
	run(`INSERT INTO heap (part) VALUES (zeroblob(1000000))`)
	if err := e.snapshot(t.Context(), func(tx Tx) error {
		if err := tx.Query(`SELECT count(*) FROM heap`, func(Row) error { return nil }); err != nil {
			return err
		}
		run(`DELETE FROM heap`)
		if err := e.rewriteTables(t.Context(), nil); !errors.Is(err, errReaders) {
			t.Errorf("with a reader: %v", err)
		}
		if free() == 0 {
			t.Error("the file was rewritten")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := e.rewriteTables(t.Context(), nil); err != nil || free() != 0 {
		t.Errorf("without a reader: %v, %d free pages", err, free())
	}
}
