package storetest

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// address returns the address of a migrated database, copied from the engine's
// template.
func address(tb testing.TB, engine string) string {
	tb.Helper()
	switch engine {
	case SQLite:
		content, err := sqliteTemplate()
		if err != nil {
			tb.Fatal(err)
		}
		path := filepath.Join(tb.TempDir(), "anodyne.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			tb.Fatal(err)
		}
		return "sqlite:" + path
	case Postgres:
		return patient(pgcluster.Database(tb, migrate))
	}
	tb.Fatalf("there is no engine %q", engine)
	return ""
}

// patient returns an address with a connect timeout of a minute. On a machine
// that runs many tests at once, starting a server process can take longer than
// the service waits.
func patient(address string) string {
	if strings.Contains(address, "?") {
		return address + "&connect_timeout=60"
	}
	return address + "?connect_timeout=60"
}

// sqliteTemplate is the content of a migrated file.
var sqliteTemplate = sync.OnceValues(func() (content []byte, err error) {
	dir, err := os.MkdirTemp("", "storetest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "template.db")
	if err := migrate("sqlite:" + path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func migrate(database string) (err error) {
	cfg := store.Config{Database: database, Log: slog.New(slog.DiscardHandler)}
	if pgcluster.Distributed() && engine.IsPostgres(database) {
		_, _, err = store.Distribute(context.Background(), cfg)
	} else {
		_, err = store.Migrate(context.Background(), cfg)
	}
	return err
}
