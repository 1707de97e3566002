package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// gathered returns the values of a registry by name and labels.
func gathered(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			name := f.GetName()
			for _, l := range m.Label {
				name += " " + l.GetValue()
			}
			values[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return values
}

// The backlog is measured, with its age, while nothing works on it.
func TestMeasure(t *testing.T) {
	t.Parallel()
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		registry := prometheus.NewRegistry()
		cfg.Registry = registry
		s := storetest.Start(t, cfg)
		sys := s.System()
		measure := func() map[string]float64 {
			t.Helper()
			if err := sys.Measure(t.Context()); err != nil {
				t.Fatal(err)
			}
			return gathered(t, registry)
		}
		onPostgres := s.Engine() == storetest.Postgres
		fresh := measure()
		for _, name := range []string{"anodyne_journal_pending_entries", "anodyne_journal_oldest_pending_seconds", "anodyne_journal_oldest_unsealed_seconds",
			"anodyne_spool_bytes", "anodyne_spool_segments", "anodyne_spool_oldest_seconds", "anodyne_backup_last_success_timestamp_seconds"} {
			if v, there := fresh[name]; !there || v != 0 {
				t.Errorf("%s of a new database: %v, %v", name, v, there)
			}
		}
		if fresh["anodyne_database_bytes"] <= 0 || fresh["anodyne_disk_free_bytes data"] <= 0 || fresh["anodyne_disk_size_bytes data"] < fresh["anodyne_disk_free_bytes data"] {
			t.Errorf("sizes: %v", fresh)
		}
		if _, there := fresh["anodyne_database_wal_bytes"]; there == onPostgres {
			t.Error("a write-ahead log is SQLite's only")
		}
		if fresh["anodyne_store_connections_max"] < 1 || fresh["anodyne_store_connections in_use"]+fresh["anodyne_store_connections idle"] > fresh["anodyne_store_connections_max"] {
			t.Errorf("pool: %v", fresh)
		}

		principal := storetest.Client(t, s, "north")
		org := s.For(&principal)
		storetest.Settle(t, s)
		if _, err := sys.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
		old := storetest.Patient("Anna")
		old.CreatedAt = time.Now().Add(-time.Hour)
		if _, err := org.CreatePatient(t.Context(), &old, storetest.Created(old), nil, idempotency.Outcome{}); err != nil {
			t.Fatal(err)
		}
		waiting := measure()
		if pending, age := waiting["anodyne_journal_pending_entries"], waiting["anodyne_journal_oldest_pending_seconds"]; onPostgres && (pending < 1 || age < 3600) || !onPostgres && pending+age != 0 {
			t.Errorf("%v pending, the oldest since %v s", pending, age)
		}
		storetest.Settle(t, s)
		placed := measure()
		if placed["anodyne_journal_pending_entries"]+placed["anodyne_journal_oldest_pending_seconds"] != 0 ||
			placed["anodyne_journal_unsealed_entries"] != 1 || placed["anodyne_journal_oldest_unsealed_seconds"] < 3600 {
			t.Errorf("after the sequencer: %v", placed)
		}
		if _, err := sys.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
		if sealed := measure(); sealed["anodyne_journal_unsealed_entries"]+sealed["anodyne_journal_oldest_unsealed_seconds"] != 0 {
			t.Errorf("after the sealer: %v", sealed)
		}
		// A missing entry prevents the rest from being sealed.
		storetest.AddPatient(t, org, "Berta")
		storetest.Settle(t, s)
		storetest.Exec(t, s, `DELETE FROM journal WHERE pos = (SELECT max(pos) FROM journal)`)
		storetest.Exec(t, s, `UPDATE journal_seal SET sealed_at = sealed_at - 7200000`)
		if hole := measure(); hole["anodyne_journal_unsealed_entries"] != 1 || hole["anodyne_journal_oldest_unsealed_seconds"] < 7200 {
			t.Errorf("with a hole: %v", hole)
		}

		made := time.Now().Add(-48 * time.Hour)
		for _, at := range []time.Time{made, made.Add(-time.Hour)} { // an older one does not count
			if err := sys.RecordBackup(t.Context(), at); err != nil {
				t.Fatal(err)
			}
		}
		if got := measure()["anodyne_backup_last_success_timestamp_seconds"]; got != float64(made.UnixMilli())/1000 {
			t.Errorf("backup of %v, want %v", got, made.Unix())
		}
	})
}

// The spool includes what processes that died have left.
func TestMeasureSpool(t *testing.T) {
	t.Parallel()
	cfg := storetest.Database(t, storetest.SQLite)
	registry := prometheus.NewRegistry()
	cfg.Registry = registry
	s := storetest.Start(t, cfg)
	principal := storetest.Client(t, s, "north")
	if err := s.For(&principal).Saw(&audit.Entry{At: time.Now(), Action: audit.PatientRead, Resource: "x"}); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(cfg.DataDir, "spool", "01hzzzzzzzzzzzzzzzzzzzzzzz.spool")
	if err := os.WriteFile(left, []byte(strings.Repeat("x", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	hourAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(left, hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}
	if err := s.System().Measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := gathered(t, registry)
	if got["anodyne_spool_segments"] != 2 || got["anodyne_spool_bytes"] <= 1000 || got["anodyne_spool_oldest_seconds"] < 3600 {
		t.Errorf("segments %v, bytes %v, oldest %v s", got["anodyne_spool_segments"], got["anodyne_spool_bytes"], got["anodyne_spool_oldest_seconds"])
	}
}

// Waits for a connection are counted.
func TestPoolWaits(t *testing.T) {
	t.Parallel()
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		if engine.IsPostgres(cfg.Database) {
			cfg.Database += "&pool_max_conns=2"
			if !strings.Contains(cfg.Database, "?") {
				cfg.Database = strings.Replace(cfg.Database, "&", "?", 1)
			}
		}
		registry := prometheus.NewRegistry()
		cfg.Registry, cfg.Patience = registry, testwait.Bound
		s := storetest.Start(t, cfg)
		most := int(gathered(t, registry)["anodyne_store_connections_max"])
		if engine.IsPostgres(cfg.Database) {
			if most <= 2 {
				t.Errorf("at most %d connections, without those for rounds", most)
			}
			most = 2
		}
		release, inside, done := make(chan struct{}), make(chan struct{}), make(chan error)
		for range most + 1 {
			go func() {
				done <- s.Database().Read(t.Context(), func(engine.Tx) error {
					inside <- struct{}{}
					<-release
					return nil
				})
			}()
		}
		for range most {
			<-inside
		}
		testwait.Until(t, "a caller waits", func() bool { return gathered(t, registry)["anodyne_store_connection_waiting"] == 1 })
		if got := gathered(t, registry); got["anodyne_store_connections in_use"] != float64(most) || got["anodyne_store_connections idle"] != 0 {
			t.Errorf("all in use: %v", got)
		}
		close(release)
		<-inside
		for range most + 1 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if got := gathered(t, registry); got["anodyne_store_connection_waits_total"] < 1 || got["anodyne_store_connection_wait_seconds_total"] <= 0 {
			t.Errorf("afterwards: %v", got)
		}
		if !engine.IsPostgres(cfg.Database) {
			return
		}
		if err := s.Database().Lookup(t.Context(), `SELECT 1 FROM setting WHERE name = $1`, func(engine.Row) error { return nil }, "any"); err != nil {
			t.Fatal(err)
		}
		if got := gathered(t, registry); got["anodyne_store_connections in_use"]+got["anodyne_store_connections idle"] != 3 {
			t.Errorf("with a connection for rounds: %v", got)
		}
	})
}
