package engine

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// boundSilence ends a connection if the peer does not acknowledge data.
// Keep-alive probes are sent only while no data is outstanding.
func boundSilence(_, _ string, socket syscall.RawConn) error {
	var failed error
	err := socket.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(signOfLife.Milliseconds()))
	})
	if errors.Is(failed, unix.EOPNOTSUPP) || errors.Is(failed, unix.ENOPROTOOPT) {
		failed = nil // a Unix socket
	}
	return errors.Join(err, failed)
}
