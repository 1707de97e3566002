package engine_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// A migration that creates a table must declare where it is in a cluster.
func TestEveryTableHasAPlace(t *testing.T) {
	places := engine.Places()
	created := engine.Created(storetest.Postgres)
	for _, table := range created {
		if places[table] == "" {
			t.Errorf("table %s has no place: add it to the layout", table)
		}
	}
	for table := range places {
		if !slices.Contains(created, table) {
			t.Errorf("there is no table %s", table)
		}
	}
}

// Citus refuses unique keys of distributed tables without the column that
// distributes them, and foreign keys to distributed tables.
func TestPlacesSuitTheSchema(t *testing.T) {
	s, places := storetest.Open(t, storetest.SQLite), engine.Places()
	keys := map[string][]string{}
	for _, row := range storetest.Texts(t, s, 3, schemaSQL["primary key"][storetest.SQLite]) {
		words := strings.Fields(row)
		keys[words[0]] = append(keys[words[0]], words[1])
	}
	check := func(table string, columns []string) {
		if places[table] == engine.ByOrg && !slices.Contains(columns, "org_no") {
			t.Errorf("a unique key of %s, %v, does not contain org_no", table, columns)
		}
	}
	for _, table := range slices.Sorted(maps.Keys(keys)) {
		check(table, keys[table])
	}
	for _, row := range storetest.Texts(t, s, 2, schemaSQL["unique"][storetest.SQLite]) {
		words := strings.Fields(row)
		check(words[0], strings.Split(words[1], ","))
	}
	for _, row := range storetest.Texts(t, s, 3, schemaSQL["reference"][storetest.SQLite]) {
		if words := strings.Fields(row); places[words[2]] != engine.OnCoordinator {
			t.Errorf("%s refers to %s, which is distributed", words[0], words[2])
		}
	}
}

// A database without Citus says what is missing, and stays as it is.
func TestDistributeWithoutCitus(t *testing.T) {
	if pgcluster.Distributed() {
		return // every database has it
	}
	for _, kind := range storetest.Engines {
		t.Run(kind, func(t *testing.T) {
			cfg := storetest.Database(t, kind)
			_, _, err := store.Distribute(t.Context(), cfg)
			if err == nil || !strings.Contains(err.Error(), "citus extension") {
				t.Errorf("got %v", err)
			}
			storetest.Start(t, cfg)
		})
	}
}

// Data stays when the tables are distributed, and doing it again changes
// nothing.
func TestDistribute(t *testing.T) {
	pgcluster.NeedsCitus(t)
	cfg := empty(t, storetest.Postgres)
	storetest.PutKeys(t, cfg.DataDir)
	storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
	s := storetest.Start(t, cfg)
	if got := storetest.Must[string](t)(s.Database().Layout(t.Context())); got != "one server" {
		t.Errorf("without --distribute, the layout is %q", got)
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
		if got := storetest.Must[string](t)(s.Database().Layout(t.Context())); got != "Citus, distributed over 2 workers" {
			t.Errorf("the layout is %q", got)
		}
	}
}

// firstDistributed is the schema version that could be distributed first. Later
// migrations must suit distributed tables too.
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
