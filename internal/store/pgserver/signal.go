package pgserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// pid is the server's first process, which stands in line 1 of its lock.
func (s *Server) pid() (int, error) {
	lock, err := os.ReadFile(s.lock())
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(lock), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", s.lock(), err)
	}
	return pid, nil
}

// Signal sends a signal to every process of the server.
func (s *Server) Signal(sig syscall.Signal) error {
	pid, err := s.pid()
	if err != nil {
		return err
	}
	return signalAll(pid, sig)
}

// signalAll sends a signal to a process and its children. They are all held
// before, so that there will be no more of them.
func signalAll(pid int, sig syscall.Signal) error {
	if err := hold(pid); err != nil {
		return err
	}
	list, err := children(pid)
	for _, p := range append(list, pid) {
		err = errors.Join(err, hold(p))
		if failed := syscall.Kill(p, sig); failed != nil && !errors.Is(failed, syscall.ESRCH) {
			err = errors.Join(err, fmt.Errorf("signalling PostgreSQL: %w", failed))
		}
	}
	return err
}

// hold stops a process and returns when it stands still, or has ended.
func hold(pid int) error {
	deadline := time.Now().Add(patience)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("holding PostgreSQL: %w", err)
	}
	for {
		switch state, _, err := look(pid); {
		case err != nil, state == "T", state == "Z", state == "X":
			return nil // one that is gone does no more
		case time.Now().After(deadline):
			return fmt.Errorf("process %d of PostgreSQL does not stand still: %s", pid, state)
		}
		time.Sleep(time.Millisecond)
	}
}

// children finds the processes that a process has started.
func children(of int) (list []int, err error) {
	entries, err := filepath.Glob("/proc/[0-9]*")
	for _, path := range entries {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			return nil, err
		}
		if _, parent, err := look(pid); err == nil && parent == of { // else it has ended meanwhile
			list = append(list, pid)
		}
	}
	return list, err
}

// look gives the state and the parent of a process.
func look(pid int) (state string, parent int, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, err
	}
	// PID (NAME) STATE PARENT ...; a name may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return "", 0, fmt.Errorf("process %d: %s", pid, stat)
	}
	parent, err = strconv.Atoi(fields[1])
	return fields[0], parent, err
}
