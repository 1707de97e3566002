package patients_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

func TestPatientIsKept(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		here, there := all[0].For(&who), all[1].For(&who)
		p := storetest.AddPatient(t, here, "Zoë O'Hara; $1 ?1")
		for _, o := range []store.Org{here, there} {
			if got := storetest.Must[pain.Patient](t)(o.Patient(t.Context(), p.ID)); got != p {
				t.Errorf("got  %+v\nwant %+v", got, p)
			}
			shows(t, o, p)
		}

		want := p
		want.Name, want.Gender, want.Version = "Zoë", "", 2
		want.Contact, want.MedicalHistory = pain.Contact{}, pain.NewHistory()
		got := storetest.Must[pain.Patient](t)(there.UpdatePatient(t.Context(), p.ID, func(old pain.Patient) (pain.Patient, *journal.Change, error) {
			if old != p {
				t.Errorf("the rule got %+v, want %+v", old, p)
			}
			c := storetest.Updated(want)
			return want, &c, nil
		}))
		if got != want {
			t.Errorf("updated: got %+v, want %+v", got, want)
		}
		if got := storetest.Must[pain.Patient](t)(here.Patient(t.Context(), p.ID)); got != want {
			t.Errorf("after the update: got %+v, want %+v", got, want)
		}
		shows(t, here, want)
	})
}

// shows fails the test if ShowPatient returns something else than Patient.
func shows(t *testing.T, o store.Org, want pain.Patient) {
	t.Helper()
	var version int64
	var printed []byte
	err := o.ShowPatient(t.Context(), want.ID, func(p patients.PatientRow) { version, printed = p.Version, pain.AppendRow(printed, &p) })
	if whole := pain.AppendDetail(nil, &want); err != nil || version != want.Version || string(printed) != string(whole) {
		t.Errorf("shown: version %d, %s, %v; want %d, %s", version, printed, err, want.Version, whole)
	}
}

func TestPatientUpdateRefusedOrEmpty(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		p := storetest.AddPatient(t, o, "A")
		storetest.Settle(t, all[0])
		before, _, err := o.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		refusal := fault.New(fault.PreconditionFailed, "no")
		rules := map[string]func(pain.Patient) (pain.Patient, *journal.Change, error){
			"refused": func(old pain.Patient) (pain.Patient, *journal.Change, error) { return old, nil, refusal },
			"nothing": func(old pain.Patient) (pain.Patient, *journal.Change, error) { return old, nil, nil },
			"panic":   func(pain.Patient) (pain.Patient, *journal.Change, error) { panic("a rule") },
		}
		for name, rule := range rules {
			_, err := o.UpdatePatient(t.Context(), p.ID, rule)
			if refused := errors.Is(err, refusal); refused != (name == "refused") || (err != nil) != (name != "nothing") {
				t.Errorf("%s: %v", name, err)
			}
		}
		storetest.Settle(t, all[0])
		if got := storetest.Must[pain.Patient](t)(o.Patient(t.Context(), p.ID)); got != p {
			t.Errorf("the patient is %+v, want %+v", got, p)
		}
		if after, _, _ := o.Head(t.Context()); after != before {
			t.Errorf("the journal went from %d to %d", before, after)
		}
		unknown := id.New[id.PatientKind](time.Now())
		_, readErr := o.Patient(t.Context(), unknown)
		_, updateErr := o.UpdatePatient(t.Context(), unknown, rules["nothing"])
		if !fault.Is(readErr, fault.NotFound) || !fault.Is(updateErr, fault.NotFound) {
			t.Errorf("unknown patient: %v, %v", readErr, updateErr)
		}
	})
}

// Updates of one patient from several nodes are serialized: none is lost.
func TestPatientUpdatesFollowEachOther(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 3, open)
		o := all[0].For(&who)
		p := storetest.AddPatient(t, o, "A")
		storetest.Together(t, 24, func(i int) error {
			_, err := all[i%3].For(&who).UpdatePatient(t.Context(), p.ID, func(old pain.Patient) (pain.Patient, *journal.Change, error) {
				old.Version++
				c := storetest.Updated(old)
				return old, &c, nil
			})
			return err
		})
		if got := storetest.Must[pain.Patient](t)(o.Patient(t.Context(), p.ID)); got.Version != 25 {
			t.Errorf("version %d after 24 updates, want 25", got.Version)
		}
	})
}

func TestPatientNumbersAreDense(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 3, open)
		const writers, each = 32, 8
		storetest.Together(t, writers, func(i int) error {
			for j := range each {
				p := storetest.Patient(storetest.PatientName(i*each + j))
				if _, err := all[i%3].For(&who).CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
					return err
				}
			}
			return nil
		})
		var numbers []int64
		names := map[string]bool{}
		o := all[1].For(&who)
		if err := o.PatientRange(t.Context(), 1, 1<<40, func(p patients.PatientItem) {
			numbers = append(numbers, p.No)
			names[string(p.Name)] = true
		}); err != nil {
			t.Fatal(err)
		}
		if len(numbers) != writers*each || len(names) != writers*each {
			t.Fatalf("%d numbers, %d names, want %d", len(numbers), len(names), writers*each)
		}
		for i, no := range numbers {
			if no != int64(i+1) {
				t.Fatalf("number %d comes at place %d", no, i+1)
			}
		}
	})
}

