package journal_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// tampering is something that somebody who has the database, but no key, can do
// to the log of organisation $1, which has six sealed entries.
type tampering struct {
	do   []string
	want string
	// alone means that it is detected using the database only.
	alone bool
	// behind means that it is detected only by walking over the log.
	behind bool
}

// cut deletes the last two entries.
var cut = []string{`DELETE FROM journal WHERE org_no = $1 AND pos > 4`, `UPDATE journal_head SET pos = 4 WHERE org_no = $1`}

// putBack stands for the statement that restores the seal of entry 4, which was
// in the database when that was the last entry.
const putBack = "the seal of entry 4"

var tamperings = map[string]tampering{
	"edited":                 {[]string{`UPDATE journal SET audit = 'x' WHERE org_no = $1 AND pos = 3`}, "is not what was sealed", true, true},
	"edited event":           {[]string{`UPDATE journal SET event_data = '{}' WHERE org_no = $1 AND pos = 5`}, "is not what was sealed", true, true},
	"edited time":            {[]string{`UPDATE journal SET at = at + 1 WHERE org_no = $1 AND pos = 6`}, "is not what was sealed", true, true},
	"edited subject":         {[]string{`UPDATE journal SET subject = NULL WHERE org_no = $1 AND pos = 3`}, "is not what was sealed", true, true},
	"edited, seal deleted":   {[]string{`UPDATE journal SET audit = 'x' WHERE org_no = $1 AND pos = 3`, `DELETE FROM journal_seal WHERE org_no = $1`}, "its seal at entry 6 is missing", false, false},
	"edited, seal zeroed":    {[]string{`UPDATE journal SET audit = 'x' WHERE org_no = $1 AND pos = 3`, `UPDATE journal_seal SET pos = 0, head = '' WHERE org_no = $1`}, "its seal was changed", true, false},
	"first deleted":          {[]string{`DELETE FROM journal WHERE org_no = $1 AND pos = 1`}, "breaks off after entry 0 of 6", true, true},
	"deleted":                {[]string{`DELETE FROM journal WHERE org_no = $1 AND pos = 3`}, "breaks off after entry 2 of 6", true, true},
	"last deleted":           {[]string{`DELETE FROM journal WHERE org_no = $1 AND pos = 6`}, "breaks off after entry 5 of 6", true, true},
	"deleted, closed up":     {[]string{`DELETE FROM journal WHERE org_no = $1 AND pos = 3`, `UPDATE journal SET pos = pos - 101 WHERE org_no = $1 AND pos > 3`, `UPDATE journal SET pos = pos + 100 WHERE org_no = $1 AND pos < 0`, `UPDATE journal_head SET pos = 5 WHERE org_no = $1`}, "its tail is cut off", true, true},
	"swapped":                {[]string{`UPDATE journal SET pos = 100 WHERE org_no = $1 AND pos = 4`, `UPDATE journal SET pos = 4 WHERE org_no = $1 AND pos = 5`, `UPDATE journal SET pos = 5 WHERE org_no = $1 AND pos = 100`}, "is not what was sealed", true, true},
	"inserted":               {[]string{`UPDATE journal SET pos = pos + 101 WHERE org_no = $1 AND pos > 2`, `UPDATE journal SET pos = pos - 100 WHERE org_no = $1 AND pos > 100`, `INSERT INTO journal (org_no, pos, at, audit, packed) VALUES ($1, 3, 0, 'x', 0)`, `UPDATE journal_head SET pos = 7 WHERE org_no = $1`}, "is not what was sealed", true, true},
	"emptied":                {[]string{`UPDATE journal SET event_type = '' WHERE org_no = $1 AND pos = 1`}, "breaks off after entry 0 of 6", true, true},
	"edited by a fraction":   {[]string{`UPDATE journal SET at = at + 0.5 WHERE org_no = $1 AND pos = 2`}, "", true, true},
	"inserted after":         {[]string{`INSERT INTO journal (org_no, pos, at, audit, packed) VALUES ($1, 100000, 0, 'x', 0)`}, "after the newest", true, true},
	"inserted before":        {[]string{`INSERT INTO journal (org_no, pos, at, audit, packed) VALUES ($1, 0, 0, '', 0)`}, "breaks off after entry 0", true, true},
	"cut":                    {cut, "its tail is cut off", true, false},
	"cut, seal deleted":      {append([]string{`DELETE FROM journal_seal WHERE org_no = $1`}, cut...), "its tail is cut off", false, false},
	"cut, older seal":        {append([]string{putBack}, cut...), "an older copy of the database was put back", false, false},
	"seal deleted":           {[]string{`DELETE FROM journal_seal WHERE org_no = $1`}, "its seal at entry 6 is missing", false, false},
	"seal moved back":        {[]string{`UPDATE journal_seal SET pos = 5 WHERE org_no = $1`}, "its seal is at entry 5, but was at entry 6", true, false},
	"older seal":             {[]string{putBack}, "its seal is at entry 4, but was at entry 6", false, false},
	"seal head changed":      {[]string{`UPDATE journal_seal SET head = audit FROM journal j WHERE journal_seal.org_no = $1 AND j.org_no = $1 AND j.pos = 1`}, "its seal at entry 6 was changed", true, false},
	"seal beyond the end":    {[]string{`UPDATE journal_seal SET pos = 7 WHERE org_no = $1`}, "before its seal at entry 7", true, false},
	"log and seal removed":   {[]string{`DELETE FROM journal WHERE org_no = $1`, `DELETE FROM journal_seal WHERE org_no = $1`, `UPDATE journal_head SET pos = 0 WHERE org_no = $1`}, "the journal ends at entry 0", false, false},
	"log, seal, head gone":   {[]string{`DELETE FROM journal WHERE org_no = $1`, `DELETE FROM journal_seal WHERE org_no = $1`, `DELETE FROM journal_head WHERE org_no = $1`}, "the journal ends at entry 0", false, false},
	"another's log":          {[]string{`DELETE FROM journal WHERE org_no = $1`, `INSERT INTO journal (org_no, pos, at, subject, event_id, event_type, event_data, audit, packed) SELECT $1, pos, at, subject, event_id, event_type, event_data, audit, packed FROM journal WHERE org_no = 1 AND pos <= 6`, `DELETE FROM journal_seal WHERE org_no = $1`, `INSERT INTO journal_seal (org_no, pos, head, sealed_at) SELECT $1, pos, head, sealed_at FROM journal_seal WHERE org_no = 1`}, "its seal at entry 6 was changed", false, false},
	"given another identity": {[]string{`UPDATE org SET id = (SELECT event_id FROM journal WHERE org_no = $1 AND pos = 6) WHERE org_no = $1`}, "it is gone; its log was sealed up to entry 6", false, false},
	"given no identity":      {[]string{`UPDATE org SET id = '' WHERE org_no = $1`}, "it is gone; its log was sealed up to entry 6", false, false},
	"organisation removed": {[]string{`DELETE FROM journal WHERE org_no = $1`, `DELETE FROM journal_seal WHERE org_no = $1`, `DELETE FROM journal_head WHERE org_no = $1`,
		`DELETE FROM client_secret WHERE client_no IN (SELECT client_no FROM client WHERE org_no = $1)`, `DELETE FROM client WHERE org_no = $1`,
		`DELETE FROM patient WHERE org_no = $1`, `DELETE FROM org_counter WHERE org_no = $1`, `DELETE FROM org WHERE org_no = $1`}, "it is gone", false, false},
}

