package pgcluster

import (
	"syscall"
	"testing"

	"anodyne/internal/store/pgserver"
)

// Cluster is one test's own server, for tests of what happens when the database
// goes away. It syncs to disk as in production. Its methods are called from one
// goroutine, the test's; a failure ends the test.
type Cluster struct {
	tb     testing.TB
	server *pgserver.Server
}

// Start starts a cluster that lives as long as the test. The test is left out
// where PostgreSQL is missing.
func Start(tb testing.TB) *Cluster {
	tb.Helper()
	s, err := pgserver.Launch(pgserver.Durable, "")
	if err != nil {
		giveUp(tb, err)
	}
	return newCluster(tb, s)
}

func newCluster(tb testing.TB, s *pgserver.Server) *Cluster {
	tb.Cleanup(func() {
		if err := s.Discard(); err != nil {
			tb.Errorf("removing PostgreSQL: %v", err)
		}
	})
	return &Cluster{tb, s}
}

// DSN returns the address, which stays the same over restarts.
func (c *Cluster) DSN() string { return c.server.DSN() }

// Stop shuts the server down in good order and returns when it has gone.
func (c *Cluster) Stop() {
	c.tb.Helper()
	c.must(c.server.Stop())
}

// StopAtOnce shuts the server down without a checkpoint, as if it had crashed,
// and returns when it has gone.
func (c *Cluster) StopAtOnce() {
	c.tb.Helper()
	c.must(c.server.StopAtOnce())
}

// Kill ends all processes of the server as kill -9 does and returns when they
// have gone.
func (c *Cluster) Kill() {
	c.tb.Helper()
	c.must(c.server.Kill())
}

// Restart starts the server again, after a Stop if it is running, and returns
// when it takes connections.
func (c *Cluster) Restart() {
	c.tb.Helper()
	c.must(c.server.Stop())
	c.must(c.server.Start())
}

// Pause lets all processes of the server hang, until Resume: connections stay
// open, new ones are taken by the system, and nobody answers.
func (c *Cluster) Pause() {
	c.tb.Helper()
	c.must(c.server.Signal(syscall.SIGSTOP))
	c.tb.Cleanup(c.Resume)
}

// Resume lets the server go on after a Pause.
func (c *Cluster) Resume() {
	c.tb.Helper()
	if c.server.Running() {
		c.must(c.server.Signal(syscall.SIGCONT))
	}
}

func (c *Cluster) must(err error) {
	c.tb.Helper()
	if err != nil {
		c.tb.Fatal(err)
	}
}
