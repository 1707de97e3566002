package engine

import (
	"fmt"

	"github.com/ncruces/go-sqlite3"
)

// sqliteStmt is a prepared statement. It keeps the values of its parameters from
// one execution to the next, so those that stay the same are not bound again:
// many rows of a batch have the same organisation, patient, time and empty texts.
type sqliteStmt struct {
	*sqlite3.Stmt
	bound []any // the values by parameter; nil is NULL, as at first
}

// keptText is the length of the longest text that is compared with the next one.
const keptText = 64

// other stands for a value that is not compared.
type other struct{}

// bind sets the parameters. Without a value for each, one would keep that of an
// earlier execution.
func (s *sqliteStmt) bind(args []any) error {
	if len(args) != len(s.bound) {
		return fmt.Errorf("%d arguments for %d parameters of a statement", len(args), len(s.bound))
	}
	for i, arg := range args {
		if late, ok := arg.(Late); ok {
			number, known := late()
			if !known {
				return errNotKnown
			}
			arg = number
		}
		was := &s.bound[i]
		if sameValue(*was, arg) {
			continue
		}
		*was = other{}
		if err := bind(s.Stmt, i+1, arg); err != nil {
			return err
		}
		switch v := arg.(type) {
		case nil, int64:
			*was = arg
		case string:
			if len(v) <= keptText {
				*was = arg
			}
		}
	}
	return nil
}

// sameValue reports whether a value is the one that is bound. Values that can
// change in place are never the same.
func sameValue(bound, value any) bool {
	switch v := value.(type) {
	case nil:
		return bound == nil
	case int64:
		was, ok := bound.(int64)
		return ok && was == v
	case string:
		was, ok := bound.(string)
		return ok && was == v
	}
	return false
}

func bind(stmt *sqlite3.Stmt, i int, arg any) error {
	switch v := arg.(type) {
	case nil:
		return stmt.BindNull(i)
	case int64:
		return stmt.BindInt64(i, v)
	case int:
		return stmt.BindInt(i, v)
	case string:
		return stmt.BindText(i, v)
	case []byte:
		if v == nil {
			return stmt.BindNull(i)
		}
		return stmt.BindBlob(i, v)
	case bool:
		return stmt.BindBool(i, v)
	}
	return fmt.Errorf("cannot bind a %T", arg)
}
