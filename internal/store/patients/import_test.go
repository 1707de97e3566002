package patients_test

import (
	"context"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

func hashOf(i int) patients.ImportHash { return patients.HashOf([]byte(strconv.Itoa(i))) }

func patientLines(from, to int, external bool) (lines []patients.ImportedPatient) {
	for i := from; i < to; i++ {
		p := storetest.Patient("P" + strconv.Itoa(i))
		if external {
			p.Identifiers = pain.NewIdentifiers(mrn(strconv.Itoa(i)))
		}
		lines = append(lines, patients.ImportedPatient{Content: hashOf(i), Key: hashOf(1000 + i), Patient: p, Change: storetest.Created(p)})
	}
	return lines
}

// recordLines returns scores of one patient; the hash of each is its score.
func recordLines(p pain.Patient, scores ...int) patients.ImportedRecords {
	g := patients.ImportedRecords{Patient: p.ID, Change: func([]pain.Record) journal.Change { return storetest.Updated(p) }}
	for _, score := range scores {
		g.Hashes = append(g.Hashes, hashOf(score))
		g.Records = append(g.Records, pain.Record{ID: id.New[id.RecordKind](time.Now()), PatientID: p.ID, Type: pain.TypePainScores, Status: pain.Final,
			RecordedAt: time.UnixMilli(int64(score)).UTC(), CreatedAt: time.Unix(1, 0).UTC(), Value: pain.StoredValue(`{"scale":"nrs","score":1}`)})
	}
	return g
}

func TestPatientsAreImportedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "Ours")
		org := storetest.Must[store.Org](t)(s.System().Organization(t.Context(), "Ours"))
		for _, step := range []struct {
			from, to int
			external bool
			added    int
		}{{0, 5, true, 5}, {0, 5, true, 0}, {3, 8, true, 3}, {0, 8, false, 8}, {0, 9, false, 1}} {
			lines := patientLines(step.from, step.to, step.external)
			before, _, err := org.ImportedPatients(t.Context(), lines)
			if err != nil {
				t.Fatal(err)
			}
			if added, others, err := org.ImportPatients(t.Context(), lines); added != step.added || others != nil || before != len(lines)-added || err != nil {
				t.Errorf("%+v: %d were there, %d added, %v others, %v", step, before, added, others, err)
			}
		}
		changed := patientLines(2, 4, true)
		changed[1].Content = hashOf(99)
		for _, do := range []func(context.Context, []patients.ImportedPatient) (int, []int, error){org.ImportedPatients, org.ImportPatients} {
			if _, others, err := do(t.Context(), changed); len(others) != 1 || others[0] != 1 || err != nil {
				t.Errorf("another content under a key: %v, %v", others, err)
			}
		}
		total := storetest.Must[int64](t)(s.For(&who).PatientPage(t.Context(), 1, 100, func(item patients.PatientItem) {
			if want := (item.No - 1) % 8; item.No <= 16 && string(item.Name) != "P"+strconv.FormatInt(want, 10) {
				t.Errorf("patient %d is %s: not in the order of the lines", item.No, item.Name)
			}
		}))
		if total != 17 {
			t.Errorf("%d patients, want 17", total)
		}
		if _, birth, found, err := org.Referred(t.Context(), mrn("7")); !found || birth.Year != 1961 || err != nil {
			t.Errorf("by its identifier: %v, %v, %v", birth, found, err)
		}
		if _, _, found, err := org.Referred(t.Context(), mrn("8")); found || err != nil {
			t.Errorf("an identifier that was never imported: %v, %v", found, err)
		}
		storetest.Client(t, s, "Theirs")
		theirs := storetest.Must[store.Org](t)(s.System().Organization(t.Context(), "Theirs"))
		if _, _, found, _ := theirs.Referred(t.Context(), mrn("7")); found {
			t.Error("another organisation's patient is found")
		}
		if _, err := s.System().Organization(t.Context(), "Nobody's"); err == nil {
			t.Error("an organisation that is not there is found")
		}
	})
}

func TestRecordsAreImportedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "Ours")
		org := s.For(&who)
		a, b, nobody := storetest.AddPatient(t, org, "A"), storetest.AddPatient(t, org, "B"), storetest.Patient("Nobody")
		added, missing, err := org.ImportRecords(t.Context(), []patients.ImportedRecords{recordLines(b, 1, 2), recordLines(nobody, 3), recordLines(a, 4)})
		if added != 3 || len(missing) != 1 || missing[0] != 1 || err != nil {
			t.Fatalf("added %d, missing %v, %v", added, missing, err)
		}
		// Rejected lines have left no mark.
		added, missing, err = org.ImportRecords(t.Context(), []patients.ImportedRecords{recordLines(a, 4, 3, 5), recordLines(b, 1, 2)})
		if added != 2 || missing != nil || err != nil {
			t.Fatalf("added %d, missing %v, %v", added, missing, err)
		}
		for p, want := range map[id.Patient]int64{a.ID: 3, b.ID: 2} {
			if total := storetest.Must[int64](t)(org.Records(t.Context(), p, patients.RecordQuery{Page: 1, Limit: 10}, func(*pain.Record) {})); total != want {
				t.Errorf("%d records, want %d", total, want)
			}
		}
	})
}

