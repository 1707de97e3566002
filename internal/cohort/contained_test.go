package cohort

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// brittle is a tally that panics at one of the calls of a query.
type brittle struct {
	*analytics.OutcomesTally
	left *atomic.Int64 // calls until it panics
}

func (b *brittle) step() {
	if b.left.Add(-1) == 0 {
		panic("brittle")
	}
}

func (b *brittle) Add(p *analytics.Patient) {
	b.step()
	b.OutcomesTally.Add(p)
}

func (b *brittle) PassBy(p *analytics.Patient) {
	b.step()
	b.OutcomesTally.PassBy(p)
}

func (b *brittle) Close() {
	b.step()
	b.OutcomesTally.Close()
}

func (b *brittle) Merge(other *brittle) {
	b.step()
	b.OutcomesTally.Merge(other.OutcomesTally)
}

func (b *brittle) Encode() []byte {
	b.step()
	return b.OutcomesTally.Encode()
}

func (b *brittle) Decode(text []byte) error {
	b.step()
	return b.OutcomesTally.Decode(text)
}

// panicEverywhere repeats a query that panics at its first call of a tally, then
// at its second, and so on. Each time the query fails and nothing stays held;
// only panics on the caller's own goroutine are left to the caller, as request
// handlers recover from them. It returns the number of panics. At the end the
// query does not panic.
func panicEverywhere(t *testing.T, cs *Cohorts, query func(newTally func(*analytics.Params) *brittle) error) (panics int) {
	t.Helper()
	for at := int64(1); ; at++ {
		var left atomic.Int64
		left.Store(at)
		err := contained(func() error {
			return query(func(p *analytics.Params) *brittle {
				b := &brittle{analytics.NewOutcomesTally(p), &left}
				b.step()
				return b
			})
		})
		// A pass without callers may take a moment to end.
		if !testwait.Within(testwait.Bound, func() bool { return cs.inUse() == "" }) {
			t.Fatalf("after a panic at call %d: %s", at, cs.inUse())
		}
		if left.Load() > 0 {
			if err != nil {
				t.Fatal(err)
			}
			return int(at) - 1
		}
		if err == nil {
			t.Fatalf("a panic at call %d was lost", at)
		}
	}
}

// inUse returns what queries hold, or "".
func (cs *Cohorts) inUse() string {
	if s := cs.scans; len(s.running)+len(s.reading)+len(s.processors) != 0 {
		return fmt.Sprintf("%d scans, %d readers, %d processors", len(s.running), len(s.reading), len(s.processors))
	}
	cs.gate.mu.Lock()
	defer cs.gate.mu.Unlock()
	if len(cs.gate.queue)+len(cs.gate.running) != 0 {
		return fmt.Sprintf("%d passes wait, %d run", len(cs.gate.queue), len(cs.gate.running))
	}
	cs.memo.mu.Lock()
	defer cs.memo.mu.Unlock()
	if len(cs.memo.first) != 0 {
		return "others wait for a query that has ended"
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for at := cs.recent.Front(); at != nil; at = at.Next() {
		if r := at.Value.(*resident); r.users != 0 {
			return fmt.Sprintf("%s has %d users", r.kind, r.users)
		}
	}
	return ""
}

// Wherever counting panics, the process goes on, the query fails, and nothing
// stays held.
func TestPanicsWhileCounting(t *testing.T) {
	const patients = 6
	p := checked(t, analytics.Request{CompareStart: "2023-01-01", CompareEnd: "2023-06-30"})
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		h := newHospital(t, open(), "general", nil)
		h.enroll(t, patients)
		for name, memory := range map[string]int64{"in memory": plenty, "streamed": 0} {
			cs := New(memory, nil)
			cs.worthKeeping = 0
			panics := panicEverywhere(t, cs, func(newTally func(*analytics.Params) *brittle) error {
				_, _, err := scanBoth(t.Context(), cs, h.Org, "brittle", p, newTally)
				return err
			})
			if panics < patients {
				t.Errorf("%s: only %d panics", name, panics)
			}
			if h.cohorts = cs; h.scored(t) != patients {
				t.Errorf("%s: afterwards %d patients, want %d", name, h.scored(t), patients)
			}
		}
	})
}