// tampered is a database with an organisation for each tampering; the first one
// is left alone.
type tampered struct {
	cfg    store.Config
	log    *bytes.Buffer
	orgs   map[string]access.Principal
	expect map[string]journal.SealedHead
	then   map[access.OrgNo]journal.SealedHead // the heads at entry 4
}

const whole = "Whole"

func newTampered(t *testing.T, cfg store.Config) *tampered {
	t.Helper()
	d := &tampered{cfg: cfg, log: &bytes.Buffer{}, orgs: map[string]access.Principal{}, expect: map[string]journal.SealedHead{}, then: map[access.OrgNo]journal.SealedHead{}}
	d.cfg.Log = slog.New(slog.NewTextHandler(d.log, nil))
	s := storetest.Start(t, d.cfg)
	for _, name := range append([]string{whole}, slices.Sorted(maps.Keys(tamperings))...) {
		d.orgs[name] = storetest.Client(t, s, name)
	}
	for range 2 {
		for _, who := range d.orgs {
			storetest.AddPatient(t, s.For(&who), "A")
			storetest.AddPatient(t, s.For(&who), "B")
		}
		storetest.Settle(t, s)
		for _, head := range storetest.Must[[]journal.SealedHead](t)(s.System().Seal(t.Context())) {
			if head.Pos == 4 {
				d.then[head.Org] = head
			}
			d.expect[head.Name] = head
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return d
}

// tamper applies each tampering to its organisation.
func (d *tampered) tamper(t *testing.T, s *store.Store) {
	t.Helper()
	for name, c := range tamperings {
		org := d.orgs[name].Org
		for _, sql := range c.do {
			if sql == putBack {
				then := d.then[org]
				storetest.Exec(t, s, `UPDATE journal_seal SET pos = 4, head = $2 WHERE org_no = $1`, int64(org), then.Head[:])
			} else {
				storetest.Exec(t, s, sql, int64(org))
			}
		}
	}
}

// found asserts that problems name each tampering of the list, and nothing
// else; if precise, with these words.
func found(t *testing.T, who string, precise bool, problems []string, list map[string]tampering) {
	t.Helper()
	said := map[string]string{}
	for _, p := range problems {
		name, what, _ := strings.Cut(strings.TrimPrefix(p, "organisation "), ": ")
		said[name] += what + "; "
		if _, ours := list[name]; !ours {
			t.Errorf("%s: reported without reason: %s", who, p)
		}
	}
	for name, c := range list {
		if said[name] == "" || precise && !strings.Contains(said[name], c.want) {
			t.Errorf("%s: %s: found %q, want %q", who, name, said[name], c.want)
		}
	}
}

// logged returns a value as slog formats it.
func logged(value string) string {
	if strings.ContainsAny(value, " =\"") {
		return strconv.Quote(value)
	}
	return value
}

// metricOf reads a metric without labels.
func metricOf(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue() + f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// eraseFirst erases the first patient of an organisation, whose log has lines about it.
func eraseFirst(t *testing.T, s *store.Store, o store.Org) {
	t.Helper()
	var first id.Patient
	if _, err := o.PatientPage(t.Context(), 1, 1, func(p patients.PatientItem) { first = p.ID }); err != nil {
		t.Fatal(err)
	}
	storetest.Must[pain.Patient](t)(o.UpdatePatient(t.Context(), first, func(p pain.Patient) (pain.Patient, *journal.Change, error) {
		p.Version++
		change := storetest.Updated(p)
		change.Audit.Details = audit.Changes([]audit.Change{{Field: "name", Before: "A", After: "B"}})
		return p, &change, nil
	}))
	storetest.Settle(t, s)
	storetest.Must[[]journal.SealedHead](t)(s.System().Seal(t.Context()))
	if err := o.ErasePatient(t.Context(), first, "asked for it", audit.Entry{At: time.Now(), Actor: "test"}); err != nil {
		t.Fatal(err)
	}
}

// An edited entry is found even if patients of another organisation are erased
// all the time.
func TestTamperingBesideErasures(t *testing.T) {
	journal.ShortWalks(t)
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		registry := prometheus.NewRegistry()
		cfg.Registry = registry
		s := storetest.Start(t, cfg)
		ours, _ := storetest.SealedOrg(t, s)
		who := storetest.Client(t, s, "Theirs")
		theirs := s.For(&who)
		grow(t, s, theirs, 30)
		sound(t, "before", s)
		storetest.Exec(t, s, `UPDATE journal SET at = at + 1 WHERE org_no = $1 AND pos = 25`, int64(theirs.No()))
		s.System().BeginPatrol()
		done := false
		for round := 0; !done; round++ {
			if round == 50 { // 30 entries, three at a time, two parts a round
				t.Fatal("the walk does not come to its end")
			}
			storetest.AddPatient(t, ours, "Forget Me")
			eraseFirst(t, s, ours)
			done = storetest.Must[bool](t)(s.System().GoOnPatrol(t.Context(), 2))
		}
		if broken := metricOf(t, registry, "anodyne_audit_seal_broken"); broken != 1 {
			t.Errorf("%v broken logs", broken)
		}
		unsound(t, "afterwards", "Theirs", s)
	})
}

// An edited entry is found even if the log of another organisation cannot be read.
func TestTamperingBesideUnreadableLog(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	s := storetest.Must[*store.Store](t)(store.Open(t.Context(), cfg))
	ours, _ := storetest.SealedOrg(t, s)
	who := storetest.Client(t, s, "Theirs")
	theirs := s.For(&who)
	grow(t, s, theirs, 5)
	grow(t, s, ours, 100) // several pages
	lost := storetest.AddPatient(t, ours, "Arlo Finch")
	grow(t, s, ours, 100)
	sound(t, "before", s)
	storetest.Exec(t, s, `UPDATE journal SET at = at + 1 WHERE org_no = $1 AND pos = 3`, int64(theirs.No()))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Damage(t, cfg, lost.ID.String())
	registry := prometheus.NewRegistry()
	cfg.Registry = registry
	s = storetest.Start(t, cfg)
	storetest.Must[bool](t)(s.System().GoOnPatrol(t.Context(), 0)) // compares the seals
	s.System().BeginPatrol()
	done, err := s.System().GoOnPatrol(t.Context(), 10)
	storetest.WantAway(t, err, "The database is damaged.")
	if broken := metricOf(t, registry, "anodyne_audit_seal_broken"); !done || broken != 1 {
		t.Errorf("%v broken logs, the walk is complete: %v", broken, done)
	}
}

// An erasure by a node that did not see the seals does not make the others accept
// an older copy of a log.
func TestErasureAfterTampering(t *testing.T) {
	for name, d := range map[string]struct{ noticed, planned bool }{
		"noticed before":                     {noticed: true},
		"noticed later":                      {},
		"noticed before, accepted before it": {noticed: true, planned: true},
		"noticed later, accepted before it":  {planned: true},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
				one := storetest.Start(t, cfg)
				o, head := storetest.SealedOrg(t, one)
				grow(t, one, o, 5)
				sound(t, "before", one)
				putOlderBack(t, one, head)
				if d.noticed {
					unsound(t, "after putting an older copy back", "Ours", one)
				}
				two := storetest.Start(t, storetest.Node(t, cfg))
				if d.planned && one.Shared() { // only then can a transaction wait for another
					journal.PlanAcceptances(one.Journal())
					journal.PlanAcceptances(two.Journal())
				}
				sound(t, "on a new node", two)
				who := storetest.Client(t, two, "Ours")
				eraseFirst(t, two, two.For(&who))
				unsound(t, "after an erasure", "Ours", one)
			})
		})
	}
}

