package cohort

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Whatever was written, on any node, the next response of every node matches
// the records. One node keeps the series in memory, one also the tallies, and
// on one they do not fit.
func TestMeasuresAreThoseOfTheRecords(t *testing.T) {
	const histories = 15
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		stores := []*store.Store{open(), open(), open()}
		storetest.Run(t, stores...) // on PostgreSQL entries get their positions meanwhile
		all := []*Cohorts{New(plenty, nil), New(plenty, nil), New(0, nil)}
		all[1].worthKeeping = 0
		asked, passed := 0, 0
		for seed := range histories {
			w := &ward{records: map[id.Patient][]id.Record{}}
			for i, s := range stores {
				w.nodes = append(w.nodes, newHospital(t, s, fmt.Sprint("history ", seed), all[i]))
			}
			for i, a := range acts.Example(seed) {
				if a.what != "ask" {
					w.do(t, a)
					continue
				}
				p := checked(t, a.request)
				want, counted := w.nodes[0].naive(t, p)
				asked, passed = asked+1, passed+counted
				for n, node := range w.nodes {
					if got := node.both(t, p); got != want {
						t.Fatalf("history %d, act %d: node %d measured\n%s\nwant\n%s", seed, i, n, got, want)
					}
				}
			}
		}
		storetest.Clean(t, stores[0])
		if asked < histories || passed < histories {
			t.Errorf("%d questions about %d patients are too few", asked, passed)
		}
		if all[0].metrics.streamedTotal(t) != 0 || all[2].metrics.streamedTotal(t) == 0 {
			t.Error("the wrong nodes had no room")
		}
	})
}

func (m *metrics) streamedTotal(t *testing.T) float64 { return metricValue(t, m.streamed) }

// addScore adds a pain score of today.
func (h hospital) addScore(tb testing.TB, patientID id.Patient, score int) {
	tb.Helper()
	rec := storetest.Record(tb, patientID, fmt.Sprintf(`{"data_type":"pain_scores","recorded_at":"2024-06-30","value":%d}`, score))
	if err := storetest.AddRecords(context.Background(), h.Org, patientID, rec); err != nil {
		tb.Error(err)
	}
}

// scored is how many patients have a score.
func (h hospital) scored(tb testing.TB) int {
	tb.Helper()
	outcomes, err := h.cohorts.Outcomes(context.Background(), h.Org, checked(tb, analytics.Request{}), today)
	if err != nil {
		tb.Error(err)
		return -1
	}
	return *outcomes.Cohort.WithScores.Count
}

// While many write, each finds its own write in the next answer of each node,
// also of one on which the series do not fit into memory.
func TestAcknowledgedIsMeasured(t *testing.T) {
	const writers, each = 6, 12
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		here, there := open(), open()
		storetest.Run(t, here, there)
		nodes := []hospital{newHospital(t, here, "general", New(plenty, nil)), newHospital(t, there, "general", New(0, nil))}
		var running sync.WaitGroup
		for range writers {
			running.Go(func() {
				for i := range each {
					before := nodes[(i+1)%2].scored(t)
					p := storetest.AddPatient(t, nodes[i%2].Org, "Arlo Finch")
					nodes[i%2].addScore(t, p.ID, i%11)
					for n, node := range nodes {
						if got := node.scored(t); got <= before {
							t.Errorf("node %d: %d have a score, %d had before one more", n, got, before)
						}
					}
				}
			})
		}
		running.Wait()
		p := checked(t, analytics.Request{})
		want, _ := nodes[0].naive(t, p)
		for n, node := range nodes {
			if got := node.both(t, p); got != want || node.scored(t) != writers*each {
				t.Errorf("node %d: %s, want %s", n, got, want)
			}
		}
	})
}

// An organisation that only searches has no series in memory.
func TestSearchLoadsNoSeries(t *testing.T) {
	h := newHospital(t, storetest.Open(t, storetest.SQLite), "general", New(plenty, nil))
	storetest.AddPatient(t, h.Org, "Anna")
	h.expect(t, "anna", 1)
	if h.cohorts.places[place{h.no, charts.name}] != nil || metricValue(t, h.cohorts.metrics.loads.WithLabelValues(charts.name)) != 0 {
		t.Error("a search loaded series")
	}
	h.scored(t)
	if h.cohorts.places[place{h.no, charts.name}] == nil || metricValue(t, h.cohorts.metrics.bytes.WithLabelValues(charts.name)) <= 0 {
		t.Error("the measures did not load series")
	}
}

