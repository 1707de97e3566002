package e2e

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store/storetest"
)

// A command that is killed leaves an incomplete directory. The next one removes
// it, but not that of a command that still runs.
func TestKilledExport(t *testing.T) {
	s := newService(t, storetest.SQLite)
	s.must("client", "create", "--organization", "north", "--name", "app")
	parent := t.TempDir()
	target := filepath.Join(parent, "out")
	partial := func() (names []string) {
		entries, err := os.ReadDir(parent)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.Contains(e.Name(), ".partial-") {
				names = append(names, e.Name())
			}
		}
		return names
	}
	// A database that accepts connections and does not answer keeps a command
	// running for as long as the test needs.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	waiting := func() *process {
		before := len(partial())
		p := start(t, nil, "export", target, "--organization", "north", "--database", "postgres://x:x@"+silent.Addr().String()+"/x", "--data-dir", t.TempDir())
		eventually(t, 30*time.Second, "the directory is begun", func() bool { return len(partial()) > before })
		return p
	}
	killed, running := waiting(), waiting()
	killed.kill()
	p := s.anodyne("export", target, "--organization", "north")
	if p.code != 0 || !strings.Contains(p.stderr.String(), "removed files that 1 interrupted exports") {
		t.Fatalf("exit code %d: %s", p.code, p.stderr)
	}
	if names := partial(); len(names) != 1 {
		t.Errorf("incomplete directories: %v, want that of the running command", names)
	}
	running.kill()
	p = s.anodyne("export", filepath.Join(parent, "other"), "--organization", "north")
	if names := partial(); p.code != 0 || len(names) != 1 {
		t.Errorf("another directory: exit code %d, %v", p.code, names)
	}
}
