package engine

// Row is one row of a result.
type Row interface {
	// Int returns an integer column.
	Int(column int) int64
	// Text returns a copy of a text column.
	Text(column int) string
	// Raw returns a text or blob without copying it. It is valid until the next
	// row.
	Raw(column int) []byte
	// IsNull reports whether a column is NULL.
	IsNull(column int) bool
}

// Stmt is a statement with its arguments. Each, if set, is called for every row
// of the result.
type Stmt struct {
	SQL  string
	Args []any
	Each func(Row) error
	// Changed, if set, is called with the number of rows that the statement
	// changed. It is not set together with Each. On SQLite, it takes less time than
	// RETURNING to find out whether a row was inserted: for that, SQLite copies
	// pages, to be able to undo the statement alone.
	Changed func(rows int64)
	// Alike is set for an INSERT of one row that the engine may combine with
	// adjacent statements into one: those with the same SQL and the
	// same first Alike arguments, which are integers. If the SQL replaces rows
	// on a conflict, the next argument must be the rest of the key. The SQL
	// is INSERT INTO ... VALUES (...), or INSERT INTO ... SELECT ... FROM one table.
	// With Changed, which only SQLite combines, it ends with ON CONFLICT DO NOTHING.
	Alike int
}

// Tx runs the statements of one transaction, on either engine. SQL is written
// once, with $1 placeholders and without functions that only one engine has.
// "/*FOR UPDATE*/" locks rows on PostgreSQL; on SQLite, which has a single
// writer, it is a comment. "/*FOR UPDATE SKIP LOCKED*/" also skips rows that
// another transaction has locked.
//
// Arguments are int64, int, string, []byte, bool or nil, or [Late] in deferred
// statements.
type Tx interface {
	// Exec runs a statement and returns the number of rows it changed.
	Exec(sql string, args ...any) (int64, error)
	// Query calls each for every row.
	Query(sql string, each func(Row) error, args ...any) error
	// Many runs statements in order, on PostgreSQL in one round trip.
	Many(stmts ...Stmt) error
	// Last defers statements to the end of the transaction, where they run in
	// order. On PostgreSQL they are sent together with COMMIT, so that
	// contended rows are locked as briefly as possible, and a transaction of
	// only deferred statements takes one round trip.
	Last(stmts ...Stmt)
}

// One reads a single row. It reports whether there was one.
func One(tx Tx, sql string, scan func(Row), args ...any) (found bool, err error) {
	err = tx.Query(sql, func(r Row) error {
		found = true
		scan(r)
		return nil
	}, args...)
	return found, err
}

// Shift returns a view of r that starts at column by.
func Shift(r Row, by int) Row { return shifted{r, by} }

// shifted is a row without its first columns.
type shifted struct {
	Row
	by int
}

func (s shifted) Int(i int) int64   { return s.Row.Int(i + s.by) }
func (s shifted) Text(i int) string { return s.Row.Text(i + s.by) }
func (s shifted) Raw(i int) []byte  { return s.Row.Raw(i + s.by) }
func (s shifted) IsNull(i int) bool { return s.Row.IsNull(i + s.by) }