// If there is no room for all, a panel is read, scanned and dropped.
func TestMemoryIsBounded(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite)
	h := newHospital(t, s, "general", New(plenty, nil))
	for i := range panelSize + 30 {
		p := storetest.AddPatient(t, h.Org, "Arlo Finch")
		if i%100 == 0 {
			h.addScore(t, p.ID, 5)
		}
	}
	p := checked(t, analytics.Request{})
	want := h.both(t, p)
	whole := h.cohorts.bytes
	for _, limit := range []int64{0, whole / 2, whole - 1} {
		h.cohorts = New(limit, nil)
		for range 2 {
			if got := h.both(t, p); got != want {
				t.Errorf("with %d bytes: %s, want %s", limit, got, want)
			}
		}
		if h.cohorts.bytes > modelBytes || h.cohorts.metrics.streamedTotal(t) != 4 {
			t.Errorf("with %d bytes: %d are taken, %v were streamed", limit, h.cohorts.bytes, h.cohorts.metrics.streamedTotal(t))
		}
	}
	// It fits, and then grows.
	h.cohorts = New(whole*16/15+16, nil) // a part is for tallies
	if h.both(t, p) != want || h.cohorts.bytes != whole {
		t.Errorf("%d of %d bytes are taken", h.cohorts.bytes, whole)
	}
	for range 100 {
		storetest.AddPatient(t, h.Org, "Arlo Finch")
	}
	if want, _ := h.naive(t, p); h.both(t, p) != want || h.cohorts.bytes > modelBytes {
		t.Errorf("grown beyond the limit: %d bytes are taken", h.cohorts.bytes)
	}
}

// Other organisations cost nothing: neither memory nor reading.
func TestOthersCostNothing(t *testing.T) {
	s, cohorts := storetest.Open(t, storetest.SQLite), New(plenty, nil)
	small, large := newHospital(t, s, "small", cohorts), newHospital(t, s, "large", cohorts)
	p := storetest.AddPatient(t, small.Org, "Arlo Finch")
	small.addScore(t, p.ID, 5)
	small.scored(t)
	size := func() int64 { return cohorts.places[place{small.no, charts.name}].Value.(*resident).model.bytes() }
	alone, before := size(), testing.AllocsPerRun(20, func() { small.scored(t) })
	for range 300 {
		p := storetest.AddPatient(t, large.Org, "Berta Wren")
		large.addScore(t, p.ID, 5)
	}
	large.scored(t)
	if after := testing.AllocsPerRun(20, func() { small.scored(t) }); after > before+200 || size() != alone {
		t.Errorf("%v allocations and %d bytes, %v and %d before there were others", after, size(), before, alone)
	}
}

func TestCancelledScan(t *testing.T) {
	h := newHospital(t, storetest.Open(t, storetest.SQLite), "general", New(plenty, nil))
	h.addScore(t, storetest.AddPatient(t, h.Org, "Arlo Finch").ID, 5)
	want := h.scored(t)
	p := checked(t, analytics.Request{})
	ask := func(ctx context.Context) error {
		_, err := h.cohorts.Outcomes(ctx, h.Org, p, today)
		return err
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := ask(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that the caller left", err)
	}
	// Others have all the processors, and then all the places.
	for _, room := range []chan struct{}{h.cohorts.scans.processors, h.cohorts.scans.running} {
		for range cap(room) {
			room <- struct{}{}
		}
		ctx, leave := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- ask(ctx) }()
		leave()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that the caller left while it waited", err)
		}
		for range cap(room) {
			<-room
		}
	}
	if got := h.scored(t); got != want || len(h.cohorts.scans.processors)+len(h.cohorts.scans.running) != 0 {
		t.Errorf("afterwards %d patients, %d", got, want)
	}
}

// Unreadable series are rebuilt from the records.
func TestDamagedSeries(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	h := newHospital(t, storetest.Start(t, cfg), "general", New(plenty, nil))
	var patients []pain.Patient
	for range 3 {
		p := storetest.AddPatient(t, h.Org, "Arlo Finch")
		h.addScore(t, p.ID, 7)
		patients = append(patients, p)
	}
	p := checked(t, analytics.Request{})
	want := h.both(t, p)
	execute(t, cfg, `UPDATE patient_series SET bytes = x'ff' WHERE patient_no = 2`)
	h.cohorts = New(plenty, nil)
	if got := h.both(t, p); got != want {
		t.Errorf("loaded: %s, want %s", got, want)
	}
	// A change of the patient brings the damage to a model that is loaded.
	execute(t, cfg, `UPDATE patient_series SET bytes = x'ff' WHERE patient_no = 1`)
	h.change(t, patients[0].ID, func(p *pain.Patient) { p.Name = "Berta Wren" })
	if got := h.both(t, p); got != want {
		t.Errorf("followed: %s, want %s", got, want)
	}
}

