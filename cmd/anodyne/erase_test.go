package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
)

// A backup from before an erasure is restored without the patient: by the list
// in the data directory of the service, or by a copy of it. A restore elsewhere
// leaves nothing that the service would accept.
func TestRestoreErases(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s := storetest.Start(t, cfg)
		who := storetest.Client(t, s, "North")
		gone, stays := storetest.AddPatient(t, s.For(&who), "Arlo Finch"), storetest.AddPatient(t, s.For(&who), "Berta Wren")
		storetest.Settle(t, s)
		_, sealErr := s.System().Seal(t.Context())
		backup := filepath.Join(t.TempDir(), "backup")
		commandLine(t, cli.ExitOK, "backup", backup, "--database", cfg.Database, "--data-dir", cfg.DataDir)
		err := s.For(&who).ErasePatient(t.Context(), gone.ID, "asked for it", audit.Entry{At: time.Now(), Actor: "test"})
		if finished := s.System().FinishErasures(t.Context()); err != nil || finished != nil || sealErr != nil {
			t.Fatal(err, finished, sealErr)
		}
		list, err := os.ReadFile(store.ErasuresPath(cfg.DataDir))
		if err != nil {
			t.Fatal(err)
		}
		elsewhere := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(elsewhere, list, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		killed := storetest.Node(t, cfg).DataDir
		commandLine(t, cli.ExitFailed, "restore", elsewhere, "--database", "sqlite:"+filepath.Join(t.TempDir(), "none.db"), "--data-dir", killed, "--erasures", elsewhere)
		for name, c := range map[string]struct {
			dir         string
			more        []string
			want        fault.Code
			acceptances int64
		}{
			"the service's directory":         {cfg.DataDir, nil, fault.NotFound, 2},
			"a list":                          {storetest.Node(t, cfg).DataDir, []string{"--erasures", elsewhere}, fault.NotFound, 0},
			"a list of a restore that failed": {killed, nil, fault.NotFound, 0},
			"no list":                         {storetest.Node(t, cfg).DataDir, nil, "", 0},
		} {
			restored := store.Config{Database: "sqlite:" + filepath.Join(t.TempDir(), "restored.db"), DataDir: c.dir}
			out, _ := commandLine(t, cli.ExitOK, append([]string{"restore", backup, "--database", restored.Database, "--data-dir", c.dir}, c.more...)...)
			if said := strings.Contains(out, "erased again: 1 of 1 patients"); said != (c.want != "") {
				t.Errorf("%s: restore says %s", name, out)
			}
			commandLine(t, cli.ExitOK, "check", "--database", restored.Database, "--data-dir", c.dir)
			r := storetest.Start(t, restored)
			if _, err := r.For(&who).Patient(t.Context(), gone.ID); fault.CodeOf(err) != c.want {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := r.For(&who).Patient(t.Context(), stays.ID); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if n := storetest.Number(t, r, `SELECT count(*) FROM seal_acceptance`); n > c.acceptances {
				t.Errorf("%s: %d acceptances", name, n)
			}
			if problems, err := r.System().WatchSeals(t.Context()); len(problems) > 0 || err != nil {
				t.Errorf("%s: %q, %v", name, problems, err)
			}
		}
	})
}
