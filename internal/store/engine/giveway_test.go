package engine

import (
	"log/slog"
	"path/filepath"
	"testing"
)

// Only a process that writes much data gives way to others: a server would hold
// the write lock for longer.
func TestBulkWritesGiveWay(t *testing.T) {
	opened, err := openSQLite(filepath.Join(t.TempDir(), "anodyne.db"), nil, slog.New(slog.DiscardHandler), newWriterMetrics(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	e := opened.(*sqliteEngine)
	defer func() {
		if err := e.close(); err != nil {
			t.Error(err)
		}
	}()
	for _, bulk := range []bool{false, true} {
		if bulk {
			if err := e.expectBulk(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.write(t.Context(), func(tx Tx) error { return tx.Query(`SELECT 1`, nil) }); err != nil {
			t.Fatal(err)
		}
		if got := e.writer.conn.points.Any(); got != bulk {
			t.Errorf("in bulk: %v, gave way: %v", bulk, got)
		}
	}
}
