package engine

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"anodyne.example/anodyne/internal/fault"
)

// A worker that is lost is told apart from the coordinator, and from a statement
// that fails.
func TestErrorsOfWorkers(t *testing.T) {
	for _, tt := range []struct {
		err                      pgconn.PgError
		remote, away, isDegraded bool
	}{
		{pgconn.PgError{Code: "08006", Message: "connection to the remote node postgres@w1:5432 failed"}, true, true, true},
		{pgconn.PgError{Code: "XX000", Message: "failure on connection marked as essential: w1:5432"}, true, true, true},
		{pgconn.PgError{Code: "XX000", Message: "server closed the connection unexpectedly\n\tThis probably means ...", Where: "while executing command on w1:5432"}, true, true, true},
		{pgconn.PgError{Code: "XX000", Message: "SSL error: unexpected eof while reading", Where: "while executing command on w1:5432"}, true, true, true},
		{pgconn.PgError{Code: "XX000", Message: "could not commit transaction for shard 102020 on at least one active node"}, true, true, true},
		{pgconn.PgError{Code: "XX000", Message: "tuple concurrently updated", Where: "while executing command on w1:5432"}, true, false, false},
		{pgconn.PgError{Code: "53100", Where: "while executing command on w1:5432"}, true, true, true},
		{pgconn.PgError{Code: "23505", Where: "while executing command on w1:5432"}, true, false, false},
		{pgconn.PgError{Code: "55P03", Where: "while executing command on w1:5432"}, true, true, false},
		{pgconn.PgError{Code: "53100"}, false, true, false},
		{pgconn.PgError{Code: "XX000", Message: "something else"}, false, false, false},
		{pgconn.PgError{Code: "08P01"}, false, true, false},
	} {
		e := &postgresEngine{}
		_ = e.told(&tt.err)
		remote, away, isDegraded := isRemote(&tt.err), fault.Is(postgresError(&tt.err), fault.Unavailable), e.remote.Load() != 0
		if remote != tt.remote || away != tt.away || isDegraded != tt.isDegraded {
			t.Errorf("%s %s (%s): remote %v, unavailable %v, degraded %v", tt.err.Code, tt.err.Message, tt.err.Where, remote, away, isDegraded)
		}
	}
	// Lookups that are made together record it too.
	e := &postgresEngine{}
	if _ = e.judge(&pgconn.PgError{Code: "08006"}, false); e.remote.Load() == 0 {
		t.Error("a lookup that failed because of a worker does not show that it is lost")
	}
}
