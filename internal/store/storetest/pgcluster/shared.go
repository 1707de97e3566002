package pgcluster

import (
	"errors"
	"os"
	"sync"
	"testing"

	"anodyne.example/anodyne/internal/store/pgserver"
	"anodyne.example/anodyne/internal/testneed"
)

// Env is the environment variable that names the server shared by all test
// processes, as a postgres:// URL of a user who may create databases.
const Env = "ANODYNE_TEST_POSTGRES"

// DSN returns the address of the PostgreSQL server that tests share. It skips
// the test if there is none.
func DSN(tb testing.TB) string {
	tb.Helper()
	testneed.Long(tb, "PostgreSQL")
	if dsn := os.Getenv(Env); dsn != "" {
		return dsn
	}
	s, err := processServer()
	if err != nil {
		giveUp(tb, err)
	}
	return s.DSN()
}

// processServer is started by the first test that needs it. Its guard ends it
// with the process, so that no test needs to know whether it is the last.
var processServer = sync.OnceValues(func() (*pgserver.Server, error) { return pgserver.Launch(pgserver.Volatile, "") })

// Throwaway starts a cluster for a program that is not a test. remove stops the
// cluster and removes it.
func Throwaway() (dsn string, remove func() error, err error) {
	s, err := pgserver.Launch(pgserver.Volatile, "")
	if err != nil {
		return "", nil, err
	}
	return s.DSN(), s.Discard, nil
}

// giveUp ends a test that has no server: it skips the test if PostgreSQL is not
// installed, and fails it if PostgreSQL does not work.
func giveUp(tb testing.TB, err error) {
	tb.Helper()
	if errors.Is(err, pgserver.ErrUnavailable) {
		testneed.Skip(tb, err.Error())
	}
	tb.Fatal(err)
}
