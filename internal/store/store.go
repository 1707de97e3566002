// Package store stores all data of the service, on SQLite or PostgreSQL. It
// opens the database and the files next to it, and provides two views of the
// data. The tables are in the packages below it, by subject, and the engines in
// internal/store/engine. Clinical rules are in internal/pain; callers decide
// who has access.
//
// An organisation's data is accessible only through [Store.For], which
// restricts every statement to that organisation. Everything that belongs to no
// organisation or to all of them (tokens, purges, seals) is on [System].
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store/accounts"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/private"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/store/signal"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// Config describes the database to open.
type Config struct {
	// Database is "sqlite:PATH" or a PostgreSQL connection string.
	Database string
	// Key is the key of an encrypted SQLite file; a new file is encrypted if it
	// is set. It is nil for an unencrypted file. PostgreSQL ignores it.
	Key *seal.Key
	// DataDir holds what must not be in the database: the audit key, the master
	// key, the spool of audit lines of reads, and the record of sealed heads.
	// It is created if missing.
	DataDir string
	// Wait is how long to wait for a PostgreSQL server that cannot be reached.
	// Zero means to fail at once.
	Wait time.Duration
	// Patience replaces the limits of waits for PostgreSQL; see
	// [engine.Config]. Some tests set it.
	Patience time.Duration
	// Restore names the restore that opens the database, and is empty otherwise:
	// only that restore can open it before [System.EndRestore].
	Restore string
	// Now is the clock. The default is time.Now.
	Now func() time.Time
	// Log is the logger. The default is slog.Default().
	Log *slog.Logger
	// Registry registers the metrics of the store, if not nil.
	Registry prometheus.Registerer
	// KeyWait is how long a request waits for the first one with its
	// Idempotency-Key. The default is 5 s. Some tests reduce it.
	KeyWait time.Duration
	// Tracer creates spans for calls within a traced request, if not nil.
	Tracer trace.Tracer
	// Observe, if set, is called for every round trip to the database, with the
	// context of the caller and the statements sent together. Tests use it to
	// count the cost of a request.
	Observe engine.Observe
}

// Store is an open database.
type Store struct {
	db      *engine.DB
	journal *journal.Journal
	metrics *metrics
	dataDir string
	// sealKey and masterKey are the keys in the data directory, for backups.
	sealKey, masterKey []byte
	master             *seal.Master

	accounts accounts.System
	clients  clients.System
	patients patients.System
	reports  reports.System
	webhooks webhooks.System
	keys     *idempotency.Keys

	// erased is broadcast after an erasure by this process.
	erased *signal.Signal

	closing sync.Once
	closed  error
}

// Engine returns the configuration of the database itself.
func (c Config) Engine() engine.Config {
	return engine.Config{Database: c.Database, Key: c.Key, Wait: c.Wait, Patience: c.Patience, Restore: c.Restore, Now: c.Now, Log: c.Log, Registry: c.Registry, Tracer: c.Tracer, Observe: c.Observe}
}

// Migrate brings the database to the schema of this program and returns the
// steps taken. Nodes that start at the same time wait for each other. Either
// all steps are applied or none.
func Migrate(ctx context.Context, cfg Config) (taken []engine.Migration, err error) {
	return engine.Migrate(ctx, cfg.Engine())
}

// Distribute is [Migrate] that also distributes the tables over a Citus cluster.
// It is safe to call again.
func Distribute(ctx context.Context, cfg Config) (taken []engine.Migration, placed []engine.Placed, err error) {
	return engine.Distribute(ctx, cfg.Engine())
}

// Open opens the database, which must have been migrated, and the files next to
// it. The error explains why a database cannot be used with this program.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if err := engine.MustExist(cfg.Database); err != nil {
		return nil, err
	}
	db, err := engine.Open(ctx, cfg.Engine())
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, metrics: newMetrics(cfg.Registry, db), erased: signal.New()}
	if err := s.openBeside(ctx, cfg); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// DefaultDataDir returns the default data directory of a database.
func DefaultDataDir(database string) string {
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
		return path + ".d"
	}
	return "anodyne.d"
}

// openBeside checks the schema, and opens the data directory and the tables,
// which need it.
func (s *Store) openBeside(ctx context.Context, cfg Config) (err error) {
	dir := cfg.DataDir
	if err := s.db.CheckVersion(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	private.Tighten(s.db.Log, besideKeys(dir)...)
	s.dataDir = dir
	if s.sealKey, err = s.openKey(ctx, dir, auditKeyFile); err != nil {
		return err
	}
	if s.masterKey, err = s.openKey(ctx, dir, masterKeyFile); err != nil {
		return err
	}
	if s.master, err = seal.NewMaster(s.masterKey); err != nil {
		return err
	}
	if s.journal, err = journal.Open(s.db, dir, s.sealKey, cfg.Registry); err != nil {
		return err
	}
	keys := idempotency.New(s.db, s.journal, s.master, cfg.KeyWait)
	s.keys = keys
	s.accounts, s.clients = accounts.New(s.db, s.journal), clients.New(s.db, s.journal)
	s.patients = patients.New(s.db, s.journal, keys, cfg.Registry)
	s.reports = reports.New(s.db, s.journal, keys, cfg.Registry)
	s.webhooks = webhooks.New(s.db, s.journal, keys, s.master)
	_ = s.System().measureFiles() // for the first scrape; KeepMeasured reports failures
	return nil
}

// Close stops the writer and closes the database. The workers must be stopped
// first. It may be called more than once.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closed = errors.Join(s.journal.Close(), s.db.Close()) })
	return s.closed
}

// Master returns the key that seals secrets stored in the database in a
// recoverable form.
func (s *Store) Master() *seal.Master { return s.master }

// ExportDir returns the directory for temporary files of exports, which is
// created if missing.
func (s *Store) ExportDir() (string, error) {
	dir := filepath.Join(s.dataDir, "exports")
	return dir, os.MkdirAll(dir, 0o700)
}

// Engine returns "sqlite" or "postgres", for display.
func (s *Store) Engine() string { return s.db.Engine() }

// Shared reports whether several nodes can serve the database at once.
func (s *Store) Shared() bool { return s.db.Shared() }

// BoundsCounts reports whether requests are counted within about a minute even
// if their context has no deadline and the database hangs.
func (s *Store) BoundsCounts() bool { return s.db.Dialect().Gathers }

// Distributed reports whether the tables are distributed over a Citus cluster.
func (s *Store) Distributed() bool { return s.db.Distributed() }

// Ping returns an error if the database does not respond or does not accept
// writes.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// Database returns the database itself, for the packages of the store and their
// tests. Its statements are not restricted to an organisation.
func (s *Store) Database() *engine.DB { return s.db }

// Journal returns the journal itself, for the packages of the store and their
// tests.
func (s *Store) Journal() *journal.Journal { return s.journal }
