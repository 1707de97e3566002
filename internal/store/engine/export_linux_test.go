package engine

import (
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Silence returns how long a connection to PostgreSQL waits for a response from
// the peer.
func Silence(tb testing.TB, db *DB) (unacknowledged, idle, interval time.Duration, count int) {
	tb.Helper()
	conn, err := db.engine.(*postgresEngine).pool.Acquire(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Release()
	socket, err := conn.Conn().PgConn().Conn().(syscall.Conn).SyscallConn()
	if err != nil {
		tb.Fatal(err)
	}
	option := func(fd uintptr, name int) int {
		value, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, name)
		if err != nil {
			tb.Error(err)
		}
		return value
	}
	if err := socket.Control(func(fd uintptr) {
		unacknowledged = time.Duration(option(fd, unix.TCP_USER_TIMEOUT)) * time.Millisecond
		idle = time.Duration(option(fd, unix.TCP_KEEPIDLE)) * time.Second
		interval = time.Duration(option(fd, unix.TCP_KEEPINTVL)) * time.Second
		count = option(fd, unix.TCP_KEEPCNT)
	}); err != nil {
		tb.Fatal(err)
	}
	return unacknowledged, idle, interval, count
}
