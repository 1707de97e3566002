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
