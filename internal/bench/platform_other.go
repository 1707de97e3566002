//go:build !linux

package bench

import "syscall"

// ownGroup keeps the terminal's signals from a child.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// inMemory is known on Linux only.
func inMemory(string) bool { return false }

// memoryOf is known on Linux only.
func memoryOf(int) (now, peak int64) { return 0, 0 }
