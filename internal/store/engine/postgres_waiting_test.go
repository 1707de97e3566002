package engine

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Only errors that can resolve by themselves are worth waiting for.
func TestWorthWaiting(t *testing.T) {
	t.Parallel()
	dial := func(cause error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", cause)}
	}
	answer := func(code string) error { return &pgconn.PgError{Code: code} }
	for name, tt := range map[string]struct {
		err  error
		want bool
	}{
		"refused":                   {dial(syscall.ECONNREFUSED), true},
		"no route":                  {dial(syscall.EHOSTUNREACH), true},
		"no socket yet":             {dial(syscall.ENOENT), true},
		"socket of somebody else":   {dial(fs.ErrPermission), false},
		"no such name":              {&net.DNSError{Err: "no such host", Name: "db", IsNotFound: true}, true},
		"timed out":                 {context.DeadlineExceeded, true},
		"cut off":                   {io.ErrUnexpectedEOF, true},
		"starting up":               {answer("57P03"), true},
		"shutting down":             {answer("57P01"), true},
		"too many connections":      {answer("53300"), true},
		"no primary":                {fmt.Errorf("%w: read only connection", errNotPrimary), true},
		"wrong password":            {answer("28P01"), false},
		"not in pg_hba.conf":        {answer("28000"), false},
		"unknown database":          {answer("3D000"), false},
		"no right to connect":       {answer("42501"), false},
		"certificate":               {x509.UnknownAuthorityError{}, false},
		"no TLS":                    {errors.New("server refused TLS connection"), false},
		"one away, one starting":    {errors.Join(dial(syscall.ECONNREFUSED), answer("57P03")), true},
		"one away, one refuses":     {errors.Join(dial(syscall.ECONNREFUSED), answer("28P01")), false},
		"one starting, one refuses": {errors.Join(answer("57P03"), fmt.Errorf("deep: %w", answer("3D000"))), false},
		"starting, and without TLS": {errors.Join(errors.New("server refused TLS connection"), answer("57P03")), true},
	} {
		if got := worthWaiting(postgresError(tt.err)); got != tt.want {
			t.Errorf("%s, as callers are told: %t", name, got)
		}
		if got := worthWaiting(fmt.Errorf("connecting: %w", tt.err)); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
