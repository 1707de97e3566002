package engine

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"anodyne.example/anodyne/internal/fault"
)

// Only what happens to an open connection, and a server that is not up, says
// something about the other connections.
func TestIsLost(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, refused := pgconn.Connect(t.Context(), "postgres://anodyne@"+l.Addr().String()+"/anodyne")
	if refused == nil {
		t.Fatal("connected to a closed port")
	}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"refused":            {refused, false},
		"closed":             {io.EOF, true},
		"cut off":            {io.ErrUnexpectedEOF, true},
		"no response":        {context.DeadlineExceeded, true},
		"network":            {&net.OpError{Op: "read", Err: errors.New("connection reset by peer")}, true},
		"server stops":       {&pgconn.PgError{Code: "57P01"}, true},
		"server starts":      {&pgconn.PgError{Code: "57P03"}, true},
		"too many":           {&pgconn.PgError{Code: "53300"}, false},
		"statement":          {&pgconn.PgError{Code: "23505"}, false},
		"of the caller":      {fault.Away("The disk is full.", io.ErrUnexpectedEOF), false},
		"an error of a rule": {errors.New("wrong"), false},
		"none":               {nil, false},
	} {
		if got := isLost(c.err); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
