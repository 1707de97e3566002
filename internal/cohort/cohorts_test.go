package cohort

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

const plenty = 1 << 30

// hospital is an organisation on one node, and that node's read models.
type hospital struct {
	store.Org
	no      access.OrgNo
	cohorts *Cohorts
}

func newHospital(t *testing.T, s *store.Store, name string, cohorts *Cohorts) hospital {
	t.Helper()
	principal := storetest.Client(t, s, name)
	return hospital{s.For(&principal), principal.Org, cohorts}
}

func (h hospital) search(t *testing.T, term string, page, limit int64) ([]int64, int64) {
	t.Helper()
	numbers, total, err := h.cohorts.List(t.Context(), h.Org, Query{Term: term, Page: page, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return numbers, total
}

// expect searches and compares with what must be found, all of it.
func (h hospital) expect(t *testing.T, term string, want ...int64) {
	t.Helper()
	if got, total := h.search(t, term, 1, 100); !slices.Equal(got, want) || total != int64(len(want)) {
		t.Errorf("%q: found %v (total %d), want %v", term, got, total, want)
	}
}

func (h hospital) rename(t *testing.T, patientID id.Patient, name string) {
	t.Helper()
	h.change(t, patientID, func(p *pain.Patient) { p.Name = name })
}

// metricValue reads a gauge or a counter.
func metricValue(t *testing.T, m prometheus.Metric) float64 {
	t.Helper()
	var read dto.Metric
	if err := m.Write(&read); err != nil {
		t.Fatal(err)
	}
	return read.GetGauge().GetValue() + read.GetCounter().GetValue()
}

func TestSearchIsWhatANaiveSearchFinds(t *testing.T) {
	parts := []string{"Anna", "ÅSA", "Zoë", "José", "Łukasz", "Νίκος", "ΣΊΣΥΦΟΣ", "Анна", "Ёлкин", "İpek", "IŞIL", "ışık", "Müller", "Mueller", "Straße", "😀", "👩‍⚕️",
		"100%", "a_b", `back\slash`, "O'Brien", "O’Brien", "e\u0301", "李", "ﬁ", ".*", "'; --", "\u0301"}
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		random := rand.New(rand.NewPCG(7, 8))
		pick := func() string { return parts[random.IntN(len(parts))] }
		h := newHospital(t, open(), "general", New(plenty, nil))
		streamed := hospital{h.Org, h.no, New(0, nil)} // where the names do not fit into memory
		var names []string
		var ids []id.Patient
		naive := func(term string) (numbers []int64) {
			for i, name := range names {
				if containsWords(pain.Fold(name), pain.Fold(term)) {
					numbers = append(numbers, int64(i)+1)
				}
			}
			return numbers
		}
		for round := range 120 {
			if round%3 == 2 {
				i := random.IntN(len(names))
				names[i] = pick() + " " + pick()
				h.rename(t, ids[i], names[i])
			} else {
				names = append(names, pick()+" "+pick()+pick())
				ids = append(ids, storetest.AddPatient(t, h.Org, names[len(names)-1]).ID)
			}
			term := pick()
			if runes := []rune(term + " " + pick()); round%2 == 0 {
				from := random.IntN(len(runes))
				term = strings.TrimSpace(string(runes[from : from+1+random.IntN(len(runes)-from)]))
			}
			if term == "" {
				continue
			}
			for _, h := range []hospital{h, streamed} {
				h.expect(t, term, naive(term)...)
				want := naive(term)
				from, to := min(2, len(want)), min(4, len(want))
				if got, total := h.search(t, term, 2, 2); !slices.Equal(got, want[from:to]) || total != int64(len(want)) {
					t.Errorf("%q: the second page is %v of %d, want %v of %d", term, got, total, want[from:to], len(want))
				}
			}
		}
		for _, h := range []hospital{h, streamed} {
			h.expect(t, ids[3].String(), 4)
			h.expect(t, ids[3].String()[:29]+"!")
			h.expect(t, "PAT_") // only as it is printed; no name has it
			h.expect(t, names[0]+"\x00"+names[1])
		}
		if streamed.cohorts.metrics.streamedTotal(t) == 0 || h.cohorts.metrics.streamedTotal(t) != 0 {
			t.Error("the wrong names were not kept")
		}
	})
}

