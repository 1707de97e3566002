package pgcluster

import "testing"

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
	c.must(c.server.stop())
}

// Kill ends the server as kill -9 does and returns when it has gone.
func (c *Cluster) Kill() {
	c.tb.Helper()
	c.must(c.server.kill())
}

// Restart starts the server again, after a Stop if it is running, and returns
// when it takes connections.
func (c *Cluster) Restart() {
	c.tb.Helper()
	c.must(c.server.stop())
	c.must(c.server.start())
}

func (c *Cluster) must(err error) {
	c.tb.Helper()
	if err != nil {
		c.tb.Fatal(err)
	}
}
