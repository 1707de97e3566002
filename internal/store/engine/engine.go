package engine

import (
	"context"
	"log/slog"
	"time"
)

// engine is implemented by SQLite and PostgreSQL.
type engine interface {
	// read runs statements that each see the latest committed state.
	read(ctx context.Context, fn func(Tx) error) error
	// snapshot runs statements that all see the same committed state.
	snapshot(ctx context.Context, fn func(Tx) error) error
	// write runs fn in its own transaction and returns once it is durable. fn
	// may run more than once and must not have other side effects. The context
	// is honoured until fn starts.
	write(ctx context.Context, fn func(Tx) error) error
	// lookup runs one statement that reads a few rows; see [DB.Lookup].
	lookup(ctx context.Context, sql string, each func(Row) error, args ...any) error
	// tally adds a call to the next round, and startTallies starts that; see
	// [DB.Tally].
	tally(ctx context.Context, sql string, numbers []int64, tell func(Row, error))
	startTallies()
	// migrate is a write that excludes all other migrations.
	migrate(ctx context.Context, fn func(Tx) error) error
	// tell sends a text to the nodes that listen on the channel; listen receives
	// such texts, and elect takes part in elections, until the context ends.
	// With a single node, all of them do nothing.
	tell(ctx context.Context, channel, text string) error
	listen(ctx context.Context, n *nodes, log *slog.Logger) error
	elect(ctx context.Context, n *nodes, log *slog.Logger) error
	// failing returns the error of a recent write that failed for a reason an
	// operator has to fix, such as a full disk.
	failing() error
	// workerFailed returns when a statement last failed because of a worker; see
	// [DB.WorkerFailed].
	workerFailed() time.Time
	// workers checks the workers of a Citus cluster; see [DB.Workers].
	workers(ctx context.Context) (workerState, error)
	// attend takes the lock of a node until leave is called or the process
	// ends; attends reports whether any process holds it, and is meaningful
	// only where Dialect.Locks is empty.
	attend(ctx context.Context, node int64) (leave func(), err error)
	attends(node int64) bool
	// awaited reports whether another process waits for the end of a
	// transaction.
	awaited() bool
	// expectBulk prepares for writing much data.
	expectBulk(ctx context.Context) error
	// connections returns the state of the connection pool.
	connections() poolState
	// files returns the files of the database. It is empty if the database is
	// on another machine.
	files() Files
	// rewriteTables removes deleted rows from the files; see [DB.Rewrite].
	rewriteTables(ctx context.Context, tables []string) error
	dialect() *Dialect
	close() error
}

// Dialect holds the parts of SQL that differ between the engines.
type Dialect struct {
	name string
	// Journal appends an entry within the writing transaction. Where that is
	// what gives it its position, JournalHead advances the head by a number of
	// entries first, and the last argument is how many come after the entry.
	Journal, JournalHead string
	// Sequenced reports whether a sequencer assigns positions to journal
	// entries. Otherwise the writing transaction does.
	Sequenced bool
	// Shared reports whether several nodes can serve the database at once.
	Shared bool
	// Distributed reports whether the rows of organisations are on several
	// servers. A statement is then cheap only if it concerns the rows of one
	// organisation in one table, whose number is an argument, or inserts values.
	Distributed bool
	// Hurried lets the COMMIT of the transaction return before it is durable.
	// It is empty where the engine cannot do that.
	Hurried string
	// Gathers reports whether every statement costs a round trip, so that calls
	// are worth combining with [Rounds].
	Gathers bool
	// Integrity checks the structure of the database and returns "ok" or the
	// problems found. It is empty where the engine checks by itself.
	Integrity string
	// system is the name of the engine in OpenTelemetry.
	system string
	// hasTable returns a row if a table exists.
	hasTable string
	// hasExtension returns a row if the database has an extension. It is empty
	// where there are none.
	hasExtension string
	// Numbered selects the patients of an organisation whose numbers are in a
	// JSON list, in its order.
	Numbered string
	// Identified selects the first records of some types, given as a bit set,
	// among those of an organisation whose identifiers are in a JSON list of
	// hexadecimal numbers: the columns of a record, its place in the list from
	// 0, and its patient, in the order of the list.
	Identified string
	// Timed selects the records of a patient, of some types, given as a bit set,
	// and up to a status, whose clinical times are in a JSON list: identifiers,
	// times, types and values, in any order.
	Timed string
	// Named selects and locks the patients of an organisation whose identifiers
	// are in a JSON list of hexadecimal numbers, in its order: their numbers and
	// identifiers.
	Named string
	// AddMembers adds the patients whose numbers are in a JSON list to a cohort.
	AddMembers string
	// Changed selects the subjects of the entries after a position, and the
	// head.
	Changed string
	// parts selects the number of a part and an organisation in it, for all
	// organisations; see [DB.EachPart]. It is empty where all of them are in one
	// file.
	parts string
	// tampered lists triggers, rules and views that could alter the audit log
	// unnoticed.
	tampered string
	// LockKey locks a number until the end of the transaction. It is empty
	// where transactions are serial anyway.
	LockKey string
	// ShareKey is the shared form of LockKey.
	ShareKey string
	// Locks lists the nodes that hold their lock. It is empty where
	// [DB.Attends] reports it.
	Locks string
	// Pending returns the number of journal entries without a position, up to a
	// limit, and the time of the oldest, or 0.
	Pending string
	DumpDialect
}

// Files holds the paths of a database on this machine.
type Files struct{ Database, Log string }

func (e *sqliteEngine) files() Files   { return Files{e.path, e.path + "-wal"} }
func (e *postgresEngine) files() Files { return Files{} }
