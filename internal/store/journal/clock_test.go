package journal_test

import (
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Events are in the order of their commits, whatever the clock shows.
func TestJournalWithAClockPutBack(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		var names []string
		for _, jump := range []time.Duration{0, -time.Hour, 2 * time.Hour, -24 * time.Hour} {
			now.Pass(jump)
			p, err := storetest.TryPatient(t, o)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, p.ID.String())
		}
		storetest.Settle(t, all[0])
		events, _, err := o.Events(t.Context(), 0, 100)
		if err != nil || len(events) != len(names) {
			t.Fatalf("%d events, %v", len(events), err)
		}
		var listed []string
		if total, err := o.PatientPage(t.Context(), 1, 100, func(p patients.PatientItem) { listed = append(listed, p.ID.String()) }); int(total) != len(names) || err != nil {
			t.Fatalf("%d patients, %v", total, err)
		}
		for i, name := range names {
			if listed[i] != name {
				t.Errorf("patient %d is %s, want %s", i, listed[i], name)
			}
		}
	})
}
