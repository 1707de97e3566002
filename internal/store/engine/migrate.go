package engine

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

//go:embed migrations
var migrationFiles embed.FS

// MigrationLock is the key of the advisory lock for migrations on PostgreSQL.
const MigrationLock = 0x616e6f64_6d696772

// Migration is one step of the schema. There are no steps backward.
type Migration struct {
	Version int64
	Name    string
	SQL     string
}

// Migrations returns the steps of an engine in order. Files are named
// NNNN_name.sql, the same for both engines.
func Migrations(engine string) []Migration {
	dir := "migrations/" + engine
	entries, err := fs.ReadDir(migrationFiles, dir)
	if err != nil {
		panic(err) // the files are embedded in the binary
	}
	var steps []Migration
	for _, e := range entries {
		number, name, _ := strings.Cut(strings.TrimSuffix(e.Name(), ".sql"), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			panic(fmt.Sprintf("migration %s has no number", e.Name()))
		}
		sql, err := fs.ReadFile(migrationFiles, dir+"/"+e.Name())
		if err != nil {
			panic(err)
		}
		steps = append(steps, Migration{version, name, string(sql)})
	}
	return steps
}

// SchemaVersion returns the schema version that this program requires.
func SchemaVersion() int64 {
	steps := Migrations(sqliteDialect.name)
	return steps[len(steps)-1].Version
}

const createSchemaVersion = `CREATE TABLE IF NOT EXISTS schema_version (
	version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)`

// Migrate brings the database to the schema of this program and returns the
// steps taken. Nodes that start at the same time wait for each other. Either
// all steps are applied or none.
func Migrate(ctx context.Context, cfg Config) (taken []Migration, err error) {
	return migrateTo(ctx, cfg, SchemaVersion(), func(tx Tx, _ *Dialect, have int64) (int64, error) { return have, refuseHalf(tx, cfg.Restore) })
}

// migrateTo does so up to a version. judge examines a database that already has a
// schema, of version have, and returns the version from which to go on.
func migrateTo(ctx context.Context, cfg Config, version int64, judge func(tx Tx, d *Dialect, have int64) (int64, error)) (taken []Migration, err error) {
	cfg.Registry = nil // the metrics are registered by the Open that follows
	db, err := Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	steps := Migrations(db.Engine())
	err = db.migrate(ctx, func(tx Tx) error {
		taken = nil
		if _, err := tx.Exec(createSchemaVersion); err != nil {
			return err
		}
		have, err := knownVersion(tx, steps)
		if err != nil {
			return err
		}
		distributed, err := isDistributed(tx, db.dialect())
		if err != nil {
			return err
		}
		if have > 0 {
			if have, err = judge(tx, db.dialect(), have); err != nil {
				return err
			}
		}
		for _, step := range steps {
			if step.Version <= have || step.Version > version {
				continue
			}
			for _, sql := range SplitSQL(step.SQL) {
				if _, err := tx.Exec(sql); err != nil {
					return fmt.Errorf("migration %04d_%s: %w", step.Version, step.Name, err)
				}
			}
			if _, err := tx.Exec(`INSERT INTO schema_version (version, name, applied_at) VALUES ($1, $2, $3)`,
				step.Version, step.Name, Millis(db.Now())); err != nil {
				return err
			}
			taken = append(taken, step)
		}
		if have == 0 && cfg.Restore != "" { // so that no server takes it for a new one
			if err := mark(tx, cfg.Restore); err != nil {
				return err
			}
		}
		if distributed {
			_, err = place(tx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return taken, nil
}

func schemaVersion(tx Tx) (version int64, err error) {
	_, err = One(tx, `SELECT coalesce(max(version), 0) FROM schema_version`, func(r Row) { version = r.Int(0) })
	return version, err
}

// NewerError reports a database that was migrated by a newer program.
type NewerError struct{ Have, Know int64 }

// Error returns both schema versions and what to do about it.
func (e *NewerError) Error() string {
	return fmt.Sprintf("the database has schema version %d, but this program supports only up to %d: run a newer anodyne, or restore a backup from before the upgrade", e.Have, e.Know)
}

// knownVersion returns the version of the schema, and a NewerError if it is
// beyond the steps.
func knownVersion(tx Tx, steps []Migration) (int64, error) {
	have, err := schemaVersion(tx)
	if know := steps[len(steps)-1].Version; err == nil && have > know {
		err = &NewerError{have, know}
	}
	return have, err
}

// CheckVersion returns an error unless the database has the schema of this
// program.
func (db *DB) CheckVersion(ctx context.Context) error {
	steps := Migrations(db.Engine())
	return db.Read(ctx, func(tx Tx) error {
		found, err := One(tx, db.dialect().hasTable, func(Row) {}, "schema_version")
		if err != nil {
			return err
		}
		if !found {
			return ErrEmpty
		}
		have, err := knownVersion(tx, steps)
		if err != nil {
			return err
		}
		if have < steps[len(steps)-1].Version {
			return errNotMigrated
		}
		return refuseHalf(tx, db.restore)
	})
}

// refuseHalf returns an error if a restore of the database is not complete,
// except for that restore itself.
func refuseHalf(tx Tx, restore string) error {
	half := false
	_, err := One(tx, `SELECT value FROM setting WHERE name = 'restoring'`, func(r Row) { half = restore == "" || string(r.Raw(0)) != restore })
	if err == nil && half {
		err = errHalf
	}
	return err
}

// ErrEmpty reports a database that does not exist or has no schema.
var ErrEmpty = errors.New("the database does not exist or is empty; run: anodyne migrate")

// MustExist returns [ErrEmpty] if the file of a SQLite database is missing or
// empty. [Open] would create it.
func MustExist(database string) error {
	path, ok := strings.CutPrefix(database, "sqlite:")
	if !ok || path == "" {
		return nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return ErrEmpty
	}
	return nil
}

var errNotMigrated = errors.New("the database schema is not up to date; run: anodyne migrate")

// SplitSQL splits a migration file into statements. Statements must not contain
// semicolons.
func SplitSQL(file string) []string {
	var stmts []string
	for stmt := range strings.SplitSeq(file, ";\n") {
		if strings.TrimSpace(stmt) != "" {
			stmts = append(stmts, stmt)
		}
	}
	return stmts
}
