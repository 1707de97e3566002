// Withpostgres runs a command with a throw-away PostgreSQL:
//
//	withpostgres go test ./...
//
// The command finds the server's address in ANODYNE_TEST_POSTGRES. If that is
// already set, or PostgreSQL is not installed, the command runs without a new
// server. The exit status is that of the command. The server is stopped and
// removed when the command ends, even if this program is killed.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"anodyne.example/anodyne/internal/store/pgserver"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: withpostgres command [argument ...]")
		os.Exit(2)
	}
	status, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
		status = max(status, 1)
	}
	os.Exit(status)
}

func run(command []string) (status int, err error) {
	// From here on signals are forwarded to the command; when it ends, so does
	// this program.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	env, remove, err := serve()
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, remove()) }()

	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case s := <-signals:
				_ = cmd.Process.Signal(s) // it may be ending by itself
			case <-ended:
				return
			}
		}
	}()

	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil // -1 means ended by a signal
	}
	return 0, err
}

// serve starts a server if one is needed and available, and returns the
// environment that names it.
func serve() (env []string, remove func() error, err error) {
	env, remove = os.Environ(), func() error { return nil }
	if os.Getenv(pgcluster.Env) != "" {
		return env, remove, nil
	}
	dsn, discard, err := pgcluster.Throwaway()
	if errors.Is(err, pgserver.ErrUnavailable) {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
		return env, remove, nil
	}
	return append(env, pgcluster.Env+"="+dsn), discard, err
}
