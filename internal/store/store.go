// Package store keeps everything the service knows, on SQLite or PostgreSQL.
// It owns all SQL: engines, transactions, migrations, the journal, and one
// file for each family of tables. Rules live in internal/pain; who may ask is
// decided above.
//
// An organisation's data is reached only through [Store.For], whose view
// binds every statement to that organisation. What belongs to no organisation
// or to all of them (tokens, purges, seals) is on [System].
package store

import (
	"cmp"
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

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/seal"
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
	Observe Observe
}

// Observe is told of one round trip. It may be called by many at once.
type Observe func(ctx context.Context, sql ...string)

// engine is what differs between SQLite and PostgreSQL.
type engine interface {
	// read runs statements that each see the newest committed state.
	read(ctx context.Context, fn func(Tx) error) error
	// snapshot runs statements that all see the same committed state.
	snapshot(ctx context.Context, fn func(Tx) error) error
	// write runs fn in a transaction of its own and returns once it is
	// durable. fn may run more than once and must not publish anything. The
	// context is honoured until fn starts.
	write(ctx context.Context, fn func(Tx) error) error
	// migrate is a write that excludes all other migrations.
	migrate(ctx context.Context, fn func(Tx) error) error
	// failing gives the fault of a write that just failed for a reason that an
	// operator has to mend, such as a full disk.
	failing() error
	// attend takes the lock of a node, which ends with leave or the process;
	// attends reports whether anybody holds it, unless dialect.locks tells.
	attend(ctx context.Context, node int64) (leave func(), err error)
	attends(node int64) bool
	// connections is the state of the pool.
	connections() poolState
	// files are the database's own files, and folders whose disk it needs; none
	// where another machine has them.
	files() databaseFiles
	dialect() *dialect
	close() error
}

// dialect holds what SQL of the two engines cannot share.
type dialect struct {
	name string
	// journal appends an entry inside the writing transaction.
	journal []string
	// hasTable gives a row when a table is there.
	hasTable string
	// numbered gives the patients of an organisation whose numbers are in a
	// JSON list.
	numbered string
	// changed lists the subjects of entries after a position, and the head.
	changed string
	// tampered lists triggers, rules and views that could change the audit log
	// behind the program's back.
	tampered string
	// lockKey locks a number until the end of the transaction; "" where
	// transactions follow one another anyway.
	lockKey string
	// shareKey is lockKey for those who need not exclude one another.
	shareKey string
	// locks lists the nodes that hold their lock; empty where the engine
	// itself is asked.
	locks string
	// pending counts the journal entries without a position, up to a limit, and
	// says when the oldest was made, or 0.
	pending string
	// size asks for the size of the database; "" where its files tell.
	size string
	dumpDialect
}

// Store is an open database.
type Store struct {
	engine
	now      func() time.Time
	log      *slog.Logger
	metrics  *metrics
	tracer   trace.Tracer
	auditKey []byte
	// masterKey is the key of master, for backups.
	masterKey []byte
	dataDir   string
	master    *seal.Master
	spool     *spool
	witness   *witness
	// written is broadcast after a write of this process; positioned when
	// entries have got their position in the journal, by any node.
	written, positioned *signal
	// followers are told which organisations' journals have grown.
	followers followers
	// reportQueued is broadcast when this process puts a report into the queue.
	reportQueued *signal
	// remembered has the aliases of organisations.
	remembered rememberedAliases
	// underway has the Idempotency-Keys of requests that are running.
	underway underway

	closing sync.Once
	closed  error
}

// Open opens the database, which must have been migrated, and what stands
// beside it. A database that this program does not fit is refused in words.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s, err := connect(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := s.openBeside(ctx, cfg.DataDir); err != nil {
		return nil, errors.Join(err, s.engine.close())
	}
	return s, nil
}

// connect opens the engine and judges the schema's version.
func connect(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	engineName := postgresDialect.name
	if strings.HasPrefix(cfg.Database, "sqlite:") {
		engineName = sqliteDialect.name
	}
	s := &Store{now: cfg.Now, log: cfg.Log, tracer: cfg.Tracer, metrics: newMetrics(cfg.Registry, engineName), written: newSignal(), positioned: newSignal(), reportQueued: newSignal(),
		remembered: rememberedAliases{signal: newSignal()}, underway: newUnderway(cmp.Or(cfg.KeyWait, lockWait))}
	var err error
	if path, ok := strings.CutPrefix(cfg.Database, "sqlite:"); ok {
		s.engine, err = openSQLite(path, cfg.Key, s.log, s.metrics, cfg.Observe)
	} else if IsPostgres(cfg.Database) {
		s.engine, err = openPostgres(ctx, cfg.Database, cfg.Wait, s.log, cfg.Observe)
	} else {
		// The address is not repeated: it may hold a password.
		err = errors.New(`the address of the database must be "sqlite:PATH" or "postgres://..."`)
	}
	if err != nil {
		return nil, err
	}
	if cfg.Registry != nil {
		cfg.Registry.MustRegister(newPoolCollector(s.engine.connections))
	}
	return s, nil
}

// IsPostgres reports whether an address is PostgreSQL's.
func IsPostgres(database string) bool {
	return strings.HasPrefix(database, "postgres://") || strings.HasPrefix(database, "postgresql://")
}

// DefaultDataDir is where a database's audit key and spool go unless
// configured.
func DefaultDataDir(database string) string {
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
		return path + ".d"
	}
	return "anodyne.d"
}

// openBeside checks the schema and opens what stands in the data directory.
func (s *Store) openBeside(ctx context.Context, dir string) error {
	if err := s.checkVersion(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	tighten(s.log, besideKeys(dir)...)
	s.dataDir = dir
	var err error
	if s.auditKey, err = s.openKey(ctx, dir, auditKeyFile); err != nil {
		return err
	}
	if s.masterKey, err = s.openKey(ctx, dir, masterKeyFile); err != nil {
		return err
	}
	if s.master, err = seal.NewMaster(s.masterKey); err != nil {
		return err
	}
	s.witness = newWitness(dir, s.auditKey)
	if s.spool, err = openSpool(filepath.Join(dir, spoolFolder)); err != nil {
		return err
	}
	_ = s.System().measureFiles() // so that the first scrape has them; KeepMeasured tells what fails
	return nil
}

// Close stops the writer and closes the database. The workers must have been
// stopped before. Twice is safe.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closed = errors.Join(s.spool.close(), s.engine.close()) })
	return s.closed
}

// Engine is "sqlite" or "postgres".
func (s *Store) Engine() string { return s.dialect().name }

// Master seals secrets that are kept in the database and must be readable
// again.
func (s *Store) Master() *seal.Master { return s.master }

// Ping reports whether the database answers, and takes writes.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.failing(); err != nil {
		return err
	}
	return s.read(ctx, func(tx Tx) error {
		return tx.Query(`SELECT version FROM schema_version WHERE version = 0`, func(Row) error { return nil })
	})
}

// Org is one organisation's view of the store.
type Org struct {
	*Store
	org     access.OrgNo
	client  access.ClientNo
	account access.AccountNo
}

// For gives the view of the principal's organisation.
func (s *Store) For(p *access.Principal) Org { return Org{s, p.Org, p.Client, p.Account} }

// No is the organisation of the view.
func (o Org) No() access.OrgNo { return o.org }

// System is the view of workers and of the command line: what belongs to no
// organisation, or to all.
type System struct{ *Store }

// System gives that view.
func (s *Store) System() System { return System{s} }

// millis is how times are kept.
func millis(t time.Time) int64 { return t.UnixMilli() }

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
