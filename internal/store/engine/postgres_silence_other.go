//go:build !linux

package engine

import "syscall"

// boundSilence is Linux's; elsewhere the keep-alive has to do.
func boundSilence(string, string, syscall.RawConn) error { return nil }
