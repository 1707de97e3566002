package main

import (
	"bytes"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"anodyne.example/anodyne/internal/cli"
)

// A backup leaves in the database when it was made, which the metrics show.
func TestBackupIsRecorded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.db")
	call := func(args ...string) {
		t.Helper()
		var out bytes.Buffer
		e := cli.Env{Stdin: &bytes.Buffer{}, Stdout: &out, Stderr: &out, Lookup: func(string) (string, bool) { return "", false }}
		if code := run(t.Context(), append(args, "--database", "sqlite:"+path), e); code != cli.ExitOK {
			t.Fatalf("anodyne %v: exit %d\n%s", args, code, &out)
		}
	}
	recorded := func() int64 {
		t.Helper()
		conn, err := sqlite3.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		stmt, _, err := conn.Prepare(`SELECT value FROM setting WHERE name = 'backup_made_at'`)
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		if !stmt.Step() {
			return 0
		}
		at, err := strconv.ParseInt(stmt.ColumnText(0), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	call("migrate")
	if at := recorded(); at != 0 {
		t.Errorf("a backup of %d before the first", at)
	}
	before := time.Now().Truncate(time.Second).UnixMilli()
	call("backup", filepath.Join(dir, "one.backup"))
	first := recorded()
	if first < before || first > time.Now().UnixMilli() {
		t.Errorf("recorded %d, made after %d", first, before)
	}
	call("backup", filepath.Join(dir, "one.backup"), "--verify") // makes none
	if again := recorded(); again != first {
		t.Errorf("recorded %d, want %d", again, first)
	}
}
