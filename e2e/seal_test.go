package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

// TestStopSeals: a graceful stop seals the audit log, reads included, and logs
// the head; check finds a changed line and a cut tail by it.
func TestStopSeals(t *testing.T) {
	t.Parallel()
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

// TestServerSeesTampering: a log that was edited, with its seal deleted, is
// not sealed again. The server reports it and check fails until an operator
// accepts it; another organisation's log continues to be sealed.
func TestServerSeesTampering(t *testing.T) {
	testneed.Long(t, "waiting for the next check of the log")
	t.Parallel()
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel() // it waits for rounds of the sealer
			s := newService(t, engine)
			n := s.node(0, "--admin-listen", "127.0.0.1:0")
			add(t, n.as(s.register("standard", "--organization", "Forged")), "One")
			whole := s.register("standard", "--organization", "Whole")
			n.await(`msg="audit seal" organization=Forged`)
			n.await(`msg="audit seal" organization=Whole`)
			if _, metrics := fetch(t, n.admin+"/metrics"); !strings.Contains(metrics, "anodyne_audit_seal_broken 0\n") {
				t.Error("the metric does not start at zero")
			}
			s.exec(`UPDATE journal SET at = at + 1 WHERE org_no = (SELECT org_no FROM org WHERE name = 'Forged') AND pos = 1`)
			s.exec(`DELETE FROM journal_seal WHERE org_no = (SELECT org_no FROM org WHERE name = 'Forged')`)
			const broken = `level=ERROR msg="the audit log does not match its seal; sealing is stopped" organization=Forged`
			n.await(broken)
			if _, metrics := fetch(t, n.admin+"/metrics"); !strings.Contains(metrics, "anodyne_audit_seal_broken 1\n") {
				t.Errorf("the metric is not 1")
			}
			if p := s.anodyneAt("node0", "check"); p.code != 1 || !regexp.MustCompile(`problem: organisation Forged: its seal at entry \d+ is missing`).MatchString(p.stdout.String()) {
				t.Errorf("check: exit code %d\n%s%s", p.code, p.stdout, p.stderr)
			}
			before := s.number(`SELECT pos FROM journal_seal WHERE org_no = (SELECT org_no FROM org WHERE name = 'Whole')`)
			add(t, n.as(whole), "Two")
			n.kill()

			n = s.node(0)
			n.await(broken)
			n.await(`msg="audit seal" organization=Whole`)
			if sealed := s.number(`SELECT pos FROM journal_seal WHERE org_no = (SELECT org_no FROM org WHERE name = 'Whole')`); sealed <= before {
				t.Errorf("the other log is sealed up to %d, as before", sealed)
			}
			if seals := s.number(`SELECT count(*) FROM journal_seal WHERE org_no = (SELECT org_no FROM org WHERE name = 'Forged')`); seals != 0 {
				t.Error("the forged log was sealed again")
			}
			if p := s.anodyneAt("node0", "seal", "accept", "--organization", "Forged", "--reason", "a trial", "--reseal"); p.code != 0 {
				t.Errorf("seal accept: exit code %d\n%s", p.code, p.stderr)
			}
			n.await(`msg="audit logs were accepted as they are in the database" reason="a trial"`)
			if p := s.anodyneAt("node0", "check"); p.code != 0 {
				t.Errorf("check: exit code %d\n%s%s", p.code, p.stdout, p.stderr)
			}
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
	refusedStart(t, nil, "copy audit.key from the node that created it", "--database", s.database, "--data-dir", t.TempDir())
}
