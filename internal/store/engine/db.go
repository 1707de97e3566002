package engine

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"anodyne.example/anodyne/internal/seal"
)

// Config says which database to open, and how.
type Config struct {
	// Database is "sqlite:PATH" or a PostgreSQL address.
	Database string
	// Key opens a SQLite file that is encrypted, and makes a new one so; nil
	// for one in the clear. PostgreSQL does not use it.
	Key *seal.Key
	// Wait is how long a PostgreSQL that cannot be reached is waited for; zero
	// fails at once.
	Wait time.Duration
	// Now is the clock; time.Now when nil.
	Now func() time.Time
	// Log is slog.Default() when nil.
	Log *slog.Logger
	// Registry takes the metrics of the connections; nil keeps them to itself.
	Registry prometheus.Registerer
	// Tracer makes spans of what is asked for within a traced request; nil for
	// none.
	Tracer trace.Tracer
	// Observe, if set, is told of every round trip.
	Observe Observe
}

// Observe is told of one round trip. It may be called by many at once.
type Observe func(ctx context.Context, sql ...string)

// DB is an open database, on either engine. It knows transactions and nothing
// of what the tables mean; what it runs is bound to no organisation.
type DB struct {
	engine
	// Now is the clock.
	Now func() time.Time
	// Log takes what an operator should know.
	Log    *slog.Logger
	tracer trace.Tracer
}

// Open opens a database, whatever its schema. The caller closes it.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	db := &DB{Now: cfg.Now, Log: cfg.Log, tracer: cfg.Tracer}
	metrics := newWriterMetrics(cfg.Registry)
	var err error
	if path, ok := strings.CutPrefix(cfg.Database, "sqlite:"); ok {
		db.engine, err = openSQLite(path, cfg.Key, db.Log, metrics, cfg.Observe)
	} else if IsPostgres(cfg.Database) {
		db.engine, err = openPostgres(ctx, cfg.Database, cfg.Wait, db.Log, cfg.Observe)
	} else {
		// The address is not repeated: it may hold a password.
		err = errors.New(`the address of the database must be "sqlite:PATH" or "postgres://..."`)
	}
	if err != nil {
		return nil, err
	}
	if cfg.Registry != nil {
		cfg.Registry.MustRegister(newPoolCollector(db.engine.connections))
	}
	return db, nil
}

// IsPostgres reports whether an address is PostgreSQL's.
func IsPostgres(database string) bool {
	return strings.HasPrefix(database, "postgres://") || strings.HasPrefix(database, "postgresql://")
}

// Close ends the connections, after the writes that have begun. The workers
// must have been stopped before.
func (db *DB) Close() error { return db.engine.close() }

// Engine is "sqlite" or "postgres", for people to read.
func (db *DB) Engine() string { return db.dialect().name }

// Shared reports whether several nodes may serve the database at once.
func (db *DB) Shared() bool { return db.dialect().Shared }

// Dialect holds what SQL of the two engines cannot share.
func (db *DB) Dialect() *Dialect { return db.engine.dialect() }

// Files are the database's own files; none where another machine has them.
func (db *DB) Files() Files { return db.engine.files() }

// Attend takes the lock of a node, which ends with leave or the process.
func (db *DB) Attend(ctx context.Context, node int64) (leave func(), err error) {
	return db.engine.attend(ctx, node)
}

// Attends reports whether anybody holds the lock of a node, unless
// Dialect.Locks tells.
func (db *DB) Attends(node int64) bool { return db.engine.attends(node) }

// Tell sends a text to whoever listens on the channel, on other nodes. It is no
// part of a transaction. Where one process serves it does nothing.
func (db *DB) Tell(ctx context.Context, channel, text string) error {
	return db.engine.tell(ctx, channel, text)
}

// Listen calls heard for each text that another node tells on the channel, until
// the context ends or the connection is lost. Where one process serves it returns
// at once.
func (db *DB) Listen(ctx context.Context, channel string, heard func(text string)) error {
	return db.engine.listen(ctx, channel, heard)
}

// Ping reports whether the database answers, and takes writes.
func (db *DB) Ping(ctx context.Context) error {
	if err := db.failing(); err != nil {
		return err
	}
	return db.Read(ctx, func(tx Tx) error {
		return tx.Query(`SELECT version FROM schema_version WHERE version = 0`, func(Row) error { return nil })
	})
}

// Millis is how times are kept.
func Millis(t time.Time) int64 { return t.UnixMilli() }

// FromMillis reads such a time.
func FromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// PurgeSlice is how many rows one transaction of a purge deletes at most, so that
// writers do not wait.
const PurgeSlice = 500