// The same holds for the nodes among which an organisation is divided: for the
// one that asks, and for the one that answers.
func TestPanicsWhileCountingSlices(t *testing.T) {
	const patients = 10
	a := newAlliance(t, 2, sameBuild)
	nodes := a.join(t, "general")
	nodes[0].enroll(t, patients)
	p := checked(t, analytics.Request{})
	for _, cs := range a.cohorts {
		cs.worthKeeping = 1 << 20 // tallies of this type must not be kept
	}
	asker := a.cohorts[0]
	asked := panicEverywhere(t, asker, func(newTally func(*analytics.Params) *brittle) error {
		_, err := scan(t.Context(), asker, nodes[0].Org, measureOutcomes, p, newTally)
		return err
	})
	owner := a.cohorts[1]
	q := &sliceQuestion{Org: nodes[1].no, Measure: measureOutcomes, Slices: []int{0, 1, 2}, Count: 3}
	answered := panicEverywhere(t, owner, func(newTally func(*analytics.Params) *brittle) error {
		_, err := answerSlices(t.Context(), owner, q, p, newTally)
		return err
	})
	if asked < 5 || answered < patients {
		t.Errorf("only %d and %d panics", asked, answered)
	}
	for i, node := range nodes {
		if got := node.scored(t); got != patients {
			t.Errorf("node %d: afterwards %d patients, want %d", i, got, patients)
		}
	}
}

// A panic while patients are read, for a model, a pass or a slice, is an error of
// those who need them, and does not spoil the model.
func TestPanicsWhileReading(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		const patients = 20
		h := newHospital(t, open(), "general", nil)
		h.enroll(t, patients-1)
		last := storetest.AddPatient(t, h.Org, "Berta Wren")
		var left atomic.Int64 // calls until one panics
		step := func() {
			if left.Add(-1) == 0 {
				panic("unreadable")
			}
		}
		k := *charts
		k.size = 4
		k.read = func(ctx context.Context, org store.Org, first, last int64) (*panel, error) {
			step()
			return readPanel(ctx, org, first, last)
		}
		k.once = k.read
		k.follow = func(ctx context.Context, org store.Org, panels []*panel, after journal.Pos, most int64) ([]*panel, journal.Pos, bool, error) {
			step()
			return followCharts(ctx, org, panels, after, most)
		}
		cs := New(plenty, nil)
		for _, test := range []struct {
			name  string
			calls int64
		}{{"loads", 3}, {"follows", 1}} {
			left.Store(test.calls)
			if _, _, err := fresh(t.Context(), cs, h.Org, &k); err == nil || cs.inUse() != "" {
				t.Errorf("a panic of a model that %s: %v; %s", test.name, err, cs.inUse())
			}
			chunks, release, err := fresh(t.Context(), cs, h.Org, &k)
			if err != nil || len(chunks) != patients/4 {
				t.Fatalf("after a panic of a model that %s: %d chunks; %v", test.name, len(chunks), err)
			}
			release()
		}
		cs = New(0, nil)
		left.Store(3)
		if _, err := streamSome(t.Context(), cs, h.Org, &k, "", checked(t, analytics.Request{}), analytics.NewOutcomesTally, "", nil); err == nil || cs.inUse() != "" {
			t.Errorf("a panic of a pass: %v; %s", err, cs.inUse())
		}
		part := newHolding(4)
		part.room = func(int64) bool {
			step()
			return true
		}
		wanted, keep := []int{0, 1, 2, 3, 4}, func(int) bool { return true }
		for _, calls := range []int64{3, 1} { // it reads a slice, and it applies changes
			left.Store(calls)
			if _, _, err := part.fresh(t.Context(), h.Org, wanted, keep); err == nil {
				t.Error("a panic of slices was lost")
			}
			held, _, err := part.fresh(t.Context(), h.Org, wanted, keep)
			if err != nil || len(held) != len(wanted) {
				t.Errorf("after a panic of slices: %d; %v", len(held), err)
			}
			h.addScore(t, last.ID, 5)
		}
	})
}
