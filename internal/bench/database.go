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
)

// Engines lists the engines.
var Engines = []string{SQLite, SQLiteEncrypted, Postgres}

// database is the database being measured.
type database struct {
	store.Config
	// variables give a server the same database. They are not arguments, which
	// other users could see.
	variables []string
	// process is the parent of the processes of a PostgreSQL that was started
	// here, or 0.
	process int
	remove  func() error
}

// openDatabase determines the location of the database, and starts PostgreSQL
// if none is given.
func openDatabase(o *Options, dir string) (*database, error) {
	db := &database{Config: store.Config{Database: o.Database, DataDir: filepath.Join(dir, "data")}, remove: func() error { return nil }}
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
		if db.process, err = server.Process(); err != nil {
			return nil, errors.Join(err, server.Discard())
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

// settled updates the statistics of the planner on PostgreSQL, which would
// otherwise happen within a minute.
func (db *database) settled(ctx context.Context) error {
	if !engine.IsPostgres(db.Database) {
		return nil
	}
	return pgserver.Analyze(ctx, db.Database)
}
