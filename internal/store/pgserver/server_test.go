package pgserver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"anodyne.example/anodyne/internal/testneed"
)

func TestServerInAFolderOfTheCallersChoice(t *testing.T) {
	testneed.Long(t, "PostgreSQL")
	if err := Available(); err != nil {
		testneed.Skip(t, err.Error())
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // PostgreSQL does not run as root
		t.Fatal(err)
	}
	s, err := Launch(Volatile, dir)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.Dir(), dir+"/") || !s.Running() {
		t.Errorf("its files are in %s; running: %v", s.Dir(), s.Running())
	}
	analyzed(t, s.DSN())
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("files are left: %v", err)
	}
}

// analyzed asserts that the planner knows the number of rows of a table, which
// it would not know by itself so soon.
func analyzed(t *testing.T, dsn string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "CREATE TABLE notes AS SELECT generate_series(1, 1234) AS n"); err != nil {
		t.Fatal(err)
	}
	rows := func() (n float64) {
		if err := conn.QueryRow(ctx, "SELECT reltuples::float8 FROM pg_class WHERE relname = 'notes'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := rows()
	if err := Analyze(ctx, dsn); err != nil {
		t.Fatal(err)
	}
	if after := rows(); before == 1234 || after != 1234 {
		t.Errorf("the planner reckons with %v rows, and before with %v", after, before)
	}
}
