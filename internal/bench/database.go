package bench

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/pgserver"
)

// The engines that can be measured.
const (
	SQLite          = "sqlite"
	SQLiteEncrypted = "sqlite-encrypted"
	Postgres        = "postgres"
	Citus           = "citus"
)

// Engines lists the engines.
var Engines = []string{SQLite, SQLiteEncrypted, Postgres, Citus}

// database is the database being measured.
type database struct {
	store.Config
	// variables give a server the same database. They are not arguments, which
	// other users could see.
	variables []string
	// processes are the parents of the processes of PostgreSQL servers that were
	// started here.
	processes []int
	// migrate creates the tables; analyze updates the statistics of the planner.
	migrate func(context.Context, store.Config) error
	analyze func(context.Context) error
	remove  func() error
}

// openDatabase determines the location of the database, and starts PostgreSQL
// if none is given.
func openDatabase(o *Options, dir string) (*database, error) {
	db := &database{Config: store.Config{Database: o.Database, DataDir: filepath.Join(dir, "data")}, remove: func() error { return nil }}
	db.migrate = func(ctx context.Context, cfg store.Config) error {
		_, err := store.Migrate(ctx, cfg)
		return err
	}
	db.analyze = func(ctx context.Context) error {
		if !engine.IsPostgres(db.Database) {
			return nil
		}
		return pgserver.Analyze(ctx, db.Database)
	}
	if db.Database == "" && inMemory(dir) {
		o.Note("the folder of the database is in memory (tmpfs): writes are faster than on a disk; choose another with --dir")
	}
	switch {
	case db.Database != "":
	case o.Engine == Postgres:
		server, err := pgserver.Launch(pgserver.Durable, o.Dir)
		if errors.Is(err, pgserver.ErrUnavailable) {
			return nil, fmt.Errorf("%w; name an empty database with --database", err)
		}
		if err != nil {
			return nil, err
		}
		db.Database, db.remove = server.DSN(), server.Discard
		process, err := server.Process()
		if err != nil {
			return nil, errors.Join(err, server.Discard())
		}
		db.processes = []int{process}
	case o.Engine == Citus:
		if err := db.startCitus(dir); err != nil {
			return nil, err
		}
	default:
		db.Database = "sqlite:" + filepath.Join(dir, "anodyne.db")
	}
	db.variables = []string{config.Variable("database") + "=" + db.Database}
	if o.Engine == SQLiteEncrypted {
		var secret [seal.KeySize]byte
		rand.Read(secret[:])
		text := hex.EncodeToString(secret[:])
		key, err := seal.ParseKey([]byte(text))
		if err != nil {
			return nil, err
		}
		db.Key = key
		db.variables = append(db.variables, config.Variable("database-key")+"="+text)
	}
	return db, nil
}
