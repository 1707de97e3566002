package engine

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
)

// repeated is a call with the same SQL and arguments as an earlier one. Both get
// the same rows, which callers only read.
type repeated struct{ place, first int }

// withoutRepeated returns the distinct calls among some with the same SQL, and
// adds the others to again. Many clients may read the first page of a list at the
// same time.
func withoutRepeated(asked []ask, places []int, again []repeated) (distinct []int, _ []repeated) {
	if len(places) == 1 {
		return places, again
	}
	distinct = make([]int, 0, len(places))
	firsts := make(map[string]int, len(places))
	var key []byte
	for _, place := range places {
		key = key[:0]
		for _, arg := range asked[place].args {
			switch v := arg.(type) {
			case int64:
				key = binary.BigEndian.AppendUint64(key, uint64(v))
			case string:
				key = append(binary.AppendUvarint(key, uint64(len(v))), v...)
			case []byte:
				key = append(binary.AppendUvarint(key, uint64(len(v))), v...)
			}
		}
		if first, ok := firsts[string(key)]; ok {
			again = append(again, repeated{place, first})
		} else {
			firsts[string(key)] = place
			distinct = append(distinct, place)
		}
	}
	return distinct, again
}

// lookups returns the statement for some of the calls, which have the same SQL.
// Each answer gets the rows for its own arguments and no others. The first same
// arguments of all of them are equal.
func (e *postgresEngine) lookups(same int, asked []ask, places []int, answers []found, rows *copied) question {
	first := asked[places[0]]
	if len(places) == 1 {
		return question{calls: places, sql: e.rewrite(first.sql), args: first.args, each: func(r postgresRow) error {
			rows.addTo(answers, places[0], r)
			return nil
		}}
	}
	args := slices.Clone(first.args)
	for n := same; n < len(args); n++ {
		switch args[n].(type) {
		case int64:
			args[n] = column[int64](asked, places, n)
		case string:
			args[n] = column[string](asked, places, n)
		case []byte:
			args[n] = column[[]byte](asked, places, n)
		}
	}
	return question{calls: places, sql: e.forAll(same, first), args: args, each: func(r postgresRow) error {
		rows.addTo(answers, places[r.Int(0)-1], r[1:])
		return nil
	}}
}

// column returns argument n of the calls.
func column[T any](asked []ask, places []int, n int) []T {
	all := make([]T, len(places))
	for i, place := range places {
		all[i] = asked[place].args[n].(T)
	}
	return all
}

// forAll returns the SQL that runs a statement for each element of arrays of
// its arguments after the first same ones, and puts the number of the element
// before its columns. OFFSET keeps PostgreSQL from turning the lookups into a
// join, which could read a whole table.
func (e *postgresEngine) forAll(same int, l ask) string {
	if done, ok := e.sqlForAll.Load(l.sql); ok {
		return done.(string)
	}
	types := arrayTypes(l.args)
	var arrays, names []string
	for i := same; i < len(types); i++ {
		n, array := strconv.Itoa(i+1), types[i]
		arrays = append(arrays, "CAST($"+n+" AS "+array+")")
		names = append(names, "a"+n)
	}
	one := placeholder.ReplaceAllStringFunc(e.rewrite(l.sql), func(p string) string {
		if n, _ := strconv.Atoi(p[1:]); n <= same {
			return p
		}
		return "asked.a" + p[1:]
	})
	done := "SELECT asked.place, found.* FROM unnest(" + strings.Join(arrays, ", ") + ") WITH ORDINALITY AS asked (" + strings.Join(names, ", ") +
		", place) CROSS JOIN LATERAL (" + one + " OFFSET 0) AS found"
	e.sqlForAll.Store(l.sql, done)
	return done
}

// gatherable reports whether a call can be part of a round: it has arguments, and
// arrayTypes knows their types.
func gatherable(args []any) bool {
	for _, arg := range args {
		switch arg.(type) {
		case int64, string, []byte:
		default:
			return false
		}
	}
	return len(args) > 0
}

// arrayTypes returns the array types of arguments.
func arrayTypes(args []any) (types []string) {
	for _, arg := range args {
		switch arg.(type) {
		case int64:
			types = append(types, "BIGINT[]")
		case string:
			types = append(types, "TEXT[]")
		case []byte:
			types = append(types, "BYTEA[]")
		}
	}
	return types
}

// copied holds the rows of a round after the connection has moved on.
type copied struct {
	bytes  []byte
	cells  [][]byte
	firsts []postgresRow // memory for the first row of each answer
}

// newCopied returns memory for n answers.
func newCopied(n int) *copied {
	return &copied{bytes: make([]byte, 0, 512*n), firsts: make([]postgresRow, n)}
}

// addTo adds a row to the answer in a place.
func (c *copied) addTo(answers []found, place int, row postgresRow) {
	to := &answers[place]
	if to.rows == nil {
		to.rows = c.firsts[place : place : place+1]
	}
	to.rows = append(to.rows, c.add(row))
}

func (c *copied) add(row postgresRow) postgresRow {
	if cap(c.cells)-len(c.cells) < len(row) {
		c.cells = make([][]byte, 0, max(2*cap(c.cells), 16*len(row)))
	}
	first := len(c.cells)
	for _, v := range row {
		if v == nil {
			c.cells = append(c.cells, nil)
			continue
		}
		if cap(c.bytes)-len(c.bytes) < len(v) {
			c.bytes = make([]byte, 0, max(2*cap(c.bytes), len(v)))
		}
		from := len(c.bytes)
		c.bytes = append(c.bytes, v...)
		c.cells = append(c.cells, c.bytes[from:len(c.bytes):len(c.bytes)])
	}
	return postgresRow(c.cells[first:len(c.cells):len(c.cells)])
}
