package engine

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/worker"
)

// Config describes the database to open.
type Config struct {
	// Database is "sqlite:PATH" or a PostgreSQL connection string.
	Database string
	// Key is the key of an encrypted SQLite file; a new file is encrypted if it
	// is set. It is nil for an unencrypted file. PostgreSQL ignores it.
	Key *seal.Key
	// Wait is how long to wait for a PostgreSQL server that cannot be reached.
	// Zero means to fail at once.
	Wait time.Duration
	// Patience replaces the limits of waits for PostgreSQL: for a connection, a
	// lock, a statement, and the end of a transaction. Tests that hold something
	// up set it, so that no limit decides in their place.
	Patience time.Duration
	// Restore names the restore that opens the database, and is empty otherwise:
	// only that restore can open it before [DB.EndRestore].
	Restore string
	// Now is the clock. The default is time.Now.
	Now func() time.Time
	// Log is the logger. The default is slog.Default().
	Log *slog.Logger
	// Registry registers the metrics of the connections, if not nil.
	Registry prometheus.Registerer
	// Tracer creates spans for calls within a traced request, if not nil.
	Tracer trace.Tracer
	// Observe, if set, is called for every round trip.
	Observe Observe
}

// Observe is called once per round trip, with the statements it sends. Calls
// may be concurrent.
type Observe func(ctx context.Context, sql ...string)

// DB is an open database on either engine. It runs transactions and knows
// nothing about the meaning of the tables. Its statements are not restricted to
// an organisation.
type DB struct {
	engine
	// Now is the clock.
	Now func() time.Time
	// Log is the logger for operators.
	Log     *slog.Logger
	tracer  trace.Tracer
	restore string
	nodes   *nodes
	parts   parts
}

// Open opens a database without checking its schema. The caller must close it.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	db := &DB{Now: cfg.Now, Log: cfg.Log, tracer: cfg.Tracer, restore: cfg.Restore, nodes: newNodes()}
	metrics := newWriterMetrics(cfg.Registry)
	var err error
	if path, ok := strings.CutPrefix(cfg.Database, "sqlite:"); ok {
		db.engine, err = openSQLite(path, cfg.Key, db.Log, metrics, cfg.Observe)
	} else if IsPostgres(cfg.Database) {
		db.engine, err = openPostgres(ctx, &cfg)
	} else {
		// Do not repeat the address: it may contain a password.
		err = errors.New(`the address of the database must be "sqlite:PATH" or "postgres://..."`)
	}
	if err != nil {
		return nil, err
	}
	if cfg.Registry != nil {
		cfg.Registry.MustRegister(newPoolCollector(db.engine.connections))
		if db.Shared() { // otherwise there are no elections
			db.nodes.rounds = worker.NewRounds(cfg.Registry, electionWorker, pulseEvery)
		}
	}
	return db, nil
}

// IsPostgres reports whether database is a PostgreSQL address.
func IsPostgres(database string) bool {
	return strings.HasPrefix(database, "postgres://") || strings.HasPrefix(database, "postgresql://")
}

// Close waits for writes in progress and closes the connections. Workers must
// be stopped first.
func (db *DB) Close() error { return db.engine.close() }

// Engine returns "sqlite" or "postgres", for display.
func (db *DB) Engine() string { return db.dialect().name }

// Shared reports whether several nodes can serve the database at once.
func (db *DB) Shared() bool { return db.dialect().Shared }

// Dialect returns the parts of SQL that differ between the engines.
func (db *DB) Dialect() *Dialect { return db.engine.dialect() }

// Files returns the files of the database. It is empty if the database is on
// another machine.
func (db *DB) Files() Files { return db.engine.files() }

// Awaited reports whether another process waits until this one, which has the
// write lock of a SQLite file, ends its transaction.
func (db *DB) Awaited() bool { return db.engine.awaited() }

// ExpectBulk prepares this process for writing much data.
func (db *DB) ExpectBulk(ctx context.Context) error { return db.engine.expectBulk(ctx) }

// Attend takes the lock of a node. The lock is held until leave is called or
// the process ends.
func (db *DB) Attend(ctx context.Context, node int64) (leave func(), err error) {
	return db.engine.attend(ctx, node)
}

// Attends reports whether any process holds the lock of a node. It is
// meaningful only where Dialect.Locks is empty.
func (db *DB) Attends(node int64) bool { return db.engine.attends(node) }

// Tell sends a text to all nodes that listen on the channel, this one too. It is
// not part of any transaction. It does nothing on an engine with a single node.
func (db *DB) Tell(ctx context.Context, channel, text string) error {
	return db.engine.tell(ctx, channel, text)
}

// Listen receives what nodes send to the channels of [DB.Hear], and pulses, until
// the context ends. On an engine with a single node it returns at once.
func (db *DB) Listen(ctx context.Context) error { return db.engine.listen(ctx, db.nodes, db.Log) }

// Ping returns an error if the database does not respond or does not accept
// writes.
func (db *DB) Ping(ctx context.Context) error {
	if err := db.failing(); err != nil {
		return err
	}
	return db.Read(ctx, func(tx Tx) error {
		return tx.Query(`SELECT version FROM schema_version WHERE version = 0`, func(Row) error { return nil })
	})
}

// OrgID returns the identifier of an organisation.
func (db *DB) OrgID(ctx context.Context, org access.OrgNo) (found id.Org, err error) {
	err = db.Read(ctx, func(tx Tx) error {
		return tx.Query(`SELECT id FROM org WHERE org_no = $1`, func(r Row) (err error) {
			found, err = id.FromBytes[id.OrgKind](r.Raw(0))
			return err
		}, int64(org))
	})
	if err == nil && found.IsZero() {
		err = fault.Missing("organization", "")
	}
	return found, err
}

// Millis returns t as it is stored, in milliseconds since the Unix epoch.
func Millis(t time.Time) int64 { return t.UnixMilli() }

// FromMillis returns the time stored as ms, in UTC.
func FromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// Moment returns the time in a column, or the zero time if it is null.
func Moment(r Row, column int) (at time.Time) {
	if !r.IsNull(column) {
		at = FromMillis(r.Int(column))
	}
	return at
}

// PurgeSlice is the maximum number of rows that one transaction of a purge
// deletes, so that other writers are not held up.
const PurgeSlice = 500
