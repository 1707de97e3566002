package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"anodyne.example/anodyne/internal/store/pgserver"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
	"anodyne.example/anodyne/internal/testneed"

	"github.com/jackc/pgx/v5"
)

// roleEnv makes this test binary, when started again by run, the command. Its
// value is the file to which the command writes the address it was given, once
// it has connected there.
const roleEnv = "ANODYNE_TEST_WITHPOSTGRES_COMMAND"

func TestMain(m *testing.M) {
	if path := os.Getenv(roleEnv); path != "" {
		os.Exit(command(path))
	}
	os.Exit(m.Run())
}

func command(path string) (status int) {
	dsn := os.Getenv(pgcluster.Env)
	conn, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		return 1
	}
	defer conn.Close(context.Background())
	if err := os.WriteFile(path, []byte(dsn), 0o600); err != nil {
		return 1
	}
	return 7
}

func TestServerLivesAsLongAsTheCommand(t *testing.T) {
	testneed.Long(t, "PostgreSQL")
	if err := pgserver.Available(); err != nil {
		testneed.Skip(t, err.Error())
	}
	t.Setenv(pgcluster.Env, "")
	path := filepath.Join(t.TempDir(), "address")
	t.Setenv(roleEnv, path)

	status, err := run([]string{os.Args[0]})
	if status != 7 || err != nil {
		t.Fatalf("status %d (%v), want the command's own 7", status, err)
	}
	dsn, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := pgx.Connect(context.Background(), string(dsn)); err == nil {
		conn.Close(context.Background())
		t.Error("the server is still there")
	}
}

func TestStatus(t *testing.T) {
	t.Setenv(pgcluster.Env, "postgres://given/already")
	for script, want := range map[string]int{
		"exit 0": 0,
		"exit 3": 3,
		`test "$ANODYNE_TEST_POSTGRES" = postgres://given/already`: 0,
		"kill -9 $$": 1,
	} {
		if status, err := run([]string{"sh", "-c", script}); status != want || err != nil {
			t.Errorf("%s: status %d (%v), want %d", script, status, err, want)
		}
	}
	if status, err := run([]string{"/no/such/command"}); status == 0 || err == nil {
		t.Errorf("a missing command: status %d, error %v", status, err)
	}
}
