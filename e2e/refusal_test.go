package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"anodyne.example/anodyne/internal/store/storetest"
)

// refusedStart starts a server that must say why it does not start. Nobody
// gets to read a stack, or a password.
func refusedStart(t *testing.T, prepare func(*exec.Cmd), sentence string, args ...string) {
	t.Helper()
	all := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", ""}, args...)
	p := run(t, prepare, all...)
	said := p.stderr.String()
	if p.code != 1 || !strings.Contains(said, sentence) || strings.Contains(said, "goroutine ") || strings.Contains(said, "hunter2") {
		t.Errorf("exit code %d, want 1 and %q:\n%s", p.code, sentence, said)
	}
	if lines := strings.Count(said, "\n") - strings.Count(said, "level=INFO"); lines > 2 {
		t.Errorf("%d lines for one fault:\n%s", lines, said)
	}
}

// TestRefusedPlaces starts on what is no database.
func TestRefusedPlaces(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("text file", func(t *testing.T) {
		refusedStart(t, nil, "is not a SQLite database", "--database", "sqlite:"+text)
	})
	t.Run("directory", func(t *testing.T) {
		refusedStart(t, nil, dir, "--database", "sqlite:"+dir)
	})
	t.Run("no PostgreSQL", func(t *testing.T) {
		refusedStart(t, nil, "not available", "--database-wait", "0", "--data-dir", t.TempDir(), "--database", "postgres://somebody:hunter2@127.0.0.1:1/anodyne?sslmode=disable")
	})
	t.Run("several faults", func(t *testing.T) {
		p := run(t, nil, "serve", "--database", "mysql://u:hunter2@host/x", "--listen", "8080", "--log-level", "loud", "--admin-listen", "0.0.0.0:9464", "--tls-key", "k")
		said := p.stderr.String()
		for _, flag := range []string{"--database", "--listen", "--log-level", "--admin-listen", "--tls-cert"} {
			if !strings.Contains(said, flag) {
				t.Errorf("%s is not named", flag)
			}
		}
		if p.code != 1 || strings.Contains(said, "hunter2") {
			t.Errorf("exit code %d:\n%s", p.code, said)
		}
	})
}

// TestDamagedFile cuts a database short.
func TestDamagedFile(t *testing.T) {
	s := newService(t, storetest.SQLite)
	s.must("migrate")
	path := strings.TrimPrefix(s.database, "sqlite:")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096 + 100; i < len(content); i++ {
		content[i] = 0xff
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	refusedStart(t, nil, "damaged", "--database", s.database)
}

// TestReadOnlyPlace starts in a folder, and on a file, that the server must not
// write to. Root may write everywhere, so root becomes somebody else.
func TestReadOnlyPlace(t *testing.T) {
	as := func(cmd *exec.Cmd) {
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
	}
	s := newService(t, storetest.SQLite)
	if err := os.Chmod(filepath.Dir(s.dir), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(s.dir, 0o755) })
	if err := os.Chmod(s.dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Run("folder", func(t *testing.T) { refusedStart(t, as, "permission denied", "--database", s.database) })

	if err := os.Chmod(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.must("migrate")
	if err := os.Chmod(strings.TrimPrefix(s.database, "sqlite:"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Run("file", func(t *testing.T) { refusedStart(t, as, "cannot be written", "--database", s.database) })
}

// TestTakenPort starts a second server on the port of a first.
func TestTakenPort(t *testing.T) {
	n := newService(t, storetest.SQLite).node(0)
	refusedStart(t, nil, "address already in use", "--database", newService(t, storetest.SQLite).database,
		"--listen", strings.TrimPrefix(n.url, "http://"))
}

// TestNewerDatabase: a program does not touch a database that a newer one has
// migrated.
func TestNewerDatabase(t *testing.T) {
	t.Parallel()
	const fromTheFuture = `INSERT INTO schema_version (version, name, applied_at) VALUES (9999, 'future', 0)`
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			s := newService(t, engine)
			s.must("migrate")
			s.exec(fromTheFuture)
			for _, command := range [][]string{{"migrate"}, {"check"}, {"client", "list"}, {"serve", "--listen", "127.0.0.1:0", "--admin-listen", ""}} {
				p := s.anodyne(command...)
				if said := p.stderr.String(); p.code != 1 || !strings.Contains(said, "the database has schema version 9999, but this program supports only up to") ||
					!strings.Contains(said, "run a newer anodyne, or restore a backup") {
					t.Errorf("%s: exit code %d\n%s", command[0], p.code, said)
				}
			}
		})
	}
}
