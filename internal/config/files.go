package config

import (
	"math"
	"syscall"
)

// mostConnections is the default connection limit. An idle connection takes
// some 20 KB.
const mostConnections = 10_000

// OpenFiles returns the maximum number of open files, including connections.
// Go has already raised it as far as possible.
func OpenFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(limit.Cur)
}