// Several concurrent imports of the same lines import each once.
func TestImportsAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		nodes := []*store.Store{open(), open()}
		who := storetest.Client(t, nodes[0], "Ours")
		people := []pain.Patient{storetest.AddPatient(t, nodes[0].For(&who), "A"), storetest.AddPatient(t, nodes[0].For(&who), "B")}
		var imported, records atomic.Int64
		storetest.Together(t, 8, func(i int) error {
			org := nodes[i%2].For(&who)
			added, _, err := org.ImportPatients(t.Context(), patientLines(0, 20, i%4 < 2))
			imported.Add(int64(added))
			if err != nil {
				return err
			}
			first, second := recordLines(people[i%2], 100, 101, 102), recordLines(people[1-i%2], 103)
			added, _, err = org.ImportRecords(t.Context(), []patients.ImportedRecords{first, second})
			records.Add(int64(added))
			return err
		})
		if imported.Load() != 40 || records.Load() != 4 {
			t.Errorf("%d patients and %d records came in, want 40 and 4", imported.Load(), records.Load())
		}
	})
}

// An import ends its transaction when another process wants to write. On
// PostgreSQL, no other transaction waits for its end.
func TestImportLetsOthersWrite(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	ours, theirs := storetest.Start(t, storetest.Node(t, cfg)), storetest.Start(t, storetest.Node(t, cfg))
	who := storetest.Client(t, ours, "Ours")
	org, other := ours.For(&who), theirs.For(&who)
	const people, each = 6, 100 // three patients are a part
	var groups []patients.ImportedRecords
	for i := range people {
		scores := make([]int, each)
		for n := range scores {
			scores[n] = each*i + n
		}
		groups = append(groups, recordLines(storetest.AddPatient(t, org, "P"+strconv.Itoa(i)), scores...))
	}
	stored := func() int64 {
		return storetest.Must[int64](t)(other.Records(t.Context(), groups[0].Patient, patients.RecordQuery{Page: 1, Limit: 1}, func(*pain.Record) {}))
	}
	written := make(chan error, 1)
	first, last := groups[0].Change, groups[people-1].Change
	groups[0].Change = func(added []pain.Record) journal.Change {
		go func() {
			p := storetest.Patient("Theirs")
			_, err := other.CreatePatient(context.WithoutCancel(t.Context()), &p, storetest.Created(p), nil, idempotency.Outcome{})
			written <- err
		}()
		for !org.Awaited() {
			runtime.Gosched()
		}
		return first(added)
	}
	groups[people-1].Change = func(added []pain.Record) journal.Change {
		if n := stored(); n != each {
			t.Errorf("%d records of the first part are visible while the second one is stored, want %d", n, each)
		}
		return last(added)
	}
	if added, missing, err := org.ImportRecords(t.Context(), groups); added != people*each || missing != nil || err != nil {
		t.Errorf("added %d, missing %v, %v", added, missing, err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// A patient may have several groups, in one part or in several.
func TestImportGroupsOfOnePatient(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "Ours")
		org := s.For(&who)
		a, b := storetest.AddPatient(t, org, "A"), storetest.AddPatient(t, org, "B")
		var groups []patients.ImportedRecords
		for i := range 8 {
			scores := make([]int, 80)
			for n := range scores {
				scores[n] = 1000*i + n
			}
			g := recordLines([]pain.Patient{a, b}[i%2], scores...)
			if err := org.Ready(&g); err != nil {
				t.Fatal(err)
			}
			groups = append(groups, g)
		}
		for _, want := range []int{640, 0} {
			if added, missing, err := org.ImportRecords(t.Context(), groups); added != want || missing != nil || err != nil {
				t.Errorf("added %d, missing %v, %v", added, missing, err)
			}
		}
		for _, p := range []pain.Patient{a, b} {
			total := storetest.Must[int64](t)(org.Records(t.Context(), p.ID, patients.RecordQuery{Page: 1, Limit: 10}, func(*pain.Record) {}))
			if total != 320 {
				t.Errorf("%d records, want 320", total)
			}
		}
		series, _, err := s.System().CheckSeries(t.Context(), false, storetest.NoProgress)
		counts, _, countErr := s.System().CheckCounts(t.Context(), false, storetest.NoProgress)
		if problems := append(series, counts...); len(problems) > 0 || err != nil || countErr != nil {
			t.Errorf("%q, %v, %v", problems, err, countErr)
		}
	})
}