func TestRenamedIsNotFoundUnderTheOldName(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		here, there := open(), open()
		h := newHospital(t, here, "general", New(plenty, nil))
		other := newHospital(t, there, "general", New(plenty, nil))
		p := storetest.AddPatient(t, h.Org, "Before")
		h.expect(t, "before", 1)
		other.expect(t, "before", 1)
		other.rename(t, p.ID, "After")
		for _, node := range []hospital{h, other} {
			node.expect(t, "before")
			node.expect(t, "AFTER", 1)
		}
		storetest.AddPatient(t, other.Org, "Afterwards")
		h.expect(t, "after", 1, 2)
	})
}

func TestOrganisationsAreApart(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s, cohorts := open(), New(plenty, nil)
		north, south := newHospital(t, s, "north", cohorts), newHospital(t, s, "south", cohorts)
		inNorth := storetest.AddPatient(t, north.Org, "Anna North")
		storetest.AddPatient(t, south.Org, "Bertil South")
		storetest.AddPatient(t, south.Org, "Anna South")
		for range 2 { // loaded, then from memory
			north.expect(t, "anna", 1)
			south.expect(t, "anna", 2)
			south.expect(t, "north")
			south.expect(t, inNorth.ID.String())
			north.expect(t, inNorth.ID.String(), 1)
		}
	})
}

// Every create that was acknowledged is found by the next search, on both
// nodes, while many write and search.
func TestAcknowledgedIsFound(t *testing.T) {
	const writers, each = 8, 25
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		here, there := open(), open()
		storetest.Run(t, here, there) // on PostgreSQL entries get their positions meanwhile
		nodes := []hospital{newHospital(t, here, "general", New(plenty, nil)), newHospital(t, there, "general", New(plenty, nil))}
		var running sync.WaitGroup
		for writer := range writers {
			running.Go(func() {
				for i := range each {
					name := fmt.Sprintf("Patient <%d.%d>", writer, i)
					p := storetest.AddPatient(t, nodes[i%2].Org, name)
					for _, node := range nodes {
						if numbers, total, err := node.cohorts.List(t.Context(), node.Org, Query{Term: name, Page: 1, Limit: 10}); err != nil || total != 1 || len(numbers) != 1 {
							t.Errorf("%s: found %v (%d), %v", name, numbers, total, err)
						}
						if _, total, err := node.cohorts.List(t.Context(), node.Org, Query{Term: p.ID.String(), Page: 1, Limit: 10}); err != nil || total != 1 {
							t.Errorf("%s: found %d by identifier, %v", name, total, err)
						}
					}
				}
			})
		}
		running.Wait()
		for _, node := range nodes {
			numbers, total := node.search(t, "patient <", 1, writers*each)
			if total != writers*each {
				t.Errorf("%d patients, want %d", total, writers*each)
			}
			for i, no := range numbers {
				if no != int64(i)+1 {
					t.Fatalf("place %d has number %d", i, no)
				}
			}
		}
	})
}

