package pgcluster

import (
	"bytes"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// CitusEnv is the environment variable with the path of the program that starts
// a Citus cluster; scripts/citus sets it and describes the program.
const CitusEnv = "ANODYNE_TEST_CITUS"

// Citus is a cluster for a single test: a coordinator, which is server 0, and
// two workers, 1 and 2.
type Citus struct {
	tb       testing.TB
	dir, dsn string
}

// StartCitus starts a cluster that lives as long as the test. It fails the
// test in runs that are not on a Citus cluster.
func StartCitus(tb testing.TB) *Citus {
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
	c.dsn = strings.TrimSpace(c.run("start", strconv.Itoa(freePorts(tb))))
	return c
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

// freePorts returns the first of four ports in a row that are free now.
func freePorts(tb testing.TB) int {
	tb.Helper()
	for range 100 {
		first, free := 10000+rand.IntN(10000), true
		for port := first; port < first+4; port++ {
			l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
			if err != nil {
				free = false
				break
			}
			l.Close()
		}
		if free {
			return first
		}
	}
	tb.Fatal("no free ports for a cluster")
	return 0
}
