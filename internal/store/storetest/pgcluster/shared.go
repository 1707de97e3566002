package pgcluster

import (
	"errors"
	"os"
	"sync"
	"testing"

	"anodyne/internal/testneed"
)

// Env names the server that all test processes share, as a postgres:// URL of a
// user who may create databases.
const Env = "ANODYNE_TEST_POSTGRES"

// DSN returns the address of a PostgreSQL that the tests share. The test that
// asks is left out when there is none.
func DSN(tb testing.TB) string {
	tb.Helper()
	if dsn := os.Getenv(Env); dsn != "" {
		return dsn
	}
	s, err := processServer()
	if err != nil {
		giveUp(tb, err)
	}
	return s.dsn()
}

// processServer is started by the first test that asks. Its guard ends it with
// the process, so that no test needs to know whether it is the last.
var processServer = sync.OnceValues(func() (*server, error) { return launch(volatile) })

// Throwaway starts a cluster for a program that is not a test. The function it
// returns stops the cluster and removes it.
func Throwaway() (dsn string, remove func() error, err error) {
	s, err := launch(volatile)
	if err != nil {
		return "", nil, err
	}
	return s.dsn(), s.discard, nil
}

// giveUp ends a test that has no server: left out where PostgreSQL is missing,
// failed where it is there and does not work.
func giveUp(tb testing.TB, err error) {
	tb.Helper()
	if errors.Is(err, ErrUnavailable) {
		testneed.Skip(tb, err.Error())
	}
	tb.Fatal(err)
}
