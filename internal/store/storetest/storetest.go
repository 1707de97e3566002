// Package storetest provides tests with a real store: a migrated throw-away
// database on either engine, in milliseconds. The suite that every engine must
// pass is in storetest/conformance.
package storetest

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// The engines.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// Engines lists the engines that tests run on: all, or only PostgreSQL in a run
// on a Citus cluster, where its databases are distributed.
var Engines = engines()

func engines() []string {
	if pgcluster.Distributed() {
		return []string{Postgres}
	}
	return []string{SQLite, Postgres}
}

// keys are the key files of all test databases.
var keys = map[string]string{"audit.key": strings.Repeat("5eed", 16), "master.key": strings.Repeat("0123", 16)}

// Database creates a migrated database that lives as long as the test, and
// returns its configuration. It skips tests of PostgreSQL if there is none.
func Database(tb testing.TB, engine string) store.Config {
	tb.Helper()
	return Node(tb, store.Config{Database: address(tb, engine), Log: slog.New(slog.DiscardHandler)})
}

// Node returns the configuration of another node on the same database: it has
// its own data directory, and the same keys.
func Node(tb testing.TB, cfg store.Config) store.Config {
	tb.Helper()
	cfg.DataDir = tb.TempDir()
	PutKeys(tb, cfg.DataDir)
	return cfg
}

// PutKeys writes the shared keys to a data directory, as an operator has to,
// and creates the directory if it is missing.
func PutKeys(tb testing.TB, dir string) {
	tb.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	for name, key := range keys {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(key), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

// Start opens a database until the test ends.
func Start(tb testing.TB, cfg store.Config) *store.Store {
	tb.Helper()
	s, err := store.Open(context.Background(), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("closing the store: %v", err)
		}
	})
	return s
}

// Open opens a new database until the test ends.
func Open(tb testing.TB, engine string) *store.Store {
	tb.Helper()
	return Start(tb, Database(tb, engine))
}

// EachDatabase runs a subtest on a new database of each engine.
func EachDatabase(t *testing.T, test func(t *testing.T, cfg store.Config)) {
	t.Helper()
	for _, engine := range Engines {
		t.Run(engine, func(t *testing.T) { test(t, Database(t, engine)) })
	}
}

// Each runs a subtest on a new database of each engine. Each call of open
// returns another node of one service.
func Each(t *testing.T, test func(t *testing.T, open func() *store.Store)) {
	t.Helper()
	EachDatabase(t, func(t *testing.T, cfg store.Config) {
		test(t, func() *store.Store { return Start(t, Node(t, cfg)) })
	})
}
