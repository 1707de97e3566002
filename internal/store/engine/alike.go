package engine

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Most of the cost of inserting a small row is that of its statement. Adjacent
// statements that insert one row each are therefore combined; see [Stmt.Alike].

// alike reports whether two statements can be combined.
func alike(a, b *Stmt) bool {
	return a.Alike > 0 && a.Alike == b.Alike && a.Each == nil && b.Each == nil && (a.Changed == nil) == (b.Changed == nil) && a.SQL == b.SQL &&
		slices.EqualFunc(a.Args[:a.Alike], b.Args[:b.Alike], func(a, b any) bool { return a.(int64) == b.(int64) })
}

const valuesFollow = "VALUES ("

// valuesOf returns the values that a statement inserts, and what is before and
// after them.
func valuesOf(sql string) (before, row, after string) {
	before, after, ok := strings.Cut(sql, valuesFollow)
	depth, end := 1, 0
	for ; end < len(after) && depth > 0; end++ {
		switch after[end] {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	if !ok || depth > 0 {
		panic("not an INSERT of one row: " + sql)
	}
	return before, after[:end-1], after[end:]
}

var placeholder = regexp.MustCompile(`\$\d+`)

// listOfValues turns an INSERT of one row with some arguments into one of n rows.
// The first same arguments are those of all rows, followed by the others of each
// row, as [listArgs] returns them.
func listOfValues(sql string, same, args, n int) string {
	before, row, after := valuesOf(sql)
	rows := make([]string, n)
	for i := range rows {
		rows[i] = placeholder.ReplaceAllStringFunc(row, func(p string) string {
			number, _ := strconv.Atoi(p[1:])
			if number > same {
				number += i * (args - same)
			}
			return "$" + strconv.Itoa(number)
		})
	}
	return before + "VALUES (" + strings.Join(rows, "), (") + ")" + after
}

// listArgs appends the arguments of a list of values with the rows of statements
// that are alike.
func listArgs(args []any, stmts []Stmt) []any {
	args = append(args, stmts[0].Args...)
	for _, s := range stmts[1:] {
		args = append(args, s.Args[s.Alike:]...)
	}
	return args
}
