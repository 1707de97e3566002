package engine

// Row is one row of an answer. Text, Blob and Raw point into the driver's
// memory: they are good until the next row.
type Row interface {
	Int(column int) int64
	Text(column int) string
	// Raw is a text or blob without a copy.
	Raw(column int) []byte
	IsNull(column int) bool
}

// Stmt is a statement with its arguments. Each, if set, is called for every
// row of the answer.
type Stmt struct {
	SQL  string
	Args []any
	Each func(Row) error
}

// Tx runs statements of one transaction, on either engine. SQL is written
// once, with $1 placeholders and no function that only one engine has;
// "/*FOR UPDATE*/" locks the rows on PostgreSQL, and means nothing on SQLite,
// where there is one writer; "/*FOR UPDATE SKIP LOCKED*/" passes over rows that
// another transaction has locked.
//
// Arguments are int64, int, string, []byte, bool or nil.
type Tx interface {
	// Exec runs a statement and says how many rows it changed.
	Exec(sql string, args ...any) (int64, error)
	// Query calls each for every row.
	Query(sql string, each func(Row) error, args ...any) error
	// Many runs statements in order, on PostgreSQL in one round trip.
	Many(stmts ...Stmt) error
	// Last puts statements off to the end of the transaction, where they run
	// in order; on PostgreSQL they go out together with the COMMIT, so that
	// a row that many writers want is locked as briefly as can be, and a
	// transaction that has nothing else takes one round trip.
	Last(stmts ...Stmt)
}

// One reads a single row; found is false when there is none.
func One(tx Tx, sql string, scan func(Row), args ...any) (found bool, err error) {
	err = tx.Query(sql, func(r Row) error {
		found = true
		scan(r)
		return nil
	}, args...)
	return found, err
}

// Shift gives the row from a column on, which then is its column 0.
func Shift(r Row, by int) Row { return shifted{r, by} }

// shifted is a row whose columns begin later.
type shifted struct {
	Row
	by int
}

func (s shifted) Int(i int) int64   { return s.Row.Int(i + s.by) }
func (s shifted) Text(i int) string { return s.Row.Text(i + s.by) }
func (s shifted) Raw(i int) []byte  { return s.Row.Raw(i + s.by) }
func (s shifted) IsNull(i int) bool { return s.Row.IsNull(i + s.by) }
