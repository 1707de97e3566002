//go:build !linux

package store

import (
	"errors"
	"os"
)

// errNoByteLocks is why a node has only its lease on other systems.
var errNoByteLocks = errors.New("this system has no locks of an open file")

func holdByte(*os.File, int64) error { return errNoByteLocks }

func byteHeld(*os.File, int64) bool { return true }
