package pgcluster

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestReplicaTakesOver(t *testing.T) {
	primary := Start(t)
	replica := primary.Replica()
	both := primary.DSNWith(replica)
	conn := connect(t, both)
	run(t, conn, "CREATE TABLE notes (text text)")
	if got := query[bool](t, connect(t, replica.DSN()), "SELECT pg_is_in_recovery()"); !got {
		t.Error("the replica is no replica")
	}

	// A commit waits for the replica.
	replica.Stop()
	brief, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := conn.Exec(brief, "INSERT INTO notes VALUES ('unheard')"); err == nil {
		t.Error("a commit was acknowledged without the replica")
	}
	replica.Restart()

	run(t, connect(t, both), "INSERT INTO notes VALUES ('kept')")
	primary.Kill()
	if conn, err := pgx.Connect(t.Context(), both); err == nil {
		conn.Close(t.Context())
		t.Error("a replica was taken for a primary")
	}
	replica.Promote()
	if got := query[int](t, connect(t, both), "SELECT count(*) FROM notes WHERE text = 'kept'"); got != 1 {
		t.Errorf("%d notes on the replica", got)
	}
	run(t, connect(t, both), "INSERT INTO notes VALUES ('written after')")

	// A promoted server can have a replica in turn.
	next := replica.Replica()
	run(t, connect(t, replica.DSN()), "INSERT INTO notes VALUES ('kept')")
	replica.Kill()
	next.Promote()
	if got := query[int](t, connect(t, next.DSN()), "SELECT count(*) FROM notes WHERE text = 'kept'"); got != 2 {
		t.Errorf("%d notes on the second replica", got)
	}
}
