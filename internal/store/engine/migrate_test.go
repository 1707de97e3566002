package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// empty returns a database without a schema.
func empty(t *testing.T, engine string) store.Config {
	cfg := store.Config{DataDir: t.TempDir()}
	if engine == storetest.Postgres {
		cfg.Database = pgcluster.Database(t, nil)
	} else {
		cfg.Database = "sqlite:" + filepath.Join(t.TempDir(), "empty.db")
	}
	return cfg
}

func TestMigrateTwice(t *testing.T) {
	for _, kind := range storetest.Engines {
		t.Run(kind, func(t *testing.T) {
			cfg := empty(t, kind)
			cfg.Registry = prometheus.NewRegistry()
			first := storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
			if len(first) != len(engine.Migrations(kind)) {
				t.Errorf("%d steps taken, want all %d", len(first), len(engine.Migrations(kind)))
			}
			if again := storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg)); len(again) != 0 {
				t.Errorf("the second time took %v", again)
			}
			storetest.Start(t, cfg)
		})
	}
}

func TestMigrateManyNodesAtOnce(t *testing.T) {
	for _, kind := range storetest.Engines {
		t.Run(kind, func(t *testing.T) {
			cfg := empty(t, kind)
			var taken atomic.Int64
			storetest.Together(t, 6, func(int) error {
				steps, err := store.Migrate(t.Context(), cfg)
				taken.Add(int64(len(steps)))
				return err
			})
			if want := int64(len(engine.Migrations(kind))); taken.Load() != want {
				t.Errorf("%d steps were taken in all, want %d", taken.Load(), want)
			}
			storetest.Start(t, cfg)
		})
	}
}

// A node waits for another's migration however long that takes: the deadline of
// a statement does not apply.
func TestMigrationWaitsForAnother(t *testing.T) {
	cfg := empty(t, storetest.Postgres)
	conn := storetest.Must[*pgx.Conn](t)(pgx.Connect(t.Context(), cfg.Database))
	defer conn.Close(t.Context())
	storetest.Must[pgconn.CommandTag](t)(conn.Exec(t.Context(), `SELECT pg_advisory_lock($1)`, int64(engine.MigrationLock)))
	database := cfg.Database // without the deadlines, which a busy machine may exceed
	cfg.Database += "&statement_timeout=3000&lock_timeout=3000"
	migrated := make(chan error, 1)
	go func() {
		_, err := store.Migrate(t.Context(), cfg)
		migrated <- err
	}()
	until(t, "it waits for longer than its deadlines", func() bool {
		if len(migrated) > 0 {
			t.Fatalf("it did not wait: %v", <-migrated)
		}
		return storetest.AskPostgres(t, database, `SELECT true FROM pg_stat_activity WHERE datname = current_database()
			AND wait_event = 'advisory' AND clock_timestamp() - query_start > '4 s'`)
	})
	storetest.Must[pgconn.CommandTag](t)(conn.Exec(t.Context(), `SELECT pg_advisory_unlock($1)`, int64(engine.MigrationLock)))
	if err := <-migrated; err != nil {
		t.Error(err)
	}
}

func TestUnmigratedIsRefused(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			_, err := store.Open(t.Context(), empty(t, engine))
			if err == nil || !strings.Contains(err.Error(), "run: anodyne migrate") {
				t.Errorf("got %v, want to be told to migrate", err)
			}
		})
	}
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s := storetest.Start(t, cfg)
		storetest.Exec(t, s, `INSERT INTO schema_version (version, name, applied_at) VALUES (9999, 'future', 0)`)
		_, openErr := store.Open(t.Context(), storetest.Node(t, cfg))
		_, migrateErr := store.Migrate(t.Context(), cfg)
		for _, err := range []error{openErr, migrateErr} {
			newer, ok := errors.AsType[*engine.NewerError](err)
			if !ok {
				t.Fatalf("got %v, want a NewerError", err)
			}
			if newer.Have != 9999 || newer.Know >= 9999 {
				t.Errorf("got %+v", newer)
			}
		}
	})
}

func TestMigrationsHaveTheSameNames(t *testing.T) {
	sqlite, postgres := engine.Migrations(storetest.SQLite), engine.Migrations(storetest.Postgres)
	if len(sqlite) != len(postgres) {
		t.Fatalf("%d steps on SQLite, %d on PostgreSQL", len(sqlite), len(postgres))
	}
	for i := range sqlite {
		if sqlite[i].Version != int64(i+1) || sqlite[i].Version != postgres[i].Version || sqlite[i].Name != postgres[i].Name {
			t.Errorf("step %d is %d %s on SQLite, %d %s on PostgreSQL", i+1,
				sqlite[i].Version, sqlite[i].Name, postgres[i].Version, postgres[i].Name)
		}
	}
}

func TestForeignKeysAreRefused(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s := storetest.Start(t, cfg)
		sealed := s.Master().Seal([]byte("a secret"), []byte("here"))
		again := storetest.Start(t, storetest.Node(t, cfg))
		if secret, err := again.Master().Open(sealed, []byte("here")); string(secret) != "a secret" || err != nil {
			t.Errorf("another node opens %q, %v", secret, err)
		}
		for want, dir := range map[string]string{
			"is missing, but this database": t.TempDir(),
			"is not the one":                otherKey(t),
		} {
			cfg.DataDir = dir
			if _, err := store.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		cfg = storetest.Node(t, cfg)
		if err := os.Remove(filepath.Join(cfg.DataDir, "master.key")); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "master.key from the node") {
			t.Errorf("without the master key: %v", err)
		}
	})
}

// otherKey returns the data directory of another database.
func otherKey(t *testing.T) string {
	cfg := empty(t, storetest.SQLite)
	storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
	storetest.Start(t, cfg)
	return cfg.DataDir
}

func TestUnknownDatabase(t *testing.T) {
	for _, database := range []string{"", "sqlite:", "mysql://u:s3cret@x", "anodyne.db", "postgres://u:s3cret@x:port/", "postgres://u:s3cret@127.0.0.1:1/x"} {
		_, err := store.Open(t.Context(), store.Config{Database: database, DataDir: t.TempDir()})
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", database, err)
		}
	}
}
