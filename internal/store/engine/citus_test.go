//go:build citus

package engine_test

import (
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// Distributing the tables keeps the data, and distributing them again changes
// nothing.
func TestDistribute(t *testing.T) {
	pgcluster.NeedsCitus(t)
	cfg := empty(t, storetest.Postgres)
	storetest.PutKeys(t, cfg.DataDir)
	storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
	s := storetest.Start(t, cfg)
	if s.Database().Distributed() {
		t.Error("the tables are distributed without --distribute")
	}
	who := storetest.Client(t, s, "before")
	p := storetest.AddPatient(t, s.For(&who), "A")
	for _, moved := range []bool{true, false} {
		_, placed, err := store.Distribute(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if len(placed) != len(engine.Places()) {
			t.Errorf("%d tables are listed, want %d", len(placed), len(engine.Places()))
		}
		for _, table := range placed {
			if want := moved && table.Place == engine.ByOrg; table.Moved != want {
				t.Errorf("%s: moved is %t, want %t", table, table.Moved, want)
			}
		}
		s = storetest.Start(t, storetest.Node(t, cfg))
		if got, err := s.For(&who).Patient(t.Context(), p.ID); err != nil || got.Name != p.Name {
			t.Errorf("the patient: %q, %v", got.Name, err)
		}
		if up, down, err := s.Database().Workers(t.Context()); up != 2 || down != 0 || err != nil {
			t.Errorf("%d workers respond, %d do not, %v", up, down, err)
		}
	}
}

// firstDistributed is the first schema version that could be distributed. Later
// migrations must work on distributed tables too.
const firstDistributed = 20

func TestMigrateDistributed(t *testing.T) {
	pgcluster.NeedsCitus(t)
	cfg := empty(t, storetest.Postgres)
	storetest.PutKeys(t, cfg.DataDir)
	if _, err := engine.MigrateTo(t.Context(), cfg.Engine(), firstDistributed, nil); err != nil {
		t.Fatal(err)
	}
	if err := engine.PlaceTables(t.Context(), cfg.Engine()); err != nil {
		t.Fatal(err)
	}
	storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
	s := storetest.Start(t, cfg)
	distributed := storetest.Texts(t, s, 1, `SELECT CAST(logicalrelid AS TEXT) FROM pg_dist_partition WHERE partmethod = 'h'`)
	for table, place := range engine.Places() {
		if slices.Contains(distributed, table) != (place == engine.ByOrg) {
			t.Errorf("%s is not %s", table, place)
		}
	}
}
