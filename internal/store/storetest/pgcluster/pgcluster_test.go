package pgcluster

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"anodyne.example/anodyne/internal/testwait"
)

// The package is used in tests with leak checks, so it does not keep any
// goroutines.
func TestMain(m *testing.M) { testwait.Main(m) }

func connect(tb testing.TB, dsn string) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func query[T any](tb testing.TB, conn *pgx.Conn, sql string, args ...any) (value T) {
	tb.Helper()
	if err := conn.QueryRow(context.Background(), sql, args...).Scan(&value); err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
	return value
}

func run(tb testing.TB, conn *pgx.Conn, sql string) {
	tb.Helper()
	if _, err := conn.Exec(context.Background(), sql); err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
}

func TestDSNFromEnvironment(t *testing.T) {
	t.Setenv(Env, "postgres://somewhere/else")
	if got := DSN(t); got != "postgres://somewhere/else" {
		t.Errorf("DSN is %s", got)
	}
}

func TestDSNOfProcess(t *testing.T) {
	t.Setenv(Env, "") // the server of the process, not that of the test run
	dsn := DSN(t)
	if again := DSN(t); again != dsn {
		t.Errorf("a second cluster was started: %s and %s", dsn, again)
	}
	conn := connect(t, dsn)
	for setting, want := range map[string]string{
		"fsync":              "off",
		"synchronous_commit": "on",
		"max_connections":    "300",
		"server_encoding":    "UTF8",
		"listen_addresses":   "127.0.0.1",
	} {
		if got := query[string](t, conn, "SELECT current_setting($1)", setting); got != want {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}

	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	// There is no socket if TMPDIR is too deep for one.
	if socket := query[string](t, conn, "SELECT current_setting('unix_socket_directories')"); socket != "" {
		local := config.Copy()
		local.Host = socket
		conn, err := pgx.ConnectConfig(context.Background(), local)
		if err != nil {
			t.Fatalf("through the socket: %v", err)
		}
		conn.Close(context.Background())
	}
	config.Password = "guessed"
	if _, err := pgx.ConnectConfig(context.Background(), config); err == nil {
		t.Error("a wrong password was let in")
	}
}
