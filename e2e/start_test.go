package e2e

import (
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// A server and a command that are started before their PostgreSQL wait for it
// and report that; a server that is stopped meanwhile stops.
func TestStartBeforePostgres(t *testing.T) {
	t.Parallel()
	cluster := pgcluster.Start(t)
	cluster.Stop()
	arguments := func(command string, more ...string) []string {
		return append([]string{command, "--database", cluster.DSN(), "--data-dir", t.TempDir(), "--database-wait", "1h"}, more...)
	}
	const waiting = "PostgreSQL cannot be reached yet"

	stopped := start(t, nil, arguments("serve", "--listen", "127.0.0.1:0", "--admin-listen", "")...)
	stopped.await(waiting)
	if code := stopped.terminate(); code != 0 {
		t.Errorf("a stop while waiting ends with code %d", code)
	}

	server := start(t, nil, arguments("serve", "--listen", "127.0.0.1:0", "--admin-listen", "")...)
	server.await(waiting)
	command := start(t, nil, arguments("migrate")...)
	command.await(waiting)
	cluster.Restart()
	server.await("msg=serving")
	if code := command.wait(); code != 0 {
		t.Errorf("the command ends with code %d", code)
	}
	if code := server.terminate(); code != 0 {
		t.Errorf("the server ends with code %d", code)
	}
	for _, p := range []*process{stopped, server, command} {
		if said := p.stderr.String(); strings.Contains(said, "password") || strings.Count(said, waiting) > 10 {
			t.Errorf("too much is said:\n%s", said)
		}
	}
}
