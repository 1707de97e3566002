package pgcluster

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store/pgserver"
)

// CitusEnv is the environment variable with the path of the program that starts
// a Citus cluster; scripts/citus sets it and describes the program.
const CitusEnv = "ANODYNE_TEST_CITUS"

// Citus is a cluster for a single test: a coordinator, which is server 0, and
// workers from 1 on.
type Citus struct {
	tb       testing.TB
	dir, dsn string
	port     int
}

// StartCitus starts a cluster that lives as long as the test, with two or three
// workers. It fails the test in runs that are not on a Citus cluster.
func StartCitus(tb testing.TB, workers int) *Citus {
	tb.Helper()
	NeedsCitus(tb)
	dir, err := os.MkdirTemp("", "citus")
	if err != nil {
		tb.Fatal(err)
	}
	c := &Citus{tb: tb, dir: dir}
	tb.Cleanup(func() {
		c.run("stop")
		os.RemoveAll(dir)
	})
	tb.Setenv("WORKERS", strconv.Itoa(workers))
	if c.port, err = pgserver.FreePorts(4); err != nil {
		tb.Fatal(err)
	}
	c.dsn = strings.TrimSpace(c.run("start", strconv.Itoa(c.port)))
	c.Ask(`ALTER DATABASE anodyne SET citus.shard_count = 6`) // fewer than in service, so that tests take less time
	return c
}

// Address returns the host and port of a server, as arguments of functions of
// Citus.
func (c *Citus) Address(server int) string { return "'127.0.0.1', " + strconv.Itoa(c.port+server) }

// Pause suspends all processes of a server; see [Cluster.Pause].
func (c *Citus) Pause(server int) (resume func()) {
	c.tb.Helper()
	pid, err := postmasterOf(filepath.Join(c.dir, "n"+strconv.Itoa(server)))
	if err != nil {
		c.tb.Fatal(err)
	}
	return pause(c.tb, pid)
}

// DSN returns the address of the coordinator.
func (c *Citus) DSN() string { return c.dsn }

// Kill ends a server as kill -9 does.
func (c *Citus) Kill(server int) {
	c.tb.Helper()
	c.run("kill", strconv.Itoa(server))
}

// Restart starts a server again.
func (c *Citus) Restart(server int) {
	c.tb.Helper()
	c.run("restart", strconv.Itoa(server))
}

// Ask runs a query on the coordinator and returns what it prints.
func (c *Citus) Ask(sql string) string {
	c.tb.Helper()
	return strings.TrimSpace(c.run("psql", "0", "-Atc", sql))
}

func (c *Citus) run(verb string, args ...string) string {
	c.tb.Helper()
	cmd := exec.Command(os.Getenv(CitusEnv), append([]string{verb, c.dir}, args...)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		c.tb.Fatalf("%s: %v\n%s%s", cmd, err, out.String(), said.String())
	}
	return out.String()
}
