package engine

import (
	"os"

	"golang.org/x/sys/unix"
)

// On SQLite, a node locks the byte of PATH.lock at the offset of its number.
// The lock belongs to the open file description, so opening and closing other
// files in the process does not release it. It does not conflict with the lock
// of shareDatabase.

// hasByteLocks is whether processes see each other's locks.
const hasByteLocks = true

// holdByte locks the byte of a node until the file is closed.
func holdByte(f *os.File, node int64) error {
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_RDLCK, Start: node, Len: 1})
}

// byteHeld reports whether another open file holds the lock of a node.
func byteHeld(f *os.File, node int64) bool {
	l := unix.Flock_t{Type: unix.F_WRLCK, Start: node, Len: 1}
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &l)
	return err != nil || l.Type != unix.F_UNLCK
}

// releaseByte releases the lock of a byte that this open file holds.
func releaseByte(f *os.File, at int64) {
	_ = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK, Start: at, Len: 1})
}
