package engine

import (
	"slices"
	"strconv"
	"strings"
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
			some = Stmt{SQL: e.forValues(&stmts[0], n), Args: slices.Clone(some.Args)}
			for _, s := range stmts[1:n] {
				some.Args = append(some.Args, s.Args[s.Alike:]...)
			}
		}
		all, stmts = append(all, some), stmts[n:]
	}
	return all
}

// forValues returns the SQL that inserts n rows. The first Alike arguments are
// those of all rows, followed by the others of each row.
func (e *postgresEngine) forValues(s *Stmt, n int) string {
	key := strconv.Itoa(n) + " " + s.SQL
	if done, ok := e.sqlForAll.Load(key); ok {
		return done.(string)
	}
	before, row, after := valuesOf(e.rewrite(s.SQL))
	rows := make([]string, n)
	for i := range rows {
		rows[i] = placeholder.ReplaceAllStringFunc(row, func(p string) string {
			number, _ := strconv.Atoi(p[1:])
			if number > s.Alike {
				number += i * (len(s.Args) - s.Alike)
			}
			return "$" + strconv.Itoa(number)
		})
	}
	done := before + "VALUES (" + strings.Join(rows, "), (") + ")" + after
	e.sqlForAll.Store(key, done)
	return done
}
