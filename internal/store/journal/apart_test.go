package journal_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// While the rows of one organisation are unavailable, the audit lines of others
// are shipped. Nothing is lost, and nothing is shipped twice.
func TestSpoolOfOrganisationsApart(t *testing.T) {
	cfg := storetest.Database(t, storetest.Postgres)
	s := storetest.Start(t, cfg)
	lost, kept := storetest.Client(t, s, "Lost"), storetest.Client(t, s, "Kept")
	saw := func(resource string) {
		t.Helper()
		storetest.Saw(t, s.For(&lost), resource)
		storetest.Saw(t, s.For(&kept), resource)
	}
	saw("before")
	restore := storetest.Sever(t, s, lost.Org)
	flush := func(o store.Org) error { return o.FlushReads(t.Context()) }
	if err := flush(s.For(&kept)); err != nil {
		t.Errorf("flushing the lines of an organisation that is available: %v", err)
	}
	if err := flush(s.For(&lost)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("flushing the lines of one that is not: %v", err)
	}
	saw("meanwhile")
	if err := s.System().ShipReads(t.Context()); !errors.Is(err, engine.ErrPart) {
		t.Errorf("shipping all lines: %v", err)
	}
	if err := flush(s.For(&kept)); err != nil {
		t.Error(err)
	}
	want := []string{"before", "meanwhile"}
	if got := storetest.Reads(t, s.For(&kept)); !slices.Equal(got, want) {
		t.Errorf("meanwhile, the log has %q, want %q", got, want)
	}
	restore()
	for _, o := range []store.Org{s.For(&lost), s.For(&kept)} {
		if err := flush(o); err != nil {
			t.Error(err)
		}
		storetest.Settle(t, s)
		got := storetest.Reads(t, o)
		slices.Sort(got) // segments that wait may be shipped in any order
		if !slices.Equal(got, want) {
			t.Errorf("afterwards, the log has %q, want %q", got, want)
		}
	}
	testwait.Until(t, "everything to be shipped", func() bool { return s.System().ShipReads(t.Context()) == nil })
	if left := segments(t, cfg.DataDir); len(left) != 1 {
		t.Errorf("left are %v, want the open segment", left)
	}
}

// In a Citus cluster, the acceptance of an erasure is stored before it. Nodes
// then accept the log with the erasure and without it, and nothing else.
func TestPlannedAcceptance(t *testing.T) {
	cfg := storetest.Database(t, storetest.Postgres)
	all := []*store.Store{storetest.Start(t, cfg), storetest.Start(t, storetest.Node(t, cfg))}
	for _, s := range all {
		journal.PlanAcceptances(s.Journal())
	}
	o, before := storetest.SealedOrg(t, all[0])
	erase := func() error {
		p := storetest.Patient("Erased")
		created := storetest.Created(p)
		created.Audit.Details = journal.Details("more", true) // which are removed
		storetest.Must[idempotency.Outcome](t)(o.CreatePatient(t.Context(), &p, created, nil, idempotency.Outcome{}))
		return o.ErasePatient(t.Context(), p.ID, "asked for", audit.Entry{At: time.Now(), Actor: "test"})
	}
	agree := func(when string) {
		t.Helper()
		for _, s := range all {
			if problems := storetest.Must[[]string](t)(s.System().VerifySeals(t.Context(), nil, nil)); len(problems) > 0 {
				t.Errorf("%s: check, before the node knows: %q", when, problems)
			}
			sound(t, when, s)
		}
	}
	agree("at first")
	storetest.Exec(t, all[0], `ALTER TABLE setting ADD CONSTRAINT no_erasure CHECK (name <> 'rewrite_erased') NOT VALID`)
	if err := erase(); err == nil {
		t.Fatal("the erasure did not fail")
	}
	if n := storetest.Number(t, all[0], `SELECT count(*) FROM seal_acceptance`); n != 1 {
		t.Fatalf("%d acceptances, want that of the erasure that failed", n)
	}
	agree("planned and not done")
	storetest.Exec(t, all[0], `ALTER TABLE setting DROP CONSTRAINT no_erasure`)
	for range 2 {
		if err := erase(); err != nil {
			t.Fatal(err)
		}
		agree("erased")
		grow(t, all[1], o, 2)
	}
	if err := erase(); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, all[0], `UPDATE journal SET audit = 'x' WHERE org_no = $1 AND pos = 3`, int64(o.No()))
	for _, s := range all {
		unsound(t, "altered after an erasure", "is not what was sealed", s)
	}
	putOlderBack(t, all[0], before)
	if problems := storetest.Must[[]string](t)(all[1].System().VerifySeals(t.Context(), nil, nil)); !strings.Contains(strings.Join(problems, "\n"), "an older copy of the database was put back") {
		t.Errorf("older copy: %q", problems)
	}
}