// After patients were erased, the logs are what was sealed, for all nodes, and any
// tampering is detected as before.
func TestTamperingAfterErasure(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		d := newTampered(t, cfg)
		s, away := storetest.Start(t, d.cfg), storetest.Start(t, storetest.Node(t, cfg))
		seal := func() {
			t.Helper()
			for _, node := range []*store.Store{s, away} {
				storetest.Settle(t, node)
				storetest.Must[[]journal.SealedHead](t)(node.System().Seal(t.Context()))
				if problems := storetest.Must[[]string](t)(node.System().WatchSeals(t.Context())); len(problems) > 0 {
					t.Fatalf("%q", problems)
				}
			}
		}
		seal()
		for _, who := range d.orgs {
			eraseFirst(t, s, s.For(&who))
		}
		seal()
		d.tamper(t, s)
		for _, node := range []*store.Store{s, away} {
			found(t, "a server", false, storetest.Must[[]string](t)(node.System().WatchSeals(t.Context())), tamperings)
		}
	})
}

// Any tampering with logs and seals in the database is detected by the server
// and by check, without a head stored elsewhere. Such a log is not sealed
// further, even after a restart; the others are.
func TestTampering(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		d := newTampered(t, cfg)
		registry := prometheus.NewRegistry()
		d.cfg.Registry = registry
		s := storetest.Start(t, d.cfg)
		away := storetest.Start(t, storetest.Node(t, cfg)) // another node with the same state
		for _, node := range []*store.Store{s, away} {
			if problems := storetest.Must[[]string](t)(node.System().WatchSeals(t.Context())); len(problems) > 0 || metricOf(t, registry, "anodyne_audit_seal_broken") != 0 {
				t.Fatalf("before: %q", problems)
			}
		}
		d.tamper(t, s)
		for name, who := range d.orgs {
			if p := storetest.Patient("later"); name != "organisation removed" && name != "log, seal, head gone" {
				_, _ = s.For(&who).CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{})
			}
		}
		for _, node := range []*store.Store{s, away} {
			storetest.Settle(t, s)
			for _, head := range storetest.Must[[]journal.SealedHead](t)(node.System().Seal(t.Context())) {
				// Only a walk over the log detects an edited row. The seal
				// continues from what was sealed, so it never matches the
				// forged log.
				if c := tamperings[head.Name]; len(c.do) > 0 && !c.behind {
					t.Errorf("%s was sealed again, up to %d", head.Name, head.Pos)
				}
			}
			found(t, "a server", false, storetest.Must[[]string](t)(node.System().WatchSeals(t.Context())), tamperings)
		}
		// Two organisations have two identities now.
		if n := metricOf(t, registry, "anodyne_audit_seal_broken"); n != float64(len(tamperings)+2) {
			t.Errorf("the metric says %v of %d", n, len(tamperings))
		}
		for range 5 { // a round logs some of them
			storetest.Must[[]journal.SealedHead](t)(s.System().Seal(t.Context()))
		}
		for name := range tamperings {
			if !strings.Contains(d.log.String(), fmt.Sprintf("level=ERROR msg=\"the audit log does not match its seal; sealing is stopped\" organization=%s", logged(name))) {
				t.Errorf("nothing was logged about %s", name)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}

		d.cfg.Registry = nil
		again := storetest.Start(t, d.cfg)
		storetest.AddPatient(t, again.For(new(d.orgs[whole])), "later")
		storetest.Settle(t, again)
		for range 2 {
			for _, head := range storetest.Must[[]journal.SealedHead](t)(again.System().Seal(t.Context())) {
				if head.Name != whole {
					t.Errorf("%s was sealed again after a restart", head.Name)
				}
			}
		}
		if pos := storetest.Number(t, again, `SELECT pos FROM journal_seal WHERE org_no = $1`, int64(d.orgs[whole].Org)); pos != 8 {
			t.Errorf("the whole log is sealed up to %d of 8", pos)
		}
	})
}