func TestLeastRecentlyUsedIsDropped(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite)
	cohorts := New(plenty, nil)
	a, b, c := newHospital(t, s, "a", cohorts), newHospital(t, s, "b", cohorts), newHospital(t, s, "c", cohorts)
	for _, h := range []hospital{a, b, c} {
		storetest.AddPatient(t, h.Org, "Anna")
	}
	inMemory := func(want ...hospital) {
		t.Helper()
		var bytes int64
		for _, h := range want {
			place := cohorts.places[place{h.no, names.name}]
			if place == nil {
				t.Fatal("an organisation was dropped that should not be")
			}
			bytes += place.Value.(*resident).model.bytes()
		}
		if len(cohorts.places) != len(want) || cohorts.recent.Len() != len(want) || cohorts.bytes != bytes {
			t.Errorf("%d organisations with %d bytes, want %d with %d", len(cohorts.places), cohorts.bytes, len(want), bytes)
		}
		if got := metricValue(t, cohorts.metrics.bytes.WithLabelValues(names.name)); got != float64(bytes) {
			t.Errorf("the metric says %v bytes, want %d", got, bytes)
		}
		if got := metricValue(t, cohorts.metrics.models.WithLabelValues(names.name)); got != float64(len(want)) {
			t.Errorf("the metric says %v organisations, want %d", got, len(want))
		}
	}
	a.expect(t, "anna", 1)
	inMemory(a)
	cohorts.limit = cohorts.bytes // one at a time
	b.expect(t, "anna", 1)
	inMemory(b)

	// Models in use stay, and others are searched without being kept.
	inUse := use(cohorts, place{b.no, names.name}, names)
	streamed := cohorts.metrics.streamedTotal(t)
	a.expect(t, "anna", 1)
	if got := cohorts.metrics.streamedTotal(t) - streamed; got != 1 || cohorts.places[place{b.no, names.name}] == nil {
		t.Errorf("%v were read from the database, want 1", got)
	}
	cohorts.release(inUse)
	c.expect(t, "anna", 1)
	inMemory(c)

	cohorts.limit = plenty
	a.expect(t, "anna", 1)
	b.expect(t, "anna", 1)
	c.expect(t, "anna", 1)
	cohorts.limit = cohorts.bytes - 1
	b.expect(t, "anna", 1)
	inMemory(b, c) // a was used before the two
	if len(cohorts.tooLarge) != 0 {
		t.Error("what there was no room for just now counts as too large")
	}
}

func TestLoadsWhenTheJournalDoesNotFollow(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(*model[*chunk])
	}{
		{"position after the head", func(m *model[*chunk]) { m.pos += 100 }},
		{"fewer patients than there are", func(m *model[*chunk]) { m.chunks = nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHospital(t, storetest.Open(t, storetest.SQLite), "general", New(plenty, nil))
			storetest.AddPatient(t, h.Org, "Anna")
			h.expect(t, "anna", 1)
			test.spoil(h.cohorts.places[place{h.no, names.name}].Value.(*resident).model.(*model[*chunk]))
			storetest.AddPatient(t, h.Org, "Hanna")
			h.expect(t, "anna", 1, 2)
			if got := metricValue(t, h.cohorts.metrics.loads.WithLabelValues(names.name)); got != 2 {
				t.Errorf("%v loads, want 2", got)
			}
		})
	}
}

// A refresh that started after a caller came, and ended before its turn, is
// good for that caller too, be it good or bad.
func TestCallersShareARefresh(t *testing.T) {
	var noDatabase store.Org // must not be asked
	failed := errors.New("the database is away")
	for _, test := range []struct {
		name string
		m    *model[*chunk]
		want error
	}{
		{"that found the patients", &model[*chunk]{ended: 1, loaded: true, chunks: newRoster(numbered(1, 3))}, nil},
		{"that failed", &model[*chunk]{ended: 1, err: failed}, failed},
	} {
		test.m.turn = make(chan struct{}, 1)
		patients, err := test.m.fresh(t.Context(), noDatabase)
		if err != test.want || len(patients) != len(test.m.chunks) {
			t.Errorf("%s: %d chunks, %v", test.name, len(patients), err)
		}
	}
}

