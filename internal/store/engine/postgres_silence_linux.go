package engine

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// boundSilence ends a connection whose data is not acknowledged by the other
// machine; the keep-alive only looks while there is none under way.
func boundSilence(_, _ string, socket syscall.RawConn) error {
	var failed error
	err := socket.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(signOfLife.Milliseconds()))
	})
	if errors.Is(failed, unix.EOPNOTSUPP) || errors.Is(failed, unix.ENOPROTOOPT) {
		failed = nil // a local socket
	}
	return errors.Join(err, failed)
}
