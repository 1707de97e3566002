package e2e

import (
	"fmt"
	"strings"
	"testing"

	"anodyne/client"
	"anodyne/internal/store/storetest"
)

// TestStopSeals: a graceful stop seals the audit log, reads included, and logs
// the head; check finds a changed line and a cut tail by it.
func TestStopSeals(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			s := newService(t, engine)
			n := s.node(0)
			c := n.as(s.register("standard"))
			patient := add(t, c, "Sealed")
			const reads = 3
			for range reads {
				if _, err := c.Patient(t.Context(), patient); err != nil {
					t.Fatal(err)
				}
			}
			c.CloseIdleConnections()
			if code := n.terminate(); code != 0 {
				t.Fatalf("exit code %d", code)
			}
			head := n.lastHead()
			if head == "" {
				t.Fatal("no head was logged at the stop")
			}
			s.check("--expect-head", head)

			end := s.number(`SELECT pos FROM journal_head`)
			if sealed := strings.Split(head, ":")[1]; sealed != fmt.Sprint(end) {
				t.Errorf("sealed up to %s of %d", sealed, end)
			}
			if engine == storetest.Postgres {
				if n := s.number(`SELECT count(*) FROM journal_pending`); n != 0 {
					t.Errorf("%d entries have no position", n)
				}
			}
			s.found("the cut tail", []string{"--expect-head", head}, fmt.Sprintf(`DELETE FROM journal WHERE pos = %d`, end),
				`UPDATE journal_head SET pos = pos - 1`, `UPDATE journal_seal SET pos = pos - 1`)
			s.found("the changed line", nil, `UPDATE journal SET at = at + 1 WHERE pos = 2`)
		})
	}
}

// lastHead is the head of the audit log that the process logged last, as check
// expects it; empty when it logged none.
func (p *process) lastHead() string {
	seals := p.stderr.lines(`msg="audit seal"`)
	if len(seals) == 0 {
		return ""
	}
	last := seals[len(seals)-1]
	return fmt.Sprintf("%s:%s:%s", word(last, "organization"), word(last, "pos"), word(last, "head"))
}

// found tampers with the database and expects check to notice.
func (s *service) found(what string, flags []string, tamper ...string) {
	s.tb.Helper()
	for _, sql := range tamper {
		s.exec(sql)
	}
	p := s.anodyne(append([]string{"check"}, flags...)...)
	if p.code != 1 || !strings.Contains(p.stdout.String(), "problem: ") {
		s.tb.Errorf("check does not find %s: exit code %d\n%s%s", what, p.code, p.stdout, p.stderr)
	}
}

// TestAuditKeyIsNeeded: with another key the server does not go on sealing.
func TestAuditKeyIsNeeded(t *testing.T) {
	s := newService(t, storetest.SQLite)
	n := s.node(0)
	if _, err := n.as(s.register("standard")).Patients(t.Context(), client.PatientQuery{}); err != nil {
		t.Fatal(err)
	}
	n.kill()
	refusedStart(t, nil, "copy audit.key from the node that made it", "--database", s.database, "--data-dir", t.TempDir())
}
