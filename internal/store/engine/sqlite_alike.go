package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// Statements that are alike are executed as one with a list of values. A row then
// costs about half as much: SQLite starts and ends one statement, and finds the
// place of a row that follows the one before without a search.
//
// OR FAIL keeps the rows before one that cannot be stored, like separate
// statements. Otherwise, SQLite would also copy pages before it changes them, to
// be able to undo the statement alone.

// alikeSizes are the numbers of rows in one statement, so that any number of rows
// needs few statements, and there are few different ones to prepare.
var alikeSizes = []int{16, 8, 4, 2, 1}

const (
	insertVerb = "INSERT"
	orFail     = " OR FAIL"
	doNothing  = " ON CONFLICT DO NOTHING"
)

// combinable returns how many of the statements, from the first, are executed as
// one.
func combinable(stmts []Stmt) int {
	first, n := &stmts[0], 1
	for n < len(stmts) && n < alikeSizes[0] && alike(first, &stmts[n]) {
		n++
	}
	if n == 1 || !strings.HasPrefix(first.SQL, insertVerb+" INTO ") || !strings.Contains(first.SQL, valuesFollow) || first.Changed != nil && !strings.HasSuffix(first.SQL, doNothing) {
		return 1
	}
	return alikeSizes[slices.IndexFunc(alikeSizes, func(size int) bool { return size <= n })]
}

// combinedSQL returns the SQL of n statements in one. If it is to report what
// changed, a row that exists is an error.
func combinedSQL(s *Stmt, n int) string {
	sql := s.SQL
	if s.Changed != nil {
		sql = strings.TrimSuffix(sql, doNothing)
	}
	return insertVerb + orFail + strings.TrimPrefix(listOfValues(sql, s.Alike, len(s.Args), n), insertVerb)
}

// together executes statements that are alike as one.
func (t *sqliteTx) together(stmts []Stmt) error {
	first, c := &stmts[0], t.conn
	c.args = listArgs(c.args[:0], stmts)
	defer clear(c.args)
	err := t.execute(first, len(stmts), c.args)
	if first.Changed == nil {
		return err
	}
	// The rows before the one that failed are new.
	stored := len(stmts)
	if err != nil {
		if !errors.Is(err, sqlite3.CONSTRAINT_PRIMARYKEY) && !errors.Is(err, sqlite3.CONSTRAINT_UNIQUE) {
			return err
		}
		stored = int(c.Changes())
	}
	for i := range stmts[:stored] {
		stmts[i].Changed(1)
	}
	for _, s := range stmts[stored:] {
		if err := t.run(s); err != nil {
			return err
		}
	}
	return nil
}
