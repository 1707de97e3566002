package cohort

import (
	"testing"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
)

// recalled is what a question to a measure has in memory.
func recalled(t *testing.T, h hospital, measure string, p *analytics.Params) *answered {
	t.Helper()
	q, err := newQuestion(h.no, measure, p)
	if err != nil {
		t.Fatal(err)
	}
	return h.cohorts.memo.recall(q)
}

func TestWarm(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		h := newHospital(t, open(), "general", New(plenty, nil))
		h.cohorts.worthKeeping = 1
		storetest.AddPatient(t, h.Org, "Anna")
		warm := func(p *analytics.Params) {
			t.Helper()
			if err := h.cohorts.Warm(t.Context(), h.Org, p); err != nil {
				t.Fatal(err)
			}
		}
		p := checked(t, analytics.Request{})
		warm(p)
		for _, measure := range []string{"outcomes", "population"} {
			if got := recalled(t, h, measure, p); got == nil || len(got.groups) != 1 {
				t.Errorf("%s: %+v is known, want one group", measure, got)
			}
		}
		for _, model := range []string{names.name, charts.name} {
			if got := metricValue(t, h.cohorts.metrics.loads.WithLabelValues(model)); got != 1 {
				t.Errorf("%s: loaded %v times, want once", model, got)
			}
		}
		// What is warm is left alone: another patient is not looked for.
		before := recalled(t, h, "outcomes", p)
		storetest.AddPatient(t, h.Org, "Berit")
		warm(p)
		if got := recalled(t, h, "outcomes", p); got != before {
			t.Error("a question that is known was counted again")
		}
		next := checked(t, analytics.Request{EndDate: "2024-06-29"})
		warm(next) // as on another day
		if recalled(t, h, "population", next) == nil {
			t.Error("another question was not counted")
		}
		h.expect(t, "b", 2)
	})
}

// Few patients are counted while one waits, so only their series are loaded.
func TestWarmKeepsNoTalliesOfFew(t *testing.T) {
	h := newHospital(t, storetest.Open(t, storetest.SQLite), "general", New(plenty, nil))
	storetest.AddPatient(t, h.Org, "Anna")
	p := checked(t, analytics.Request{})
	if err := h.cohorts.Warm(t.Context(), h.Org, p); err != nil {
		t.Fatal(err)
	}
	if q, err := newQuestion(h.no, "", p); err != nil || h.cohorts.cold(q) {
		t.Errorf("not warm: %v", err)
	}
	if recalled(t, h, "outcomes", p) != nil {
		t.Error("tallies of a single panel were kept")
	}
}

// What may be asked makes no room for itself.
func TestWarmTakesOnlyMemoryThatIsFree(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite)
	cohorts := New(plenty, nil)
	north, south := newHospital(t, s, "north", cohorts), newHospital(t, s, "south", cohorts)
	storetest.AddPatient(t, north.Org, "Anna")
	north.expect(t, "anna", 1)
	p := checked(t, analytics.Request{})
	for _, test := range []struct {
		limit  int64
		loaded bool
	}{{2*cohorts.bytes - 1, false}, {2 * cohorts.bytes, true}} {
		cohorts.limit = test.limit
		if err := cohorts.Warm(t.Context(), south.Org, p); err != nil {
			t.Fatal(err)
		}
		if got := cohorts.places[place{south.no, charts.name}] != nil; got != test.loaded {
			t.Errorf("at a limit of %d bytes, %d of them taken: loaded %v", test.limit, cohorts.bytes, got)
		}
	}
}

// Series that do not fit are not loaded in advance.
func TestWarmLeavesWhatDoesNotFit(t *testing.T) {
	h := newHospital(t, storetest.Open(t, storetest.SQLite), "general", New(plenty, nil))
	h.cohorts.worthKeeping = 1
	storetest.AddPatient(t, h.Org, "Anna")
	h.cohorts.limit = 1
	p := checked(t, analytics.Request{})
	if err := h.cohorts.Warm(t.Context(), h.Org, p); err != nil {
		t.Fatal(err)
	}
	if got := metricValue(t, h.cohorts.metrics.streamed); got != 0 || recalled(t, h, "outcomes", p) != nil {
		t.Errorf("%v scans of the database, for nobody", got)
	}
}