// A client that reads all pages while others create patients misses and repeats
// none, and the total is never less than what it has seen.
func TestPageWalkWhileOthersCreate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 3, open)
		const writers, each, limit = 4, 60, 7
		var acknowledged sync.Map // id -> true
		var left atomic.Int64
		left.Store(writers)
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				defer left.Add(-1)
				for j := range each {
					p := storetest.Patient(fmt.Sprint(w, j))
					if _, err := all[w%3].For(&who).CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
						t.Error(err)
						return
					}
					acknowledged.Store(p.ID, true)
				}
			})
		}
		defer wg.Wait()

		seen := map[id.Patient]bool{}
		var total int64
		reader := all[2].For(&who)
		for page := int64(1); ; {
			writing := left.Load() > 0
			var got []id.Patient
			now, err := reader.PatientPage(t.Context(), page, limit, func(p patients.PatientItem) { got = append(got, p.ID) })
			if err != nil {
				t.Fatal(err)
			}
			if now < total || now < int64(len(seen)) {
				t.Fatalf("the total went from %d to %d", total, now)
			}
			if want := min(limit, max(0, now-(page-1)*limit)); int64(len(got)) != want {
				t.Fatalf("page %d of %d patients has %d, want %d", page, now, len(got), want)
			}
			total = now
			if len(got) < limit && writing {
				continue // not full yet: read again
			}
			for _, patientID := range got {
				if seen[patientID] {
					t.Fatalf("page %d repeats a patient", page)
				}
				seen[patientID] = true
			}
			if len(got) < limit {
				break
			}
			page++
		}
		wg.Wait()
		acknowledged.Range(func(patientID, _ any) bool {
			if !seen[patientID.(id.Patient)] {
				t.Error("a patient was missed")
			}
			return true
		})
		if len(seen) != writers*each || total != writers*each {
			t.Errorf("saw %d patients of a total of %d, want %d", len(seen), total, writers*each)
		}
	})
}

func TestPatientLists(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		var people []pain.Patient
		for i := range 5 {
			people = append(people, storetest.AddPatient(t, o, storetest.PatientName(i)))
		}
		var got []string
		note := func(p patients.PatientItem) {
			i := slices.IndexFunc(people, func(q pain.Patient) bool { return q.ID == p.ID })
			q := people[i]
			if p.No != int64(i+1) || string(p.Name) != q.Name || string(p.DateOfBirth) != q.DateOfBirth.String() || !p.CreatedAt.Equal(q.CreatedAt) {
				t.Errorf("item %+v of %+v", p, q)
			}
			got = append(got, fmt.Sprint(p.No))
		}
		page := func(page, limit int64) func() error {
			return func() error {
				total, err := o.PatientPage(t.Context(), page, limit, note)
				if total != 5 {
					t.Errorf("total %d", total)
				}
				return err
			}
		}
		for _, c := range []struct {
			call func() error
			want string
		}{
			{page(1, 2), "[1 2]"}, {page(3, 2), "[5]"}, {page(4, 2), "[]"}, {page(2147483647, 100), "[]"}, {page(1, 100), "[1 2 3 4 5]"},
			{func() error { return o.PatientItems(t.Context(), []int64{2, 4, 99}, note) }, "[2 4]"},
			{func() error { return o.PatientRange(t.Context(), 2, 3, note) }, "[2 3]"},
		} {
			got = nil
			if err := c.call(); err != nil || fmt.Sprint(got) != c.want {
				t.Errorf("got %v, %v, want %s", got, err, c.want)
			}
		}
		if _, n, err := o.Head(t.Context()); n != 5 || err != nil {
			t.Errorf("Head has %d patients, %v", n, err)
		}
	})
}

// PostgreSQL finds a page of many patients by their numbers, with the plans that
// lookups use.
func TestPagesUseTheIndex(t *testing.T) {
	if pgcluster.Distributed() {
		return // Citus has no such plans for these statements
	}
	s := storetest.Open(t, storetest.Postgres)
	who := storetest.Client(t, s, "Ours")
	storetest.AddPatient(t, s.For(&who), "First")
	columns := strings.Join(storetest.Texts(t, s, 1, `SELECT CAST(column_name AS TEXT) FROM information_schema.columns
		WHERE table_name = 'patient' AND is_generated = 'NEVER' AND column_name NOT IN ('id', 'patient_no')`), ", ")
	storetest.Exec(t, s, `INSERT INTO patient (id, patient_no, `+columns+`) SELECT decode(md5(CAST(n AS TEXT)), 'hex'), n, `+columns+` FROM patient, generate_series(2, 50000) AS n`)
	storetest.Exec(t, s, `UPDATE org_counter SET patients = 50000`)
	storetest.Exec(t, s, `ANALYZE patient, org_counter`)
	for i, sql := range patients.PageStatements {
		var plan strings.Builder
		if err := s.Database().Snapshot(t.Context(), func(tx engine.Tx) error {
			for _, sql := range []string{`SET LOCAL plan_cache_mode = force_generic_plan`, fmt.Sprintf(`PREPARE page%d (BIGINT, BIGINT, BIGINT) AS %s`, i, sql)} {
				if _, err := tx.Exec(sql); err != nil {
					return err
				}
			}
			return tx.Query(fmt.Sprintf(`EXPLAIN EXECUTE page%d (%d, 41, 60)`, i, who.Org), func(r engine.Row) error {
				_, err := fmt.Fprintln(&plan, r.Text(0))
				return err
			})
		}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(plan.String(), "Seq Scan on patient") || !strings.Contains(plan.String(), "patient_pkey") {
			t.Errorf("%s\n%s", sql, plan.String())
		}
	}
}
