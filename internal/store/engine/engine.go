package engine

import "context"

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
	// tell sends a text to whoever listens on the channel, on other nodes; listen
	// calls heard for each such text, until the context ends or the connection
	// does. Where one process serves, both do nothing.
	tell(ctx context.Context, channel, text string) error
	listen(ctx context.Context, channel string, heard func(text string)) error
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
	files() Files
	dialect() *Dialect
	close() error
}

// Dialect holds what SQL of the two engines cannot share.
type Dialect struct {
	name string
	// Journal appends an entry inside the writing transaction.
	Journal []string
	// Sequenced says that entries wait for a sequencer to give them their
	// position; otherwise the writing transaction does.
	Sequenced bool
	// Shared says that several nodes may serve the database at once.
	Shared bool
	// Hurried lets the transaction's COMMIT return before it is on the disk; ""
	// where that is not to be had.
	Hurried string
	// Integrity looks the database's own structure over; it gives "ok" or what is
	// wrong. "" where the engine does so by itself.
	Integrity string
	// system is the engine's name in OpenTelemetry.
	system string
	// hasTable gives a row when a table is there.
	hasTable string
	// Numbered gives the patients of an organisation whose numbers are in a
	// JSON list.
	Numbered string
	// Changed lists the subjects of entries after a position, and the head.
	Changed string
	// Tampered lists triggers, rules and views that could change the audit log
	// behind the program's back.
	Tampered string
	// LockKey locks a number until the end of the transaction; "" where
	// transactions follow one another anyway.
	LockKey string
	// ShareKey is lockKey for those who need not exclude one another.
	ShareKey string
	// Locks lists the nodes that hold their lock; empty where the engine
	// itself is asked.
	Locks string
	// Pending counts the journal entries without a position, up to a limit, and
	// says when the oldest was made, or 0.
	Pending string
	// Size asks for the size of the database; "" where its files tell.
	Size string
	DumpDialect
}

// Files are the files of a database on this machine.
type Files struct{ Database, Log string }

func (e *sqliteEngine) files() Files   { return Files{e.path, e.path + "-wal"} }
func (e *postgresEngine) files() Files { return Files{} }
