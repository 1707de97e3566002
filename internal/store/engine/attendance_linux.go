package engine

import (
	"os"

	"golang.org/x/sys/unix"
)

// A node on SQLite holds the byte of PATH.lock that its number stands for. The
// kernel keeps such a lock for the open file, whatever other files the process
// opens and closes, and it does not meet the lock of shareDatabase.

// holdByte takes the lock of a node, until the file is closed.
func holdByte(f *os.File, node int64) error {
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_RDLCK, Start: node, Len: 1})
}

// byteHeld reports whether another open file holds the lock of a node.
func byteHeld(f *os.File, node int64) bool {
	l := unix.Flock_t{Type: unix.F_WRLCK, Start: node, Len: 1}
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &l)
	return err != nil || l.Type != unix.F_UNLCK
}
