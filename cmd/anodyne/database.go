package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
)

// commandLog returns the log for what an operator should know while a command
// runs, such as files that were readable by others, or waiting for PostgreSQL.
func commandLog() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{
		Level: slog.LevelWarn,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// openStore opens the database for a command that runs beside a server. It does
// not create a missing one, because then a mistyped address would pass for an
// intact database, and does not migrate an old one, because a server of the older
// version may be running on it.
func openStore(ctx context.Context, cfg config.Config) (*store.Store, error) {
	cfg.Finish()
	sc, err := cfg.Opening(commandLog())
	if err != nil {
		return nil, err
	}
	return openExisting(ctx, sc)
}

// openExisting is openStore for a configuration that is complete.
func openExisting(ctx context.Context, sc store.Config) (*store.Store, error) {
	s, err := store.Open(ctx, sc)
	if errors.Is(err, engine.ErrEmpty) {
		err = noDatabase(sc)
	}
	return s, err
}

// noDatabase reports a database that does not exist or is empty.
func noDatabase(sc store.Config) error {
	return fmt.Errorf("there is no Anodyne database at %s; check --database, or create the database with: anodyne migrate", config.HidePassword(sc.Database))
}

// createStore is openStore for commands that may be the first ones: it creates a
// missing database.
func createStore(ctx context.Context, cfg config.Config) (*store.Store, error) {
	cfg.Finish()
	sc, err := cfg.Opening(commandLog())
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, sc)
	if !errors.Is(err, engine.ErrEmpty) {
		return s, err
	}
	if _, err := store.Migrate(ctx, sc); err != nil {
		return nil, err
	}
	return store.Open(ctx, sc)
}

func runMigrate(ctx context.Context, e cli.Env, args []string) error {
	var cfg config.Config
	fs := cli.Flags(e, "migrate", "migrate [flags]\n\nMigrates the database schema to this version. It is safe to repeat, and to run on several nodes at once.")
	cfg.Store(fs)
	distribute := fs.Bool("distribute", false, "also distribute the tables, with their rows, over a Citus cluster; stop all nodes first")
	if _, err := cli.Parse(e, fs, args, 0); err != nil {
		return err
	}
	sc, err := cfg.Opening(commandLog())
	if err != nil {
		return err
	}
	var taken []engine.Migration
	var placed []engine.Placed
	if *distribute {
		taken, placed, err = store.Distribute(ctx, sc)
	} else {
		taken, err = store.Migrate(ctx, sc)
	}
	for _, m := range taken {
		fmt.Fprintf(e.Stdout, "applied %04d_%s\n", m.Version, m.Name)
	}
	if err != nil {
		return err
	}
	moved := false
	for _, p := range placed {
		fmt.Fprintln(e.Stdout, p)
		moved = moved || p.Moved
	}
	if *distribute {
		fmt.Fprintln(e.Stdout, engine.WorkerSettings())
	}
	if len(taken) == 0 && !moved {
		fmt.Fprintln(e.Stdout, "nothing to do: the database schema is up to date")
	}
	return nil
}
