// Package store keeps everything the service knows, on SQLite or PostgreSQL.
// It opens the database and what stands beside it, and gives the two ways to the
// data; the tables are in the packages below it, by subject, and the engines in
// internal/store/engine. Rules live in internal/pain; who may ask is decided
// above.
//
// An organisation's data is reached only through [Store.For], whose view
// binds every statement to that organisation. What belongs to no organisation
// or to all of them (tokens, purges, seals) is on [System].
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
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
	"anodyne.example/anodyne/internal/store/webhooks"
)

// Config says which database to open, and how.
type Config struct {
	// Database is "sqlite:PATH" or a PostgreSQL address.
	Database string
	// Key opens a SQLite file that is encrypted, and makes a new one so; nil
	// for one in the clear. PostgreSQL does not use it.
	Key *seal.Key
	// DataDir holds what must not be in the database: the audit key, the
	// master key, the spool of read lines and the record of what was sealed.
	// It is made when missing.
	DataDir string
	// Wait is how long a PostgreSQL that cannot be reached is waited for; zero
	// fails at once.
	Wait time.Duration
	// Now is the clock; time.Now when nil.
	Now func() time.Time
	// Log is slog.Default() when nil.
	Log *slog.Logger
	// Registry takes the store's metrics; nil keeps them to itself.
	Registry prometheus.Registerer
	// KeyWait is how long a request waits for the first one with its
	// Idempotency-Key; 5 s when zero. Tests shorten it.
	KeyWait time.Duration
	// Tracer makes spans of what is asked for within a traced request; nil for
	// none.
	Tracer trace.Tracer
	// Observe, if set, is told of every round trip to the database, with the
	// context of the one who asked and the statements that went out together.
	// Tests count with it what a request costs.
	Observe engine.Observe
}

// Store is an open database.
type Store struct {
	db      *engine.DB
	journal *journal.Journal
	metrics *metrics
	dataDir string
	// sealKey and masterKey are the keys of the data directory, for backups.
	sealKey, masterKey []byte
	master             *seal.Master

	accounts accounts.System
	clients  clients.System
	patients patients.System
	reports  reports.System
	webhooks webhooks.System

	closing sync.Once
	closed  error
}

// Engine is the part of it that the database itself is opened with.
func (c Config) Engine() engine.Config {
	return engine.Config{Database: c.Database, Key: c.Key, Wait: c.Wait, Now: c.Now, Log: c.Log, Registry: c.Registry, Tracer: c.Tracer, Observe: c.Observe}
}

// Migrate brings the database to this program's schema and returns the steps
// it took. Nodes that start at once wait for each other; all steps happen or
// none.
func Migrate(ctx context.Context, cfg Config) (taken []engine.Migration, err error) {
	return engine.Migrate(ctx, cfg.Engine())
}

// Open opens the database, which must have been migrated, and what stands
// beside it. A database that this program does not fit is refused in words.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	db, err := engine.Open(ctx, cfg.Engine())
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, metrics: newMetrics(cfg.Registry, db)}
	if err := s.openBeside(ctx, cfg); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// DefaultDataDir is where a database's audit key and spool go unless
// configured.
func DefaultDataDir(database string) string {
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
		return path + ".d"
	}
	return "anodyne.d"
}

// openBeside checks the schema, and opens what stands in the data directory and
// the tables, which need it.
func (s *Store) openBeside(ctx context.Context, cfg Config) error {
	dir := cfg.DataDir
	if err := s.db.CheckVersion(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	private.Tighten(s.db.Log, besideKeys(dir)...)
	s.dataDir = dir
	var err error
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
	s.accounts, s.clients = accounts.New(s.db, s.journal), clients.New(s.db, s.journal)
	s.patients = patients.New(s.db, s.journal, keys, cfg.Registry)
	s.reports = reports.New(s.db, s.journal, keys)
	s.webhooks = webhooks.New(s.db, s.journal, keys, s.master)
	_ = s.System().measureFiles() // so that the first scrape has them; KeepMeasured tells what fails
	return nil
}

// Close stops the writer and closes the database. The workers must have been
// stopped before. Twice is safe.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closed = errors.Join(s.journal.Close(), s.db.Close()) })
	return s.closed
}

// Master seals secrets that are kept in the database and must be readable
// again.
func (s *Store) Master() *seal.Master { return s.master }

// Engine is "sqlite" or "postgres", for people to read.
func (s *Store) Engine() string { return s.db.Engine() }

// Shared reports whether several nodes may serve the database at once.
func (s *Store) Shared() bool { return s.db.Shared() }

// Ping reports whether the database answers, and takes writes.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// Database is the database itself, for the packages of the store and their
// tests: what it runs is bound to no organisation.
func (s *Store) Database() *engine.DB { return s.db }

// Journal is the journal itself, for the packages of the store and their tests.
func (s *Store) Journal() *journal.Journal { return s.journal }
