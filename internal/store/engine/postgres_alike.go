package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Statements that are alike are sent as one, with an array for each column.

const (
	// alikeMost bounds the rows of one statement.
	alikeMost = 1000
	// If there are at least alikeMany rows, columns that are 0 or empty in all of
	// them are not sent. With fewer rows, the set of such columns varies more, and
	// every combination is another statement to prepare.
	alikeMany = 50
)

// combined returns the statements, with adjacent ones that are alike made into one.
func (e *postgresEngine) combined(stmts []Stmt) []Stmt {
	var all []Stmt // nil until some were combined
	for i, end := 0, 0; i < len(stmts); i = end {
		end = i + 1
		for end < len(stmts) && end-i < alikeMost && stmts[i].Changed == nil && alike(&stmts[i], &stmts[end]) && !repeats(stmts[i:end], &stmts[end]) {
			end++
		}
		if end-i > 1 && all == nil {
			all = append(make([]Stmt, 0, len(stmts)), stmts[:i]...)
		}
		switch {
		case end-i > 1 && e.useOf(stmts[i].SQL).spread && strings.Contains(stmts[i].SQL, valuesFollow):
			all = append(all, e.insertValues(stmts[i:end])...)
		case end-i > 1:
			all = append(all, e.insertAll(stmts[i:end]))
		case all != nil:
			all = append(all, stmts[i])
		}
	}
	if all == nil {
		return stmts
	}
	return all
}

// repeats reports whether a statement may replace the row of an earlier one,
// which PostgreSQL does not allow within one statement. The argument after the
// first Alike ones completes the key of the row.
func repeats(earlier []Stmt, s *Stmt) bool {
	return strings.Contains(s.SQL, "DO UPDATE") && slices.ContainsFunc(earlier, func(e Stmt) bool { return e.Args[s.Alike] == s.Args[s.Alike] })
}

// insertAll returns one statement for several that are alike.
func (e *postgresEngine) insertAll(stmts []Stmt) Stmt {
	first := stmts[0]
	args, types := slices.Clone(first.Args[:first.Alike]), make([]string, len(first.Args))
	for n := first.Alike; n < len(first.Args); n++ {
		if types[n] = emptyColumn(stmts, n); types[n] != "" {
			continue
		}
		var column encodedArray
		column, types[n] = columnOf(stmts, n)
		args = append(args, column)
	}
	return Stmt{SQL: e.forRows(&first, types), Args: args}
}

// emptyColumn returns the SQL of argument n if it is the same empty value in all
// statements: NULL or, if there are many rows, 0 or ”. Otherwise it returns "".
func emptyColumn(stmts []Stmt, n int) string {
	var empty string
	switch many := len(stmts) >= alikeMany; {
	case stmts[0].Args[n] == nil:
		empty = "NULL"
	case many && stmts[0].Args[n] == int64(0):
		empty = "0"
	case many && stmts[0].Args[n] == "":
		empty = "''"
	default:
		return ""
	}
	for i := range stmts {
		if stmts[i].Args[n] != stmts[0].Args[n] {
			return ""
		}
	}
	return empty
}

// forRows returns the SQL that inserts a row for each element of arrays. types
// has the type of each array, or the SQL of a value that all rows have.
func (e *postgresEngine) forRows(s *Stmt, types []string) string {
	key := s.SQL + " " + strings.Join(types, " ")
	if done, ok := e.sqlForAll.Load(key); ok {
		return done.(string)
	}
	var arrays []string
	for n, array := range types {
		if strings.HasSuffix(array, "[]") {
			arrays = append(arrays, "unnest(CAST($"+strconv.Itoa(s.Alike+len(arrays)+1)+" AS "+array+")) AS a"+strconv.Itoa(n+1))
		}
	}
	sql := placeholder.ReplaceAllStringFunc(e.rewrite(s.SQL), func(p string) string {
		n, _ := strconv.Atoi(p[1:])
		switch {
		case n <= s.Alike:
			return p
		case strings.HasSuffix(types[n-1], "[]"):
			return "each.a" + p[1:]
		}
		return types[n-1]
	})
	// In a list of columns, arrays of the same length are read side by side. In
	// FROM, PostgreSQL would first store the elements of each.
	done := fromEach(sql, "(SELECT "+strings.Join(arrays, ", ")+") AS each")
	e.sqlForAll.Store(key, done)
	return done
}

// fromEach turns an INSERT of one row into one that selects its rows from each.
func fromEach(sql, each string) string {
	if before, after, ok := strings.Cut(sql, " FROM "); ok {
		return before + " FROM " + each + " CROSS JOIN " + after
	}
	before, row, after := valuesOf(sql)
	return before + "SELECT " + row + " FROM " + each + after
}

// columnOf returns argument n of all statements as an array, and the type of the
// array. At least one value is not NULL.
func columnOf(stmts []Stmt, n int) (column encodedArray, array string) {
	var oid uint32
	for i := range stmts {
		switch stmts[i].Args[n].(type) {
		case nil:
			continue
		case int64, int:
			array, oid = "BIGINT[]", pgtype.Int8OID
		case string:
			array, oid = "TEXT[]", pgtype.TextOID
		case []byte:
			array, oid = "BYTEA[]", pgtype.ByteaOID
		default:
			panic(fmt.Sprintf("cannot combine INSERT statements: unsupported argument type %T", stmts[i].Args[n]))
		}
		break
	}
	size := 0
	for i := range stmts {
		switch v := stmts[i].Args[n].(type) {
		case string:
			size += len(v)
		case []byte:
			size += len(v)
		default:
			size += 8
		}
	}
	column = arrayOf(len(stmts), size, oid)
	for i := range stmts {
		switch v := stmts[i].Args[n].(type) {
		case nil:
			column = binary.BigEndian.AppendUint32(column, 1<<32-1)
			binary.BigEndian.PutUint32(column[4:], 1) // there are NULLs
		case int64:
			column = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(column, 8), uint64(v))
		case int:
			column = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(column, 8), uint64(v))
		case string:
			column = append(binary.BigEndian.AppendUint32(column, uint32(len(v))), v...)
		case []byte:
			column = append(binary.BigEndian.AppendUint32(column, uint32(len(v))), v...)
		}
	}
	return column, array
}

// encodedArray is an array in the binary format of PostgreSQL.
type encodedArray []byte

// sendsArrays lets a connection accept encoded arrays as arguments.
func sendsArrays(_ context.Context, conn *pgx.Conn) error {
	for _, oid := range []uint32{pgtype.Int8ArrayOID, pgtype.TextArrayOID, pgtype.ByteaArrayOID} {
		known, _ := conn.TypeMap().TypeForOID(oid)
		conn.TypeMap().RegisterType(&pgtype.Type{Name: known.Name, OID: oid, Codec: arrayCodec{known.Codec}})
	}
	return nil
}

// arrayCodec is the codec of an array that also accepts an [encodedArray].
type arrayCodec struct{ pgtype.Codec }

// PlanEncode implements [pgtype.Codec].
func (c arrayCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(encodedArray); ok && format == pgtype.BinaryFormatCode {
		return arrayPlan{}
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

type arrayPlan struct{}

// Encode implements [pgtype.EncodePlan].
func (arrayPlan) Encode(value any, buf []byte) ([]byte, error) {
	return append(buf, value.(encodedArray)...), nil
}
