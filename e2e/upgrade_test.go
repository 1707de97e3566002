package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
)

// TestFaultRollingUpgrade brings the next release to three nodes under load:
// old nodes go on while a new one migrates, also when the migration has to
// wait for somebody's long transaction; of new nodes that start at once one
// migrates; an old program does not start any more, and says why.
func TestFaultRollingUpgrade(t *testing.T) {
	t.Parallel()
	needsLoad(t)
	next, version := nextRelease(t)
	s := newService(t, storetest.Postgres)
	old := s.nodes(3)
	b := newBalancer(old...).paced(8 * time.Millisecond)
	clients := b.dial(s, []application{s.register("enterprise"), s.register("enterprise"), s.register("enterprise")})
	all := newLoad(newLedger(t), faulttest.Seed(t)) // which takes no 503 and no lost answer for good

	end := all.background(clients)
	all.answered(t, takeover, 200)

	var fresh []*node
	s.postgres(func(reading *pgx.Conn) error { // for as long as a backup does
		if _, err := reading.Exec(t.Context(), `BEGIN; LOCK TABLE patient IN ACCESS SHARE MODE`); err != nil {
			return err
		}
		fresh = []*node{s.launchAs(next, 3), s.launchAs(next, 4)}
		eventually(t, takeover, "the migration gives way, twice", func() bool {
			return len(fresh[0].stderr.lines("the migration yields"))+len(fresh[1].stderr.lines("the migration yields")) >= 2
		})
		all.answered(t, takeover, 200)
		return nil
	})

	step := fmt.Sprintf("msg=migrated version=%d ", version)
	taken := 0
	for _, n := range fresh {
		n.ready()
		taken += len(n.stderr.lines(step))
		b.add(n)
	}
	if taken != 1 {
		t.Errorf("%d of two new nodes migrated", taken)
	}
	all.answered(t, takeover, 200)

	const refusal = "but this program supports only up to"
	refusedStart(t, nil, refusal, s.flags("node5")...)
	if p := s.anodyne("client", "list"); p.code != 1 || !strings.Contains(p.stderr.String(), refusal) {
		t.Errorf("an old command on the new schema: code %d, %s", p.code, p.stderr)
	}

	for i, n := range old {
		b.remove(n)
		if i == 0 {
			fresh = append(fresh, s.launchAs(next, 0))
		}
		n.transport.CloseIdleConnections()
		if code := n.terminate(); code != 0 {
			t.Errorf("exit code %d after SIGTERM", code)
		}
	}
	fresh[2].ready()
	b.add(fresh[2])
	all.answered(t, takeover, 200)
	end()
	for i := 1; i < len(old); i++ { // their folders have lines of reads that are not in the journal yet
		s.launchAs(next, i).ready()
	}
	all.verifyAll(clients)
	if p := run(t, next, append([]string{"check"}, s.flags("operator")...)...); p.code != 0 || p.stdout.String() != "ok\n" {
		t.Errorf("check: code %d, %s%s", p.code, p.stdout, p.stderr)
	}
	t.Logf("%d answers, %d patients", all.answers.Load(), len(all.records))
}

// nextRelease builds a program with one more migration, and returns how to
// start it and its schema version. The migration locks a table that everything
// uses.
func nextRelease(t *testing.T) (prepare func(*exec.Cmd), version int) {
	t.Helper()
	replace := map[string]string{}
	step := filepath.Join(t.TempDir(), "next.sql")
	write(t, step, []byte("ALTER TABLE patient ADD COLUMN ward TEXT NOT NULL DEFAULT '';\n"))
	for _, engine := range []string{storetest.SQLite, storetest.Postgres} { // also in a run on Citus
		dir, err := filepath.Abs("../internal/store/engine/migrations/" + engine)
		if err != nil {
			t.Fatal(err)
		}
		steps, err := filepath.Glob(filepath.Join(dir, "*.sql"))
		if err != nil {
			t.Fatal(err)
		}
		version = len(steps) + 1
		replace[filepath.Join(dir, fmt.Sprintf("%04d_next.sql", version))] = step
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	write(t, overlay, text)
	path := filepath.Join(t.TempDir(), "anodyne-next")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-overlay", overlay, "-o", path, "anodyne.example/anodyne/cmd/anodyne")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the next release: %v\n%s", err, out)
	}
	return func(cmd *exec.Cmd) { cmd.Path = path }, version
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
