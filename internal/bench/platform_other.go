//go:build !linux

package bench

import (
	"syscall"
	"time"
)

// ownGroup keeps the terminal's signals from a child.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// inMemory is only supported on Linux.
func inMemory(string) bool { return false }

// memoryOf is only supported on Linux.
func memoryOf(int) (now, peak int64) { return 0, 0 }

// cpuOf is only supported on Linux.
func cpuOf(int) time.Duration { return 0 }

// cpuOfFamily is only supported on Linux.
func cpuOfFamily(int) time.Duration { return 0 }
