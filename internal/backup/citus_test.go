//go:build citus

package backup_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/backup"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// layouts makes a database without content for each layout: on SQLite, on one
// PostgreSQL server (the coordinator), and distributed over a Citus cluster.
var layouts = map[string]func(*testing.T) store.Config{
	"sqlite":   func(t *testing.T) store.Config { return target(t, storetest.SQLite) },
	"postgres": func(t *testing.T) store.Config { return target(t, storetest.Postgres) },
	"citus": func(t *testing.T) store.Config {
		cfg := storetest.Database(t, storetest.Postgres)
		cfg.DataDir = filepath.Join(t.TempDir(), "data")
		return cfg
	},
}

// start migrates a database and opens it.
func start(t *testing.T, cfg store.Config) *store.Store {
	t.Helper()
	storetest.PutKeys(t, cfg.DataDir)
	storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
	return storetest.Start(t, cfg)
}

// same asserts that the content of a database is that of another.
func same(t *testing.T, s *store.Store, want map[string]string) {
	t.Helper()
	got := sums(t, s)
	if len(want) < 10 || !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A database moves between a single server and a Citus cluster by backup and
// restore.
func TestRestoreBetweenLayouts(t *testing.T) {
	pgcluster.NeedsCitus(t)
	for _, way := range [][2]string{{"sqlite", "citus"}, {"postgres", "citus"}, {"citus", "citus"}, {"citus", "sqlite"}, {"citus", "postgres"}} {
		from, to := way[0], way[1]
		t.Run(from+" to "+to, func(t *testing.T) {
			source := start(t, layouts[from](t))
			who := fill(t, source, 50)
			for n := range 5 { // organisations on every worker
				if err := join(source, 10*n); err != nil {
					t.Fatal(err)
				}
			}
			want := sums(t, source)
			path, keys := write(t, source, testKey(t, hexKey))
			cfg := layouts[to](t)
			if _, err := backup.Restore(t.Context(), cfg, keys, path, quiet, nil); err != nil {
				t.Fatal(err)
			}
			restored := storetest.Start(t, cfg)
			same(t, restored, want)
			lives(t, restored, who)
		})
	}
}

// A restore into a Citus cluster that was interrupted can be started over.
func TestRestoreBrokenOffOnCitus(t *testing.T) {
	pgcluster.NeedsCitus(t)
	source := storetest.Open(t, storetest.SQLite)
	who := fill(t, source, 1500)
	want := sums(t, source)
	path, keys := write(t, source, testKey(t, hexKey))
	cfg := layouts["citus"](t)
	brokenOff(t, source, cfg, keys, path)
	if _, err := backup.Restore(t.Context(), cfg, keys, path, quiet, nil); err != nil {
		t.Fatal(err)
	}
	restored := storetest.Start(t, cfg)
	same(t, restored, want)
	lives(t, restored, who)
}

// A backup during which shards move to another worker fails: some of its rows
// would be of another moment.
func TestBackupWhileShardsMove(t *testing.T) {
	pgcluster.NeedsCitus(t)
	s := storetest.Open(t, storetest.Postgres)
	who := fill(t, s, 5)
	err := s.System().Dump(t.Context(), func(*engine.Dump) error {
		storetest.Texts(t, s, 1, `SELECT CAST(citus_move_shard_placement(p.shardid, p.nodename, p.nodeport, n.nodename, n.nodeport, 'block_writes') AS TEXT)
				FROM pg_dist_shard_placement p JOIN pg_dist_node n ON n.groupid > 0 AND n.nodeport <> p.nodeport
				WHERE p.shardid = get_shard_id_for_distribution_column('patient', CAST($1 AS BIGINT))`, int64(who.Org))
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "moved shards") {
		t.Errorf("got %v", err)
	}
	write(t, s, testKey(t, hexKey))
}

// A database on one server moves to a Citus cluster by distributing its tables.
func TestDistributeKeepsEverything(t *testing.T) {
	pgcluster.NeedsCitus(t)
	cfg := layouts["postgres"](t)
	source := start(t, cfg)
	who := fill(t, source, 50)
	for n := range 5 {
		if err := join(source, 10*n); err != nil {
			t.Fatal(err)
		}
	}
	want := sums(t, source)
	if err := source.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Distribute(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	s := storetest.Start(t, cfg)
	same(t, s, want)
	lives(t, s, who)
}