// A check started afterwards detects the same.
func TestCheckFindsTampering(t *testing.T) {
	alone := map[string]tampering{}
	for name, c := range tamperings {
		if c.alone {
			alone[name] = c
		}
	}
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		d := newTampered(t, cfg)
		s := storetest.Start(t, d.cfg)
		if problems := storetest.Must[[]string](t)(s.System().VerifySeals(t.Context(), d.expect, nil)); len(problems) > 0 {
			t.Fatalf("before: %q", problems)
		}
		d.tamper(t, s)
		found(t, "check", true, storetest.Must[[]string](t)(s.System().VerifySeals(t.Context(), nil, nil)), tamperings)
		elsewhere := storetest.Start(t, storetest.Node(t, cfg))
		if !s.System().Witnessed() || elsewhere.System().Witnessed() {
			t.Error("a data directory that has never sealed has a witness, or the other way round")
		}
		found(t, "check elsewhere", false, storetest.Must[[]string](t)(elsewhere.System().VerifySeals(t.Context(), nil, nil)), alone)
		found(t, "check with heads", false, slices.DeleteFunc(storetest.Must[[]string](t)(elsewhere.System().VerifySeals(t.Context(), d.expect, nil)), func(p string) bool {
			return strings.Contains(p, "given another identity") || strings.Contains(p, "given no identity") // the name and the log exist
		}), func() map[string]tampering {
			named := maps.Clone(tamperings)
			delete(named, "given another identity")
			delete(named, "given no identity")
			delete(named, "seal deleted") // the log is intact
			delete(named, "older seal")
			return named
		}())
	})
}

