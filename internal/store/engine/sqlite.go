package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/ncruces/go-sqlite3"

	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store/private"
)

var sqliteDialect = Dialect{
	name:        "sqlite",
	system:      "sqlite",
	Integrity:   `PRAGMA integrity_check`,
	DumpDialect: sqliteDump,
	JournalHead: `INSERT INTO journal_head (org_no, pos) VALUES ($1, $2) ON CONFLICT (org_no) DO UPDATE SET pos = pos + excluded.pos`,
	// Not INSERT ... SELECT, before which SQLite copies pages to be able to undo
	// it alone.
	Journal: `INSERT INTO journal (org_no, pos, at, subject, event_id, event_type, event_data, audit, packed)
		VALUES ($1, (SELECT pos FROM journal_head WHERE org_no = $1) - $9, $2, $3, $4, $5, $6, $7, $8)`,
	hasTable: `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = $1`,
	Numbered: `SELECT p.patient_no, p.id, p.created_at, p.name, p.date_of_birth FROM json_each($2) AS wanted
		CROSS JOIN patient p WHERE p.org_no = $1 AND p.patient_no = wanted.value ORDER BY wanted.key`,
	Timed: `SELECT r.id, r.recorded_at, r.data_type, r.value FROM json_each($3) AS wanted
		CROSS JOIN clinical_record r WHERE r.org_no = $1 AND r.patient_no = $2 AND r.recorded_at = wanted.value
			AND (CAST(1 AS BIGINT) << CAST(r.data_type AS INTEGER)) & $4 <> 0 AND r.status <= $5`,
	Named: `SELECT p.patient_no, p.id FROM json_each($2) AS wanted
		CROSS JOIN patient p WHERE p.org_no = $1 AND p.id = unhex(wanted.value)`,
	AddMembers: `INSERT INTO cohort_member (org_no, cohort_id, patient_no) SELECT $1, $2, value FROM json_each($3)`,
	Changed: `SELECT pos, subject FROM journal WHERE org_no = $1 AND pos > $2 AND subject IS NOT NULL
		UNION ALL SELECT pos, NULL FROM journal_head WHERE org_no = $1`,
	Pending: `SELECT 0, 0 WHERE $1 > 0`, // the writer assigns positions
	Identified: `SELECT r.id, r.recorded_at, r.data_type, r.status, r.corrects, r.created_at, r.value, r.notes, r.source, r.author, r.encounter_id,
			wanted.key, p.id FROM json_each($2) AS wanted
		CROSS JOIN clinical_record r ON r.org_no = $1 AND r.id = unhex(wanted.value) AND (CAST(1 AS BIGINT) << CAST(r.data_type AS INTEGER)) & $3 <> 0
		CROSS JOIN patient p ON p.org_no = $1 AND p.patient_no = r.patient_no ORDER BY wanted.key LIMIT $4`,
	tampered: `SELECT 'a ' || type || ' named ' || name FROM sqlite_schema WHERE type IN ('trigger', 'view')
		AND tbl_name IN ('journal', 'journal_pending', 'journal_head', 'journal_seal', 'seal_acceptance') ORDER BY 1`,
}

// sqliteEngine is one file with a pool of readers and one writer. Other
// processes may have the file open too.
type sqliteEngine struct {
	path    string
	opened  os.FileInfo // the file when it was opened
	stuck   stuck
	lock    *os.File
	readers *readers
	writer  *writer
	keeper  *logKeeper
	observe Observe
}

// The page caches, in KiB: that of the writer, and those of all readers
// together, so that memory use does not grow with the number of CPUs.
const (
	writerCache  = 32 << 10
	readersCache = 128 << 10
)

// cacheOf returns the pragma for a page cache of the given size in KiB.
func cacheOf(size int) string { return fmt.Sprintf("cache_size = -%d", size) }

