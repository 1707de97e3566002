package pgcluster

import (
	"os"
	"path/filepath"
	"testing"

	"anodyne.example/anodyne/internal/store/pgserver"
	"anodyne.example/anodyne/internal/testneed"
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
	return launch(tb, "")
}

// StartIn does so with all files of the cluster in a folder.
func StartIn(tb testing.TB, dir string) *Cluster {
	tb.Helper()
	Reachable(tb, dir)
	return launch(tb, dir)
}

// Reachable lets the user that PostgreSQL runs as through to a folder.
func Reachable(tb testing.TB, dir string) {
	tb.Helper()
	for ; dir != "/"; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil {
			err = os.Chmod(dir, info.Mode()|0o111)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func launch(tb testing.TB, dir string) *Cluster {
	tb.Helper()
	testneed.Long(tb, "PostgreSQL")
	s, err := pgserver.Launch(pgserver.Durable, dir)
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

// Kill ends the server as kill -9 does and returns when it has gone.
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

// Ended reports whether the server has gone, by itself if nobody ended it.
func (c *Cluster) Ended() bool {
	c.tb.Helper()
	ended, err := c.server.Ended()
	c.must(err)
	return ended
}

func (c *Cluster) must(err error) {
	c.tb.Helper()
	if err != nil {
		c.tb.Fatal(err)
	}
}
