package storetest_test

import (
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

func TestMain(m *testing.M) { testwait.Main(m) }

func TestNodesShareADatabase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		here, there := open(), open()
		storetest.Run(t, here, there)
		who := storetest.Client(t, here, "Ours")
		p := storetest.AddPatient(t, here.For(&who), "A")
		if got, err := there.For(&who).Patient(t.Context(), p.ID); got != p || err != nil {
			t.Errorf("the other node has %+v, %v", got, err)
		}
		if events, _, err := there.For(&who).WaitEvents(t.Context(), 0, 10); len(events) != 1 || err != nil {
			t.Errorf("the other node has %d events, %v", len(events), err)
		}
	})
}

func TestDatabasesAreApart(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			storetest.Client(t, storetest.Open(t, engine), "Ours")
			if clients, err := storetest.Open(t, engine).System().Clients(t.Context()); len(clients) != 0 || err != nil {
				t.Errorf("a new database has %d clients, %v", len(clients), err)
			}
		})
	}
}
