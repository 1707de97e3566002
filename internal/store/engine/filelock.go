package engine

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockDatabase locks PATH.lock. Every process that has a SQLite file open holds
// a shared lock on it, so that a process that replaces the file can be sure
// that no other has it open. SQLite's own locks are on the file itself and are
// lost when it is replaced.
func lockDatabase(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be written; check the owner and mode of the file and its folder: %w", path, err)
	}
	err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errInUse
	}
	return nil, errors.Join(err, f.Close())
}

var errInUse = errors.New("in use")

// shareDatabase takes the shared lock of processes that use the file.
func shareDatabase(path string) (*os.File, error) {
	f, err := lockDatabase(path, syscall.LOCK_SH)
	if errors.Is(err, errInUse) {
		return nil, fmt.Errorf("the key of %s is being changed; wait until that is done", path)
	}
	return f, err
}

// ownDatabase takes the exclusive lock of a process that replaces the file.
func ownDatabase(path string) (*os.File, error) {
	f, err := lockDatabase(path, syscall.LOCK_EX)
	if errors.Is(err, errInUse) {
		return nil, fmt.Errorf("a server or another command has %s open; stop it and try again", path)
	}
	return f, err
}
