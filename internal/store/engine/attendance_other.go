//go:build !linux

package engine

import (
	"errors"
	"os"
)

// errNoByteLocks is returned where a node can rely on its lease only.
var errNoByteLocks = errors.New("this system does not support open file description locks")

const hasByteLocks = false

func holdByte(*os.File, int64) error { return errNoByteLocks }

func byteHeld(*os.File, int64) bool { return true }

func releaseByte(*os.File, int64) {}
