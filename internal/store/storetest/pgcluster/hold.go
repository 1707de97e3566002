package pgcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// holdTime bounds how long a process may take to stop.
const holdTime = 5 * time.Minute

// Pause suspends all processes of the server until resume is called or the test
// ends: connections stay open, the system accepts new ones, and nothing
// responds.
func (c *Cluster) Pause() (resume func()) {
	c.tb.Helper()
	return pause(c.tb, c.postmaster())
}

// pause suspends a process and its children.
func pause(tb testing.TB, pid int) (resume func()) {
	tb.Helper()
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	held := []int{pid}
	must(hold(pid)) // it creates no more processes
	list, err := children(pid)
	must(err)
	for _, child := range list {
		must(hold(child))
		held = append(held, child)
	}
	resume = func() {
		for _, pid := range held {
			_ = syscall.Kill(pid, syscall.SIGCONT) // it may have ended
		}
		held = nil
	}
	tb.Cleanup(resume)
	return resume
}

// Crash kills one session with kill -9, as the kernel does when memory runs
// out: the server considers its shared memory damaged, closes all connections
// and recovers by itself.
func (c *Cluster) Crash() {
	c.tb.Helper()
	c.ask(`SELECT pg_backend_pid()::text`, func(pid string) error {
		n, err := strconv.Atoi(pid)
		if err != nil {
			return err
		}
		return syscall.Kill(n, syscall.SIGKILL)
	})
}

// postmaster returns the process ID of the server's main process.
func (c *Cluster) postmaster() (pid int) {
	c.tb.Helper()
	c.ask(`SHOW data_directory`, func(dir string) (err error) {
		pid, err = postmasterOf(dir)
		return err
	})
	return pid
}

// postmasterOf returns the process ID of the main process of the server with a
// data directory.
func postmasterOf(dir string) (pid int, err error) {
	lock, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(lock), "\n")
	return strconv.Atoi(line)
}

// ask passes the result of a query to use, while the session is open.
func (c *Cluster) ask(sql string, use func(string) error) {
	c.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), holdTime)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.DSN())
	c.must(err)
	defer conn.Close(ctx)
	var answer string
	c.must(conn.QueryRow(ctx, sql).Scan(&answer))
	c.must(use(answer))
}

// hold suspends a process and returns when it is stopped or has ended.
func hold(pid int) error {
	deadline := time.Now().Add(holdTime)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("holding PostgreSQL: %w", err)
	}
	for {
		switch state, _, err := look(pid); {
		case err != nil, state == "T", state == "Z", state == "X":
			return nil // it has ended
		case time.Now().After(deadline):
			return fmt.Errorf("process %d of PostgreSQL does not stand still: %s", pid, state)
		}
		time.Sleep(time.Millisecond)
	}
}

// children returns the child processes of a process.
func children(of int) (list []int, err error) {
	entries, err := filepath.Glob("/proc/[0-9]*")
	for _, path := range entries {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			return nil, err
		}
		if _, parent, err := look(pid); err == nil && parent == of { // otherwise it has ended in the meantime
			list = append(list, pid)
		}
	}
	return list, err
}

// look returns the state and the parent of a process.
func look(pid int) (state string, parent int, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, err
	}
	// PID (NAME) STATE PARENT ...; a name may contain any character.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return "", 0, fmt.Errorf("process %d: %s", pid, stat)
	}
	parent, err = strconv.Atoi(fields[1])
	return fields[0], parent, err
}