func openSQLite(path string, key *seal.Key, log *slog.Logger, m *writerMetrics, observe Observe) (engine, error) {
	if err := makeFile(path); err != nil {
		return nil, err
	}
	private.Tighten(log, besideSQLite(path)...)
	lock, err := shareDatabase(path)
	if err != nil {
		return nil, err
	}
	_ = removeCopy(path + rekeySuffix) // left by a killed process; since we hold the lock, nobody is writing it
	e := &sqliteEngine{path: path, lock: lock, readers: newReaders(max(4, 2*runtime.GOMAXPROCS(0))), observe: observe}
	if e.opened, err = os.Stat(path); err == nil {
		err = e.open(path, key, m)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	// If the umask is not the program's own, SQLite may just have created files
	// that others can read.
	private.Tighten(slog.New(slog.DiscardHandler), besideSQLite(path)...)
	return e, nil
}

// open opens the writer and the readers. If it fails, nothing stays open.
func (e *sqliteEngine) open(path string, key *seal.Key, m *writerMetrics) error {
	file, err := findFile(path, key)
	if err != nil {
		return err
	}
	w, err := file.open(sqlite3.OPEN_READWRITE,
		"journal_mode = wal", "synchronous = full", "foreign_keys = on", cacheOf(writerCache), copyAt(logPages), keepOf(logKeep))
	if err != nil {
		return err
	}
	if err := file.keepCheck(key); err != nil {
		return errors.Join(err, w.close())
	}
	for range e.readers.most() {
		r, err := file.open(sqlite3.OPEN_READWRITE, "query_only = on")
		if err != nil {
			return errors.Join(err, e.readers.abandon(), w.close())
		}
		r.later = cacheOf(readersCache / e.readers.most())
		e.readers.give(r)
	}
	e.writer = startWriter(w, e.lock, e.replaced, m, e.observe)
	e.keepLog(path)
	return nil
}

func (e *sqliteEngine) dialect() *Dialect { return &sqliteDialect }

func (e *sqliteEngine) read(ctx context.Context, fn func(Tx) error) error {
	return e.readWithin(ctx, 0, fn)
}

// readWithin waits at most as long as given for a reader, unless that is 0.
func (e *sqliteEngine) readWithin(ctx context.Context, wait time.Duration, fn func(Tx) error) error {
	c, err := e.readers.take(ctx, wait)
	if err != nil {
		return err
	}
	defer e.readers.give(c) // even if fn panics: the pool must not shrink
	return readError(ctx, fn(c.begin(ctx, e.observe)))
}

func (e *sqliteEngine) snapshot(ctx context.Context, fn func(Tx) error) error {
	return e.read(ctx, func(outer Tx) error {
		tx := outer.(*sqliteTx)
		if _, err := tx.Exec("BEGIN"); err != nil {
			return err
		}
		defer func() {
			tx.conn.SetInterrupt(context.Background())
			_, _ = tx.Exec("ROLLBACK") // nothing was written
		}()
		if err := fn(tx); err != nil {
			return err
		}
		return tx.Many(tx.last...)
	})
}

// readError returns the error of a read: that of the context, or what failed.
func readError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return sqliteError(err)
}

func (e *sqliteEngine) write(ctx context.Context, fn func(Tx) error) error {
	err := e.writer.do(ctx, fn)
	told := sqliteError(err)
	e.stuck.note(err, told)
	return told
}

// migrate only needs the writer: BEGIN IMMEDIATE excludes other processes.
func (e *sqliteEngine) migrate(ctx context.Context, fn func(Tx) error) error {
	return e.write(unhurried(ctx), fn)
}

// tell, listen and elect do nothing: there are no other nodes.
func (e *sqliteEngine) tell(context.Context, string, string) error { return nil }

func (e *sqliteEngine) listen(context.Context, *nodes, *slog.Logger) error { return nil }

func (e *sqliteEngine) elect(context.Context, *nodes, *slog.Logger) error { return nil }

// attend locks a byte in a file opened just for that, because the lock belongs
// to the open file and does not conflict with others on the same one.
func (e *sqliteEngine) attend(_ context.Context, node int64) (leave func(), err error) {
	f, err := shareDatabase(e.path)
	if err != nil {
		return nil, err
	}
	if err := holdByte(f, node); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

func (e *sqliteEngine) awaited() bool { return e.writer.turns.othersWait() }

func (e *sqliteEngine) attends(node int64) bool { return byteHeld(e.lock, node) }

func (e *sqliteEngine) close() error {
	e.keeper.close()
	return errors.Join(e.readers.close(), e.writer.close(), e.lock.Close())
}
