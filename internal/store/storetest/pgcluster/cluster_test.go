package pgcluster

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestClusterKeepsWhatWasCommitted(t *testing.T) {
	c := Start(t)
	dsn := c.DSN()
	run(t, connect(t, dsn), "CREATE TABLE notes (text text)")
	if got := query[string](t, connect(t, dsn), "SELECT current_setting('fsync')"); got != "on" {
		t.Errorf("fsync is %s", got)
	}

	for i, end := range []struct {
		name string
		do   func()
	}{
		{"stopped", c.Stop},
		{"killed", c.Kill},
		{"restarted while running", func() {}},
		{"stopped twice", func() { c.Stop(); c.Stop() }},
		{"killed twice", func() { c.Kill(); c.Kill() }},
	} {
		run(t, connect(t, dsn), "INSERT INTO notes VALUES ('kept')")
		open := connect(t, dsn)
		run(t, open, "BEGIN; INSERT INTO notes VALUES ('lost')")

		end.do()
		if end.name != "restarted while running" {
			if conn, err := pgx.Connect(context.Background(), dsn); err == nil {
				conn.Close(context.Background())
				t.Errorf("%s: the server still answers", end.name)
			}
		}

		c.Restart()
		if got := query[int](t, connect(t, c.DSN()), "SELECT count(*) FROM notes"); got != i+1 {
			t.Errorf("%s: %d notes, want %d", end.name, got, i+1)
		}
		if err := open.Ping(context.Background()); err == nil {
			t.Errorf("%s: an old session goes on", end.name)
		}
	}
}

func TestClusterIsRemoved(t *testing.T) {
	for name, before := range map[string]func(*Cluster){
		"running": func(*Cluster) {},
		"stopped": (*Cluster).Stop,
		"killed":  (*Cluster).Kill,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c *Cluster
			t.Run("test", func(t *testing.T) {
				c = Start(t)
				connect(t, c.DSN())
				before(c)
			})
			if c == nil {
				return // skipped: there is no PostgreSQL
			}
			if _, err := os.Stat(c.server.Dir()); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the directory is still there: %v", err)
			}
			if c.server.Running() {
				t.Error("the server was not seen to end")
			}
		})
	}
}

// A server that ends by itself is detected, and can be started again.
func TestClusterEndsByItself(t *testing.T) {
	c := StartIn(t, t.TempDir())
	if c.Ended() {
		t.Fatal("it has ended at once")
	}
	if err := syscall.Kill(c.postmaster(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(holdTime); !c.Ended(); {
		if time.Now().After(deadline) {
			t.Fatal("it is not seen to have ended")
		}
	}
	c.Restart()
	if c.Ended() {
		t.Error("it has ended after its restart")
	}
	connect(t, c.DSN())
}
