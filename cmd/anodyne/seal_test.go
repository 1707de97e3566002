package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
)

// commandLine runs a command line in this process.
func commandLine(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(context.Background(), args, cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Lookup: os.LookupEnv}); got != code {
		t.Errorf("%s: exit code %d\n%s%s", strings.Join(args, " "), got, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// sealMore adds patients to an organisation and has them sealed.
func sealMore(t *testing.T, cfg store.Config, patients int) access.Principal {
	t.Helper()
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	who := storetest.Client(t, s, "North")
	for range patients {
		storetest.AddPatient(t, s.For(&who), "Arlo Finch")
	}
	_, err = s.System().Seal(t.Context())
	if closeErr := s.Close(); err != nil || closeErr != nil {
		t.Fatal(err, closeErr)
	}
	return who
}

// linesOf are the lines of one action in a log.
func linesOf(t *testing.T, cfg store.Config, who access.Principal, action audit.Action) string {
	t.Helper()
	s := storetest.Start(t, cfg)
	lines, _, err := s.For(&who).Audit(t.Context(), journal.AuditCursor{}, 100, journal.AuditFilter{Action: action})
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.Join(lines, []byte("\n")))
}

// An older copy of the database is reported until somebody with the key says
// that it is right, which is in the log then.
func TestSealAccept(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	file := strings.TrimPrefix(cfg.Database, "sqlite:")
	where := []string{"--database", cfg.Database, "--data-dir", cfg.DataDir}
	check := append([]string{"check"}, where...)
	who := sealMore(t, cfg, 3)
	older, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sealMore(t, cfg, 3)
	commandLine(t, cli.ExitOK, check...)
	if err := os.WriteFile(file, older, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _ := commandLine(t, cli.ExitFailed, check...); !strings.Contains(out, "problem: organisation North: the journal ends at entry 5, but was sealed up to entry 9: its tail is cut off, or an older copy of the database was put back") {
		t.Errorf("check says %s", out)
	}
	if _, errs := commandLine(t, cli.ExitFailed, append([]string{"seal", "accept"}, where...)...); !strings.Contains(errs, "--reason") {
		t.Errorf("without a reason: %s", errs)
	}
	accept := append([]string{"seal", "accept", "--reason", "the disk of Monday"}, where...)
	commandLine(t, cli.ExitFailed, append(accept, "--organization", "South")...)
	if out, _ := commandLine(t, cli.ExitOK, accept...); out != "accepted the log of North up to entry 5\n" {
		t.Errorf("accept says %q", out)
	}
	commandLine(t, cli.ExitOK, check...)
	sealMore(t, cfg, 3)
	commandLine(t, cli.ExitOK, check...)
	if lines := linesOf(t, cfg, who, audit.SealAccept); strings.Count(lines, "the disk of Monday") != 1 {
		t.Errorf("the log says %s", lines)
	}
	elsewhere := storetest.Node(t, cfg)
	if _, errs := commandLine(t, cli.ExitOK, "check", "--database", cfg.Database, "--data-dir", elsewhere.DataDir); !strings.Contains(errs, "has no record of sealed heads") {
		t.Errorf("check elsewhere says %s", errs)
	}
}

// A restore with the data directory of a service is accepted by the service;
// one made elsewhere yields nothing that could make the service accept it.
func TestRestoreAccepts(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	who := sealMore(t, cfg, 3)
	backup := filepath.Join(t.TempDir(), "backup")
	commandLine(t, cli.ExitOK, "backup", backup, "--database", cfg.Database, "--data-dir", cfg.DataDir)
	sealMore(t, cfg, 3)
	for name, c := range map[string]struct {
		dir         string
		acceptances int64
	}{
		"the service's": {cfg.DataDir, 1},
		"a new one":     {storetest.Node(t, cfg).DataDir, 0},
	} {
		restored := cfg
		restored.Database, restored.DataDir = "sqlite:"+filepath.Join(t.TempDir(), "restored.db"), c.dir
		commandLine(t, cli.ExitOK, "restore", backup, "--database", restored.Database, "--data-dir", restored.DataDir)
		commandLine(t, cli.ExitOK, "check", "--database", restored.Database, "--data-dir", restored.DataDir)
		if lines := linesOf(t, restored, who, audit.DatabaseRestore); strings.Count(lines, "restored from a backup created at 20") != 1 {
			t.Errorf("%s: the log says %s", name, lines)
		}
		s := storetest.Start(t, restored)
		var accepted int64
		if err := s.System().Dump(t.Context(), func(d *engine.Dump) error {
			for _, table := range d.Tables {
				if table.Name == "seal_acceptance" {
					accepted = table.Rows
				}
			}
			return nil
		}); err != nil || accepted != c.acceptances {
			t.Errorf("%s: %d acceptances, %v", name, accepted, err)
		}
		if problems, err := s.System().WatchSeals(t.Context()); len(problems) > 0 || err != nil {
			t.Errorf("%s: %q, %v", name, problems, err)
		}
		if moved, err := s.System().Seal(t.Context()); len(moved) != 1 || err != nil {
			t.Errorf("%s: sealed %+v, %v", name, moved, err)
		}
	}
}