// What an operator repairs is heard of by those who have it in memory.
func TestRepairedSeries(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	s := storetest.Start(t, cfg)
	h := newHospital(t, s, "general", New(plenty, nil))
	for score := range 3 {
		h.addScore(t, storetest.AddPatient(t, h.Org, "Arlo Finch").ID, 3*score)
	}
	p := checked(t, analytics.Request{})
	want := h.both(t, p)
	h.cohorts = New(plenty, nil)
	execute(t, cfg, `UPDATE patient_series SET bytes = (SELECT bytes FROM patient_series WHERE patient_no = 1)`)
	if h.both(t, p) == want {
		t.Fatal("wrong series do not show")
	}
	if _, repaired, err := s.System().CheckSeries(t.Context(), true, func(string, int64, int64) {}); repaired.Years != 2 || err != nil {
		t.Fatalf("repaired %+v, %v", repaired, err)
	}
	if got := h.both(t, p); got != want {
		t.Errorf("repaired: %s, want %s", got, want)
	}
}

// A number without a patient counts nowhere.
func TestMissingPatient(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	h := newHospital(t, storetest.Start(t, cfg), "general", New(plenty, nil))
	for range 4 {
		h.addScore(t, storetest.AddPatient(t, h.Org, "Arlo Finch").ID, 7)
	}
	execute(t, cfg, `DELETE FROM patient WHERE patient_no IN (2, 4)`)
	for _, limit := range []int64{plenty, 0} {
		h.cohorts = New(limit, nil)
		if got := h.scored(t); got != 2 {
			t.Errorf("%d patients, want 2", got)
		}
		h.addScore(t, storetest.AddPatient(t, h.Org, "Berta Wren").ID, 7)
		if got := h.scored(t); got != 3 {
			t.Errorf("%d patients, want 3", got)
		}
		execute(t, cfg, `DELETE FROM patient WHERE patient_no = (SELECT max(patient_no) FROM patient)`)
	}
}

// However many queries run at once, no more panels are counted at a time than
// there are CPUs.
func TestScansShareTheProcessors(t *testing.T) {
	const callers, panels = 10, 40
	s, p := newScans(), checked(t, analytics.Request{})
	var now, counted atomic.Int64
	source := source{count: panels, at: func(context.Context, int) (*panel, error) {
		defer now.Add(-1)
		if n := now.Add(1); n > int64(cap(s.processors)) {
			t.Errorf("%d panels at once on %d processors", n, cap(s.processors))
		}
		counted.Add(1)
		runtime.Gosched()
		return nobody, nil
	}}
	var running sync.WaitGroup
	for range callers {
		running.Go(func() {
			if _, _, err := countAll(t.Context(), s, source, groupSize, nil, p, analytics.NewPopulationTally); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if counted.Load() != callers*panels {
		t.Errorf("%d panels were counted, want %d", counted.Load(), callers*panels)
	}
}

// An error of one panel is the error of the scan, and leaves nothing behind.
func TestScanFails(t *testing.T) {
	s, p := newScans(), checked(t, analytics.Request{})
	failed := errors.New("the database is away")
	source := source{count: 100, at: func(_ context.Context, i int) (*panel, error) {
		if i == 7 {
			return nil, failed
		}
		return nobody, nil
	}}
	if _, _, err := countAll(t.Context(), s, source, groupSize, nil, p, analytics.NewOutcomesTally); !errors.Is(err, failed) || len(s.processors) != 0 {
		t.Errorf("error %v, %d processors are held", err, len(s.processors))
	}
}

// A patient's own conditions count, whether they are still active or not;
// those of the family do not.
func TestConditionsThatCount(t *testing.T) {
	h := newHospital(t, storetest.Open(t, storetest.SQLite), "general", New(plenty, nil))
	p := storetest.AddPatient(t, h.Org, "Arlo Finch")
	for _, test := range []struct {
		entry pain.HistoryEntry
		want  int
	}{
		{pain.HistoryEntry{Condition: "x", ICD10Code: "C50.911"}, 1},
		{pain.HistoryEntry{Condition: "x", ICD10Code: "C50.911", Status: "resolved"}, 1},
		{pain.HistoryEntry{Condition: "x", ICD10Code: "C50.911", Category: "family"}, 0},
		{pain.HistoryEntry{Condition: "C50"}, 0},
	} {
		h.change(t, p.ID, func(p *pain.Patient) {
			p.MedicalHistory = pain.NewHistory(pain.HistoryEntry{Condition: "y", ICD10Code: "M54.50"}, test.entry)
		})
		outcomes, err := h.cohorts.Outcomes(t.Context(), h.Org, checked(t, analytics.Request{Condition: "C50"}), today)
		if err != nil || *outcomes.Cohort.Patients.Count != test.want {
			t.Errorf("%+v: %v patients, want %d; %v", test.entry, outcomes.Cohort.Patients.Count, test.want, err)
		}
	}
}
