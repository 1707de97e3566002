package engine

import (
	"slices"
	"strconv"
)

// Citus executes INSERT ... SELECT without a distributed table as COPY, and
// commits that in two phases, even if all rows are on one worker. Rows for a
// distributed table are therefore inserted by a list of values, which needs
// neither.

// valuesSizes are the numbers of rows in one statement. Any number of rows needs
// few statements, and there are few different ones to prepare.
var valuesSizes = []int{128, 96, 64, 48, 32, 24, 16, 12, 8, 7, 6, 5, 4, 3, 2, 1}

// insertValues returns statements that insert the rows of several that are alike.
func (e *postgresEngine) insertValues(stmts []Stmt) (all []Stmt) {
	for len(stmts) > 0 {
		n := valuesSizes[slices.IndexFunc(valuesSizes, func(size int) bool { return size <= len(stmts) })]
		some := stmts[0]
		if n > 1 {
			some = Stmt{SQL: e.forValues(&stmts[0], n), Args: listArgs(nil, stmts[:n])}
		}
		all, stmts = append(all, some), stmts[n:]
	}
	return all
}

// forValues returns the SQL that inserts n rows like that of a statement.
func (e *postgresEngine) forValues(s *Stmt, n int) string {
	key := strconv.Itoa(n) + " " + s.SQL
	if done, ok := e.sqlForAll.Load(key); ok {
		return done.(string)
	}
	done := listOfValues(e.rewrite(s.SQL), s.Alike, len(s.Args), n)
	e.sqlForAll.Store(key, done)
	return done
}