// Between the shared refresh and the turn another caller may have begun to
// load anew and left.
func TestCallersShareNoHalfLoadedPatients(t *testing.T) {
	h := newHospital(t, storetest.Open(t, storetest.SQLite), "general", nil)
	storetest.AddPatient(t, h.Org, "Anna")
	c := newModel(names, plenty, func() {})
	c.ended, c.toLoad, c.chunks = 1, 1, make(roster, 1)
	patients, err := c.fresh(t.Context(), h.Org)
	if err != nil || len(unpack(patients)) != 1 {
		t.Errorf("%d chunks, %v", len(patients), err)
	}
}

func TestCallerWhoLeftDecidesNothingForOthers(t *testing.T) {
	h := newHospital(t, storetest.Open(t, storetest.SQLite), "general", nil)
	storetest.AddPatient(t, h.Org, "Anna")
	ctx, leave := context.WithCancel(t.Context())
	c := newModel(names, plenty, leave) // in the middle of loading
	if _, err := c.fresh(ctx, h.Org); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that the caller left", err)
	}
	if c.ended != 0 || c.err != nil {
		t.Errorf("refresh %d ended with %v", c.ended, c.err)
	}
	c.turn <- struct{}{} // another one refreshes
	if _, err := c.fresh(ctx, h.Org); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that the caller left while it waited", err)
	}
}

func TestLoadGoesOnWhereItWasCutShort(t *testing.T) {
	h := newHospital(t, storetest.Open(t, storetest.SQLite), "general", nil)
	storetest.AddPatient(t, h.Org, "Anna")
	c := newModel(names, plenty, func() { t.Error("loaded from the start") })
	var err error
	if c.pos, c.toLoad, err = h.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.chunks = newRoster(numbered(1, 1)) // unlike what would be read
	patients, err := c.fresh(t.Context(), h.Org)
	if err != nil || !slices.Equal(unpack(patients), numbered(1, 1)) {
		t.Errorf("what had been read was read again; %v", err)
	}
}

func TestFollowGivesUpWhenTooMuchChanged(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		h := newHospital(t, open(), "general", nil)
		c := newModel(names, plenty, func() {})
		if _, err := c.fresh(t.Context(), h.Org); err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			storetest.AddPatient(t, h.Org, fmt.Sprint("Anna ", i))
		}
		if ok, err := c.catchUp(t.Context(), h.Org, 5); ok || err != nil {
			t.Errorf("five changes were taken up when five are too many: %v", err)
		}
		if got := unpack(c.chunks); len(got) != 0 {
			t.Errorf("half of the changes were taken up: %d", len(got))
		}
		if ok, err := c.catchUp(t.Context(), h.Org, 100); !ok || err != nil || len(unpack(c.chunks)) != 5 {
			t.Errorf("five changes of at most a hundred were not taken up: %v", err)
		}
	})
}

func TestLoadsSeveralChunks(t *testing.T) {
	const patients, writers = chunkSize + 200, 64
	s := storetest.Open(t, storetest.SQLite)
	h := newHospital(t, s, "general", New(plenty, nil))
	var running sync.WaitGroup
	for writer := range writers {
		running.Go(func() {
			for i := writer; i < patients; i += writers {
				storetest.AddPatient(t, h.Org, fmt.Sprintf("Patient <%d>", i))
			}
		})
	}
	// Loads that are cut short, while patients come, do no harm.
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		running.Go(cancel)
		if _, err := load(ctx, h.cohorts, h.Org, names); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	running.Wait()
	h.cohorts = New(plenty, nil)
	if _, total := h.search(t, "patient <", 1, 1); total != patients {
		t.Errorf("%d patients, want %d", total, patients)
	}
	for _, i := range []int{0, patients / 2, patients - 1} {
		if _, total := h.search(t, fmt.Sprintf("<%d>", i), 1, 1); total != 1 {
			t.Errorf("patient %d was found %d times", i, total)
		}
	}
	if got := metricValue(t, h.cohorts.metrics.loads.WithLabelValues(names.name)); got != 1 {
		t.Errorf("%v loads, want 1", got)
	}
}

func TestMain(m *testing.M) { testwait.Main(m) }
