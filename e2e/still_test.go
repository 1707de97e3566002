package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// still stops a process, does something, and lets it go on; again, until it was
// done.
func (p *process) still(do func() bool) {
	p.tb.Helper()
	pid := p.cmd.Process.Pid
	eventually(p.tb, patience, "the process can be changed", func() bool {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			p.tb.Fatal(err)
		}
		defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }() // one that is gone needs none
		eventually(p.tb, patience, "the process stands still", func() bool { return standing(p.tb, pid) })
		return do()
	})
}

// standing says whether all threads of a process are stopped.
func standing(tb testing.TB, pid int) bool {
	tb.Helper()
	for _, status := range threads(tb, pid, "status") {
		if !strings.Contains(status, "\nState:\tT") {
			return false
		}
	}
	return true
}

// threads reads a file of each thread.
func threads(tb testing.TB, pid int, name string) (texts []string) {
	tb.Helper()
	paths, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/%s", pid, name))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no threads of %d: %v", pid, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // it has ended
		}
		if err != nil {
			tb.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}
