package pgcluster

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

func mustParse(tb testing.TB, dsn string) *url.URL {
	tb.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

// fill runs a statement, as a template would run the migrations.
func fill(dsn, sql string) error {
	conn, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		return err
	}
	_, err = conn.Exec(context.Background(), sql)
	return errors.Join(err, conn.Close(context.Background()))
}

func TestDatabaseIsACopyOfItsOwn(t *testing.T) {
	var filled atomic.Int32
	schema := func(dsn string) error {
		filled.Add(1)
		return fill(dsn, "CREATE TABLE notes (text text)")
	}
	var mu sync.Mutex
	var names []string
	t.Run("many", func(t *testing.T) {
		for range 8 {
			t.Run("one", func(t *testing.T) {
				t.Parallel()
				conn := connect(t, Database(t, schema))
				run(t, conn, "INSERT INTO notes VALUES ('mine')")
				if n := query[int](t, conn, "SELECT count(*) FROM notes"); n != 1 {
					t.Errorf("%d notes, want only the own", n)
				}
				mu.Lock()
				defer mu.Unlock()
				names = append(names, query[string](t, conn, "SELECT current_database()::text"))
			})
		}
	})
	if n := filled.Load(); n > 1 { // none if the test runs again in the same process
		t.Errorf("the template was filled %d times", n)
	}
	admin := connect(t, DSN(t))
	if n := query[int](t, admin, "SELECT count(*) FROM pg_database WHERE datname = ANY($1)", names); n != 0 || len(names) != 8 {
		t.Errorf("of %d databases %d are left", len(names), n)
	}
}

func TestDatabaseTemplatesAreToldApart(t *testing.T) {
	tables := func(dsn string) int {
		return query[int](t, connect(t, dsn), "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'")
	}
	one := func(dsn string) error { return fill(dsn, "CREATE TABLE a (n int)") }
	two := func(dsn string) error { return fill(dsn, "CREATE TABLE a (n int); CREATE TABLE b (n int)") }
	for want, template := range []func(string) error{nil, one, two} {
		if got := tables(Database(t, template)); got != want {
			t.Errorf("%d tables, want %d", got, want)
		}
	}
}

func TestDatabaseDroppedWhileInUse(t *testing.T) {
	var dsn string
	t.Run("leaves its connection open", func(t *testing.T) {
		dsn = Database(t, nil)
		conn, err := pgx.Connect(context.Background(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		run(t, conn, "BEGIN")
	})
	if conn, err := pgx.Connect(context.Background(), dsn); err == nil {
		conn.Close(context.Background())
		t.Error("the database is still there")
	}
}

func TestBrokenTemplateFailsOnce(t *testing.T) {
	server := mustParse(t, DSN(t))
	broken := errors.New("no such column")
	calls := 0
	template := func(string) error { calls++; return broken }
	m := maker{id: "broken", templates: map[uintptr]madeTemplate{}}
	for range 2 {
		if _, err := m.create(server, template); !errors.Is(err, broken) {
			t.Errorf("create says %v, want the template's error", err)
		}
	}
	if calls != 1 {
		t.Errorf("the template was tried %d times", calls)
	}
	if err := m.drop(server, prefix+"broken_1"); err != nil {
		t.Error(err)
	}
	if err := m.admin.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestSweep(t *testing.T) {
	admin := connect(t, DSN(t))
	server := mustParse(t, DSN(t))
	living := Database(t, nil)

	gone := maker{id: "gone"}
	name, err := gone.create(server, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.drop(server, name); err != nil {
			t.Error(err)
		}
	})
	exists := func() bool {
		return query[bool](t, admin, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name)
	}

	sweepAsAnother := func() {
		t.Helper()
		other := maker{id: "other"}
		if err := other.connect(server); err != nil {
			t.Fatal(err)
		}
		if err := other.admin.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	sweepAsAnother()
	if !exists() {
		t.Fatal("the database of a living process was dropped")
	}

	pid := gone.admin.PgConn().PID()
	if err := gone.admin.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	query[bool](t, admin, "SELECT pg_terminate_backend($1, 10000)", pid)
	sweepAsAnother()
	if exists() {
		t.Error("the database of a process that has gone was kept")
	}
	connect(t, living)
}
