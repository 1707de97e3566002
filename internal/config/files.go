package config

import (
	"math"
	"syscall"
)

// mostConnections is what a server takes on unless it is told otherwise. One
// that is idle costs some 20 KB.
const mostConnections = 10_000

// OpenFiles is how many files, connections among them, the process may have
// open at a time. Go has raised the limit as far as it goes.
func OpenFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(limit.Cur)
}
