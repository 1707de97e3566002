package pgserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// timeout replaces the timeout of pg_ctl, which is a minute.
var timeout = fmt.Sprintf("--timeout=%d", int(patience.Seconds()))

// Start starts the server and returns when it accepts connections.
func (s *Server) Start() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	alive, held, err := os.Pipe()
	if err != nil {
		return err
	}
	defer held.Close()
	// pg_ctl starts the server as a daemon, which inherits held.
	cmd := s.owner.command(ctx, s.program("pg_ctl"), "--pgdata="+s.data(), "--log="+s.log(),
		"--wait", timeout, "--silent", "start")
	cmd.ExtraFiles = []*os.File{held}
	if out, err := cmd.CombinedOutput(); err != nil {
		report, _ := os.ReadFile(s.log())
		return errors.Join(fmt.Errorf("starting PostgreSQL: %w\n%s\n%s", err, bytes.TrimSpace(out), bytes.TrimSpace(report)), alive.Close())
	}
	s.alive = alive
	return nil
}

// Running reports whether the server was started and is not known to have
// ended. Ended also detects that it has ended by itself.
func (s *Server) Running() bool { return s.alive != nil }

// Stop ends the server cleanly: it closes sessions and writes everything to
// disk.
func (s *Server) Stop() error {
	if !s.Running() {
		return nil
	}
	if err := s.control("stop", "--mode=fast", "--wait"); err != nil {
		return err
	}
	return s.awaitEnd()
}

// control runs a pg_ctl command on the running server.
func (s *Server) control(what string, more ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.owner.run(ctx, s.program("pg_ctl"), append([]string{what, "--pgdata=" + s.data(), "--silent", timeout}, more...)...)
}

// Process returns the process of the server, which is the parent of all others
// of the cluster.
func (s *Server) Process() (pid int, err error) {
	lock, err := os.ReadFile(s.lock())
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(lock), "\n")
	if pid, err = strconv.Atoi(first); err != nil {
		return 0, fmt.Errorf("%s: %w", s.lock(), err)
	}
	return pid, nil
}

// Kill ends the server abruptly.
func (s *Server) Kill() error {
	if !s.Running() {
		return nil
	}
	lock, err := os.ReadFile(s.lock())
	if err != nil {
		return err
	}
	// Line 7 is the key and the identifier of the shared memory.
	lines := strings.Split(string(lock), "\n")
	if len(lines) < 7 || len(strings.Fields(lines[6])) != 2 {
		return fmt.Errorf("%s is not complete", s.lock())
	}
	pid, err := s.Process()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing PostgreSQL: %w", err)
	}
	if err := s.awaitEnd(); err != nil {
		return err
	}
	// A restart would reuse the memory, but there may not be one.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.owner.run(ctx, "ipcrm", "-m", strings.Fields(lines[6])[1]); err != nil {
		return err
	}
	// If nothing reaps orphans, as in a container without an init, the next
	// start would consider the dead process alive and holding the locks.
	socketLocks, err := filepath.Glob(filepath.Join(s.dir, ".s.PGSQL.*.lock"))
	for _, path := range append(socketLocks, s.lock()) {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// Ended reports whether the server has ended, by itself or otherwise.
func (s *Server) Ended() (bool, error) {
	if !s.Running() {
		return true, nil
	}
	if err := s.alive.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		return false, err
	}
	switch _, err := s.alive.Read(make([]byte, 1)); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return false, nil
	case !errors.Is(err, io.EOF):
		return false, err
	}
	err := s.alive.Close()
	s.alive = nil
	return true, err
}

// awaitEnd waits until the last process of the server has ended.
func (s *Server) awaitEnd() error {
	if err := s.alive.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, s.alive); err != nil {
		return fmt.Errorf("PostgreSQL does not end: %w", err)
	}
	err := s.alive.Close()
	s.alive = nil
	return err
}
