package engine

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"anodyne.example/anodyne/internal/giveway"
)

// sqliteConn is a connection that caches its prepared statements. All SQL of
// the store is constant, so the cache is bounded.
type sqliteConn struct {
	*sqlite3.Conn
	stmts map[stmtKey]*sqliteStmt
	tx    sqliteTx // of the current user
	args  []any    // memory for those of combined statements
	// later is a pragma that is set before the first use, because it parses the
	// schema, which takes milliseconds; most readers of an idle service or of
	// a test are never used.
	later string
	// bulk is set if the connection writes much data. It then gives way to other
	// processes at some points.
	bulk   bool
	points giveway.Points
}

// stmtKey identifies a prepared statement: its SQL, how many such statements are
// combined in it and how, and whether that reports what changed.
type stmtKey struct {
	sql     string
	rows    int
	alike   int
	changed bool
}

// ready sets the pragma that was deferred to the first use.
func (c *sqliteConn) ready() error {
	if c.later == "" {
		return nil
	}
	if err := c.pragma(c.later); err != nil {
		return sqliteError(err)
	}
	c.later = ""
	return nil
}

// begin returns a Tx for a reader, valid until its context ends.
func (c *sqliteConn) begin(ctx context.Context, observe Observe) *sqliteTx {
	c.SetInterrupt(ctx)
	c.tx = sqliteTx{conn: c, ctx: ctx, observe: observe}
	return &c.tx
}

// end is called when the reader is done.
func (c *sqliteConn) end() {
	c.SetInterrupt(context.Background())
	c.tx = sqliteTx{}
}

// busyTimeout is how long a connection waits for the lock of another process.
// Some tests shorten it.
var busyTimeout = 10 * time.Second

// openConn opens a connection. busy_timeout comes first, so that the other
// pragmas wait too.
func openConn(path string, flags sqlite3.OpenFlag, pragmas ...string) (*sqliteConn, error) {
	conn, err := sqlite3.OpenFlags(path, flags)
	if err != nil {
		return nil, err
	}
	c := &sqliteConn{Conn: conn, stmts: map[stmtKey]*sqliteStmt{}}
	if err := conn.BusyTimeout(busyTimeout); err != nil {
		return nil, c.abandon(err)
	}
	// Without this, SQLite plans a statement again whenever the bound of a
	// range changes, that is with every request.
	if _, err := conn.Config(sqlite3.DBCONFIG_ENABLE_QPSG, true); err != nil {
		return nil, c.abandon(err)
	}
	for _, p := range pragmas {
		if err := c.pragma(p); err != nil {
			return nil, c.abandon(err)
		}
	}
	return c, nil
}

// pragma sets a pragma. SQLite itself does not wait if another process is
// switching the file to WAL at the same time.
func (c *sqliteConn) pragma(p string) error {
	for patience := time.Now().Add(busyTimeout); ; time.Sleep(5 * time.Millisecond) {
		err := c.Exec("PRAGMA " + p)
		if !errors.Is(err, sqlite3.BUSY) || time.Now().After(patience) {
			return err
		}
	}
}

func (c *sqliteConn) abandon(err error) error {
	_ = c.close()
	return err
}

func (c *sqliteConn) close() error {
	for _, stmt := range c.stmts {
		_ = stmt.Close()
	}
	clear(c.stmts)
	return c.Conn.Close()
}

// prepared returns the statement, of several rows if it is combined with others,
// reset and with its arguments bound.
func (c *sqliteConn) prepared(s *Stmt, rows int, args []any) (*sqliteStmt, error) {
	key := stmtKey{sql: s.SQL, rows: rows}
	if rows > 1 {
		key.alike, key.changed = s.Alike, s.Changed != nil
	}
	stmt := c.stmts[key]
	if stmt == nil {
		sql := s.SQL
		if rows > 1 {
			sql = combinedSQL(s, rows)
		}
		prepared, _, err := c.PrepareFlags(sqlitePlaceholders(sql), sqlite3.PREPARE_PERSISTENT)
		if err != nil {
			return nil, err
		}
		stmt = &sqliteStmt{Stmt: prepared, bound: make([]any, prepared.BindCount())}
		c.stmts[key] = stmt
	}
	return stmt, stmt.bind(args)
}

// sqlitePlaceholders replaces $1 with ?1. To SQLite, "$1" is a name, bound in
// order of appearance, so that SET x=$2 WHERE id=$1 would swap the two.
func sqlitePlaceholders(sql string) string {
	var b strings.Builder
	quoted := false
	for _, c := range []byte(sql) {
		switch {
		case c == '\'':
			quoted = !quoted
		case c == '$' && !quoted:
			c = '?'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// sqliteTx is a Tx on one connection.
type sqliteTx struct {
	conn    *sqliteConn
	last    []Stmt
	ctx     context.Context // for observe
	observe Observe
	writes  int // how many the transaction combines, if several
}

func (t *sqliteTx) Exec(sql string, args ...any) (int64, error) {
	err := t.run(Stmt{SQL: sql, Args: args})
	return t.conn.Changes(), err
}

func (t *sqliteTx) Query(sql string, each func(Row) error, args ...any) error {
	return t.run(Stmt{SQL: sql, Args: args, Each: each})
}

func (t *sqliteTx) Many(stmts ...Stmt) error {
	for len(stmts) > 0 {
		n := combinable(stmts)
		var err error
		if n > 1 {
			err = t.together(stmts[:n])
		} else {
			err = t.run(stmts[0])
		}
		if err != nil {
			return err
		}
		stmts = stmts[n:]
	}
	return nil
}

func (t *sqliteTx) Last(stmts ...Stmt) { t.last = append(t.last, stmts...) }

func (t *sqliteTx) run(s Stmt) error {
	if err := t.execute(&s, 1, s.Args); err != nil || s.Changed == nil {
		return err
	}
	s.Changed(t.conn.Changes())
	return nil
}

// execute runs a statement, or several rows of it in one.
func (t *sqliteTx) execute(s *Stmt, rows int, args []any) (err error) {
	if t.observe != nil {
		t.observe(t.ctx, s.SQL)
	}
	if t.conn.bulk {
		t.conn.points.Point()
	}
	stmt, err := t.conn.prepared(s, rows, args)
	if err != nil {
		return err
	}
	// A statement that is not reset, for example because Each panicked, would
	// keep the transaction from ending.
	defer func() { err = cmp.Or(err, stmt.Reset()) }()
	for stmt.Step() {
		if s.Each != nil {
			if err := s.Each(sqliteRow{stmt.Stmt}); err != nil {
				return err
			}
		}
	}
	return stmt.Err() // Reset does not report an interrupt before the first row
}

type sqliteRow struct{ stmt *sqlite3.Stmt }

func (r sqliteRow) Int(i int) int64   { return r.stmt.ColumnInt64(i) }
func (r sqliteRow) Text(i int) string { return r.stmt.ColumnText(i) }
func (r sqliteRow) Raw(i int) []byte  { return r.stmt.ColumnRawBlob(i) }
func (r sqliteRow) IsNull(i int) bool { return r.stmt.ColumnType(i) == sqlite3.NULL }
