package pgcluster

import (
	"os"
	"path/filepath"
	"testing"

	"anodyne.example/anodyne/internal/store/pgserver"
	"anodyne.example/anodyne/internal/testneed"
)

// Cluster is a server for a single test, for tests in which the database
// becomes unavailable. It syncs to disk as in production. Its methods must be
// called from the goroutine of the test; a failure ends the test.
type Cluster struct {
	tb     testing.TB
	server *pgserver.Server
}

// Start starts a cluster that lives as long as the test. It skips the test if
// PostgreSQL is not installed.
func Start(tb testing.TB) *Cluster {
	tb.Helper()
	return launch(tb, "")
}

// StartIn is Start with all files of the cluster in dir.
func StartIn(tb testing.TB, dir string) *Cluster {
	tb.Helper()
	Reachable(tb, dir)
	return launch(tb, dir)
}

// Reachable makes a folder accessible to the user that PostgreSQL runs as.
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

// DSN returns the address, which does not change when the server restarts.
func (c *Cluster) DSN() string { return c.server.DSN() }

// Stop shuts the server down cleanly and returns when it has ended.
func (c *Cluster) Stop() {
	c.tb.Helper()
	c.must(c.server.Stop())
}

// Kill ends the server as kill -9 does and returns when it has ended.
func (c *Cluster) Kill() {
	c.tb.Helper()
	c.must(c.server.Kill())
}

// Restart starts the server again, stopping it first if it is running, and
// returns when it accepts connections.
func (c *Cluster) Restart() {
	c.tb.Helper()
	c.must(c.server.Stop())
	c.must(c.server.Start())
}

// Ended reports whether the server has ended, by itself or otherwise.
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
