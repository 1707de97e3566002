package engine_test

import (
	"testing"

	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// A connection whose caller left during a read may keep the error for the next
// one, so it is closed. Otherwise it is reused.
func TestConnectionOfOneWhoLeftIsClosed(t *testing.T) {
	t.Parallel()
	s := storetest.Start(t, storetest.Database(t, storetest.Postgres))
	const own = `SELECT pg_backend_pid()`
	open := func(pid int64) bool {
		return storetest.Number(t, s, `SELECT count(*) FROM pg_stat_activity WHERE pid = $1`, pid) == 1
	}
	if stayed := storetest.Number(t, s, own); !open(stayed) {
		t.Error("a connection was closed for nothing")
	}
	left := storetest.NumberThenLeave(t, s, own)
	testwait.Until(t, "the connection is closed", func() bool { return !open(left) })
}
