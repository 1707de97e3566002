package cohort

import (
	"maps"
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Changes that are made while slices are loaded are applied to them, however many
// there are; the slices are not loaded again.
func TestChangesDuringTheFirstLoad(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		h := newHospital(t, open(), "general", nil)
		h.enroll(t, 7)
		last := storetest.AddPatient(t, h.Org, "Berta Wren")
		part, loads := newHolding(4), 0
		part.always = 3
		part.loads = func() {
			loads++
			for score := range 2 * int(part.always) {
				h.addScore(t, last.ID, score)
			}
		}
		held, _, err := part.fresh(t.Context(), h.Org, []int{0, 1}, func(int) bool { return true })
		if err != nil || loads != 1 {
			t.Fatalf("%d loads; %v", loads, err)
		}
		p := checked(t, analytics.Request{})
		got, _, err := countAll(t.Context(), newScans(), inMemory(slices.Concat(held[0], held[1])), groupSize, nil, p, analytics.NewOutcomesTally)
		if err != nil {
			t.Fatal(err)
		}
		want, _, _ := h.tallies(t, p)
		if got, want := printed(t, got.Result(today)), printed(t, want.Result(today)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// The memory that is counted for a model or for slices is what they take, also
// after changes that made them smaller, and while they are always in use.
func TestMemoryIsGivenBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		h := newHospital(t, open(), "general", nil)
		h.enroll(t, 8)
		counter := func(into *int64) func(int64) bool {
			return func(bytes int64) bool {
				*into += bytes
				return true
			}
		}
		var inModel, inSlices int64
		m, part := newModel(charts, plenty, func() {}), newHolding(4)
		m.room, part.room = counter(&inModel), counter(&inSlices)
		p := storetest.AddPatient(t, h.Org, "Berta Wren")
		// The next version of a panel has no room for what the last change removed.
		histories := [][]string{nil, {"C50.911", "M54.50", "G89.4", "I10", "E11.9"}, nil, {"I10"}}
		var sizes []int64
		for i, codes := range histories {
			var entries []pain.HistoryEntry
			for _, code := range codes {
				entries = append(entries, pain.HistoryEntry{Condition: "x", ICD10Code: code})
			}
			h.change(t, p.ID, func(p *pain.Patient) { p.MedicalHistory = pain.NewHistory(entries...) })
			chunks, err := m.fresh(t.Context(), h.Org)
			if err != nil {
				t.Fatal(err)
			}
			held, _, err := part.fresh(t.Context(), h.Org, []int{0, 1, 2}, func(int) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			taken := int64(0)
			for panels := range maps.Values(held) {
				taken += panelBytes(panels)
			}
			if model := sizeOf(chunks) - modelBytes; inModel != model || inSlices != taken {
				t.Errorf("change %d: %d bytes are counted of %d in the model, and %d of %d in slices", i, inModel, model, inSlices, taken)
			}
			sizes = append(sizes, taken)
		}
		if sizes[1] <= sizes[0] || sizes[3] >= sizes[1] {
			t.Errorf("the changes did not make it larger and smaller: %v", sizes)
		}
	})
}

// If the database has gone back, as after a failover that lost the last writes,
// the slices of this node are read from it, as those of other nodes are.
func TestOwnSlicesBehind(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s, cs := open(), New(plenty, nil)
		cs.sliceSize = 4
		if err := cs.Share(Sharing{Store: s, Address: "127.0.0.1:1", Build: "x"}); err != nil {
			t.Fatal(err)
		}
		h := newHospital(t, s, "general", cs)
		h.enroll(t, 6)
		pos, _, err := h.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a := asking[*analytics.OutcomesTally]{cs, measureOutcomes, checked(t, analytics.Request{}), analytics.NewOutcomesTally, 2, pos}
		self := &node{self: true}
		if _, counted, err := a.of(t.Context(), h.Org, self, []int{0, 1}); err != nil || len(counted) != 2 {
			t.Fatalf("counted %v; %v", counted, err)
		}
		a.pos++
		if _, counted, err := a.of(t.Context(), h.Org, self, []int{0, 1}); err != nil || len(counted) != 0 {
			t.Errorf("counted %v of an older state; %v", counted, err)
		}
	})
}
