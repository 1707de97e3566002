package pgcluster

import (
	"syscall"
	"testing"
)

// Cluster is one test's own server, for tests of what happens when the database
// goes away. It syncs to disk as in production. Its methods are called from one
// goroutine, the test's; a failure ends the test.
type Cluster struct {
	tb     testing.TB
	server *server
}

// Start starts a cluster that lives as long as the test. The test is left out
// where PostgreSQL is missing.
func Start(tb testing.TB) *Cluster {
	tb.Helper()
	s, err := launch(durable)
	if err != nil {
		giveUp(tb, err)
	}
	tb.Cleanup(func() {
		if err := s.discard(); err != nil {
			tb.Errorf("removing PostgreSQL: %v", err)
		}
	})
	return &Cluster{tb, s}
}

// DSN returns the address, which stays the same over restarts.
func (c *Cluster) DSN() string { return c.server.dsn() }

// Stop shuts the server down in good order and returns when it has gone.
func (c *Cluster) Stop() {
	c.tb.Helper()
	c.must(c.server.stop("fast"))
}

// StopAtOnce shuts the server down without a checkpoint, as if it had crashed,
// and returns when it has gone.
func (c *Cluster) StopAtOnce() {
	c.tb.Helper()
	c.must(c.server.stop("immediate"))
}

// Kill ends all processes of the server as kill -9 does and returns when they
// have gone.
func (c *Cluster) Kill() {
	c.tb.Helper()
	c.must(c.server.kill())
}

// Restart starts the server again, after a Stop if it is running, and returns
// when it takes connections.
func (c *Cluster) Restart() {
	c.tb.Helper()
	c.must(c.server.stop("fast"))
	c.must(c.server.start())
}

// Pause lets all processes of the server hang, until Resume: connections stay
// open, new ones are taken by the system, and nobody answers.
func (c *Cluster) Pause() {
	c.tb.Helper()
	c.must(c.server.signal(syscall.SIGSTOP))
	c.tb.Cleanup(c.Resume)
}

// Resume lets the server go on after a Pause.
func (c *Cluster) Resume() {
	c.tb.Helper()
	if c.server.running() {
		c.must(c.server.signal(syscall.SIGCONT))
	}
}

func (c *Cluster) must(err error) {
	c.tb.Helper()
	if err != nil {
		c.tb.Fatal(err)
	}
}
