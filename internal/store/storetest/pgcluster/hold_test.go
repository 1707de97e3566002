package pgcluster

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"anodyne.example/anodyne/internal/testwait"
)

func TestPausedClusterHangs(t *testing.T) {
	c := Start(t)
	conn := connect(t, c.DSN())
	pid := c.postmaster()
	resume := c.Pause()
	answered := make(chan error, 1)
	go func() { answered <- conn.Ping(context.Background()) }()
	list, err := children(pid)
	if err != nil || len(list) < 2 {
		t.Fatalf("processes %v, %v", list, err)
	}
	for _, pid := range append(list, pid) {
		if state, _, err := look(pid); state != "T" && state != "Z" || err != nil {
			t.Errorf("process %d goes on: %s %v", pid, state, err)
		}
	}
	select {
	case err := <-answered:
		t.Errorf("an answer: %v", err)
	default:
	}
	resume()
	if err := <-answered; err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestCrashedClusterRecovers(t *testing.T) {
	c := Start(t)
	run(t, connect(t, c.DSN()), "CREATE TABLE notes (text text); INSERT INTO notes VALUES ('kept')")
	open := connect(t, c.DSN())
	c.Crash()
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Bound)
	defer cancel()
	for open.Ping(ctx) == nil { // it is disconnected soon
	}
	for {
		conn, err := pgx.Connect(ctx, c.DSN())
		if err == nil {
			conn.Close(ctx)
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	if got := query[int](t, connect(t, c.DSN()), "SELECT count(*) FROM notes"); got != 1 {
		t.Errorf("%d notes", got)
	}
}
