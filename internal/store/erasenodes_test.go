package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// twoNodes returns two nodes on one PostgreSQL database, and barriers for their
// statements.
func twoNodes(t *testing.T) (nodes [2]*store.Store, barriers [2]*storetest.Barrier) {
	t.Helper()
	cfg := storetest.Database(t, storetest.Postgres)
	cfg.Patience = testwait.Bound
	for i := range nodes {
		node := storetest.Node(t, cfg)
		barriers[i] = &storetest.Barrier{}
		barriers[i].Watch(&node)
		nodes[i] = storetest.Start(t, node)
	}
	return nodes, barriers
}

// rename gives a patient another name, and records the old one in the audit log.
func rename(t *testing.T, o store.Org, patientID id.Patient, name string) {
	t.Helper()
	storetest.Must[pain.Patient](t)(o.UpdatePatient(t.Context(), patientID, func(p pain.Patient) (pain.Patient, *journal.Change, error) {
		before := p.Name
		p.Name = name
		p.Version++
		change := storetest.Updated(p)
		change.Audit.Details = audit.Changes([]audit.Change{{Field: "name", Before: before, After: name}})
		return p, &change, nil
	}))
}

// seal seals all logs on a node.
func seal(t *testing.T, s *store.Store) {
	t.Helper()
	storetest.Settle(t, s)
	storetest.Must[[]journal.SealedHead](t)(s.System().Seal(t.Context()))
}

// intact fails the test if a log does not match its seal on one of the nodes.
func intact(t *testing.T, nodes ...*store.Store) {
	t.Helper()
	for i, node := range nodes {
		seal(t, node)
		watched, err := node.System().WatchSeals(t.Context())
		verified, verifyErr := node.System().VerifySeals(t.Context(), nil, nil)
		if len(watched)+len(verified) > 0 || err != nil || verifyErr != nil {
			t.Errorf("node %d: %q %q %v %v", i, watched, verified, err, verifyErr)
		}
	}
}

// Nodes learn of the erasures of all organisations, even if one has to wait
// before its COMMIT.
func TestErasuresOfTwoOrganisations(t *testing.T) {
	nodes, barriers := twoNodes(t)
	var orgs [2]store.Org
	var erased [2]id.Patient
	for i := range orgs {
		who := storetest.Client(t, nodes[i], fmt.Sprintf("Hospital %d", i))
		orgs[i] = nodes[i].For(&who)
		erased[i] = storetest.AddPatient(t, orgs[i], "A").ID
		rename(t, orgs[i], erased[i], "B")
	}
	intact(t, nodes[:]...)
	first, second := make(chan error, 1), make(chan error, 1)
	arrived, release := barriers[0].Hold("INSERT INTO setting", 1)
	defer release()
	go func() { first <- erase(t, orgs[0], erased[0]) }()
	<-arrived
	go func() { second <- erase(t, orgs[1], erased[1]) }()
	testwait.Until(t, "the second erasure waits or is done", func() bool {
		return len(second) > 0 || storetest.Number(t, nodes[1], `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`) > 0
	})
	if len(second) > 0 { // other nodes learn of it now
		storetest.Must[[]string](t)(nodes[1].System().WatchSeals(t.Context()))
	}
	release()
	if err := errors.Join(<-first, <-second); err != nil {
		t.Fatal(err)
	}
	intact(t, nodes[:]...)
}

// A node that has read lines before they are erased cannot seal them as they
// were.
func TestEraseWhileAnotherNodeSeals(t *testing.T) {
	for name, statement := range map[string]string{"first seal": "INTO journal_seal", "later seal": "UPDATE journal_seal"} {
		t.Run(name, func(t *testing.T) {
			nodes, barriers := twoNodes(t)
			who := storetest.Client(t, nodes[0], "General Hospital")
			o := nodes[1].For(&who)
			patientID := storetest.AddPatient(t, o, "A").ID
			if name == "later seal" {
				intact(t, nodes[:]...)
			}
			rename(t, o, patientID, "B")
			storetest.Settle(t, nodes[0])
			arrived, release := barriers[0].Hold(statement, 1)
			defer release()
			sealed := make(chan error, 1)
			go func() {
				_, err := nodes[0].System().Seal(context.Background())
				sealed <- err
			}()
			<-arrived
			if err := erase(t, o, patientID); err != nil {
				t.Fatal(err)
			}
			release()
			if err := <-sealed; err != nil {
				t.Fatal(err)
			}
			intact(t, nodes[:]...)
		})
	}
}

// An erasure is not refused because its own node seals the log meanwhile.
func TestEraseWhileItsNodeSeals(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s := storetest.Start(t, cfg)
		who := storetest.Client(t, s, "General Hospital")
		o := s.For(&who)
		stop, sealed := make(chan struct{}), make(chan error, 1)
		go func() {
			var errs error
			for {
				_, err := s.System().Seal(context.Background())
				errs = errors.Join(errs, err)
				select {
				case <-stop:
					sealed <- errs
					return
				default:
				}
			}
		}()
		for range 15 {
			patientID := storetest.AddPatient(t, o, "A").ID
			rename(t, o, patientID, "B")
			if err := erase(t, o, patientID); err != nil {
				t.Error(err)
			}
		}
		close(stop)
		if err := <-sealed; err != nil {
			t.Error(err)
		}
		intact(t, s)
	})
}

// The audit log can be read, with everything that was acknowledged, while an
// erasure is in progress.
func TestAuditDuringErasure(t *testing.T) {
	nodes, barriers := twoNodes(t)
	who := storetest.Client(t, nodes[0], "General Hospital")
	o, other := nodes[0].For(&who), nodes[1].For(&who)
	patientID := storetest.AddPatient(t, o, "A").ID
	rename(t, o, patientID, "B")
	intact(t, nodes[:]...)
	arrived, release := barriers[0].Hold("INSERT INTO setting", 1)
	defer release()
	erased := make(chan error, 1)
	go func() { erased <- erase(t, o, patientID) }()
	<-arrived
	added := storetest.AddPatient(t, other, "C").ID
	if err := other.FlushReads(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := storetest.AuditLines(t, other, journal.AuditFilter{})
	if newest := lines[len(lines)-1]; !bytes.Contains(newest, []byte(added.String())) {
		t.Errorf("the last line is %s", newest)
	}
	release()
	if err := <-erased; err != nil {
		t.Fatal(err)
	}
	intact(t, nodes[:]...)
}