// A log is sealed further once the tampering is undone.
func TestTamperingUndone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		o, _ := storetest.SealedOrg(t, s)
		mine, other := int64(o.No()), int64(o.No())+10
		shift := func(by int64) func() {
			return func() {
				storetest.Exec(t, s, `UPDATE journal SET at = at + $2 WHERE org_no = $1 AND pos = 3`, mine, by)
			}
		}
		moveSeal := func(from, to int64) func() {
			return func() {
				storetest.Exec(t, s, `INSERT INTO journal_seal (org_no, pos, head, sealed_at) SELECT CAST($2 AS BIGINT), pos, head, sealed_at FROM journal_seal WHERE org_no = $1`, from, to)
				storetest.Exec(t, s, `DELETE FROM journal_seal WHERE org_no = $1`, from)
			}
		}
		for name, c := range map[string]struct{ do, undo func() }{
			"edited time": {shift(1), shift(-1)},
			"seal moved":  {moveSeal(mine, other), moveSeal(other, mine)},
		} {
			c.do()
			if problems := storetest.Must[[]string](t)(s.System().WatchSeals(t.Context())); len(problems) != 1 {
				t.Errorf("%s: %q", name, problems)
			}
			c.undo()
			if problems := storetest.Must[[]string](t)(s.System().WatchSeals(t.Context())); len(problems) != 0 {
				t.Errorf("%s, undone: %q", name, problems)
			}
		}
		storetest.AddPatient(t, o, "later")
		storetest.Settle(t, s)
		if moved := storetest.Must[[]journal.SealedHead](t)(s.System().Seal(t.Context())); len(moved) != 1 {
			t.Errorf("sealed %+v", moved)
		}
	})
}
