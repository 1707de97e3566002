package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Place is where the rows of a table are in a Citus cluster. On SQLite and on a
// single PostgreSQL server it has no meaning.
type Place string

const (
	// ByOrg distributes a table over the workers by org_no. All rows of an
	// organisation, in all such tables, are on one worker.
	ByOrg Place = "distributed by org_no"
	// OnCoordinator keeps a table on the coordinator: tables with one row per
	// account or client, which are looked up by a hash or an e-mail address
	// before the organisation is known, and those of the service as a whole.
	// There are no reference tables, because Citus refuses to write to them
	// while any worker is down.
	OnCoordinator Place = "on the coordinator"
)

// places declares the place of every table of the schema.
var places = map[string]Place{
	"alert_state":        ByOrg,
	"clinical_record":    ByOrg,
	"cohort":             ByOrg,
	"cohort_member":      ByOrg,
	"derivation":         ByOrg,
	"export_mark":        ByOrg,
	"idempotency":        ByOrg,
	"import_key":         ByOrg,
	"import_line":        ByOrg,
	"journal":            ByOrg,
	"journal_head":       ByOrg,
	"journal_pending":    ByOrg,
	"journal_seal":       ByOrg,
	"medicine_alias":     ByOrg,
	"org_counter":        ByOrg,
	"patient":            ByOrg,
	"patient_gone":       ByOrg,
	"patient_hole":       ByOrg,
	"patient_identifier": ByOrg,
	"patient_series":     ByOrg,
	"record_count":       ByOrg,
	"record_identifier":  ByOrg,
	"report":             ByOrg,
	"report_chunk":       ByOrg,
	"report_count":       ByOrg,
	"report_counter":     ByOrg,
	"report_garbage":     ByOrg,
	"webhook":            ByOrg,
	"webhook_cursor":     ByOrg,
	"webhook_delivery":   ByOrg,
	"webhook_hour":       ByOrg,

	"access_epoch":     OnCoordinator,
	"account":          OnCoordinator,
	"account_session":  OnCoordinator,
	"client":           OnCoordinator,
	"client_assertion": OnCoordinator,
	"client_jwks_uri":  OnCoordinator,
	"client_key":       OnCoordinator,
	"client_secret":    OnCoordinator,
	"client_usage":     OnCoordinator,
	"invitation":       OnCoordinator,
	"leader":           OnCoordinator,
	"node":             OnCoordinator,
	"org":              OnCoordinator,
	"password_reset":   OnCoordinator,
	"rate_window":      OnCoordinator,
	"seal_acceptance":  OnCoordinator,
	"setting":          OnCoordinator,
	"sign_in_failure":  OnCoordinator,
	"sign_in_throttle": OnCoordinator,
	"spool_segment":    OnCoordinator,
	"token":            OnCoordinator,
	"webhook_node":     OnCoordinator,
}

// PlaceOf returns the place of a table of the schema, or "" if there is none.
func PlaceOf(table string) Place { return places[table] }

// withOrg lists primary keys that must be extended before a table can be
// distributed: a unique key has to contain the column that distributes it.
var withOrg = map[string]string{"journal_pending": "org_no, seq"}

// Placed describes where a table is stored and whether it was moved there.
type Placed struct {
	Table string
	Place Place
	// Moved reports whether this call distributed the table.
	Moved bool
	// Dropped lists the foreign keys that were dropped, because Citus does not
	// support any from a worker to the coordinator.
	Dropped []string
}

// errNoCitus reports a database without the extension.
var errNoCitus = errors.New("the database does not have the citus extension: create it on every server of the cluster (CREATE EXTENSION citus), and add the workers on the coordinator (SELECT citus_add_node('HOST', 5432))")

// Distribute migrates a PostgreSQL database to the schema of this program and
// distributes its tables over a Citus cluster, with their rows. It makes settings
// on the workers (see [WorkerSettings]). It returns the steps taken and the place
// of every table. It is safe to call again. From then
// on, [Migrate] distributes new tables by itself.
func Distribute(ctx context.Context, cfg Config) (taken []Migration, placed []Placed, err error) {
	if taken, err = Migrate(ctx, cfg); err != nil {
		return nil, nil, err
	}
	cfg.Registry = nil
	db, err := Open(ctx, cfg)
	if err != nil {
		return taken, nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if db.dialect().hasExtension == "" {
		return taken, nil, errors.New("only a PostgreSQL database with the citus extension can be distributed; to move a SQLite database, use anodyne backup and anodyne restore")
	}
	err = db.migrate(ctx, func(tx Tx) (err error) {
		if found, err := One(tx, db.dialect().hasExtension, func(Row) {}, "citus"); err != nil {
			return err
		} else if !found {
			return errNoCitus
		}
		if placed, err = place(tx); err != nil {
			return err
		}
		return setWorkers(tx)
	})
	return taken, placed, err
}

// Distributed reports whether the tables are distributed over a Citus cluster.
func (db *DB) Distributed() bool { return db.dialect().Distributed }

const (
	// workers counts the servers that can have shards.
	workers = `SELECT count(*) FROM pg_dist_node WHERE isactive AND shouldhaveshards AND noderole = 'primary'`
	// placedTables lists the distributed tables.
	placedTables = `SELECT CAST(c.relname AS TEXT) FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
		WHERE c.relnamespace = to_regnamespace(current_schema()) AND p.partmethod = 'h'`
	// foreignKeys lists the foreign keys of a table.
	foreignKeys = `SELECT CAST(conname AS TEXT) FROM pg_constraint WHERE contype = 'f' AND conrelid = to_regclass($1) ORDER BY 1`
	// keyWithOrg returns a row if the primary key of a table contains org_no.
	keyWithOrg = `SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
		WHERE i.indisprimary AND i.indrelid = to_regclass($1) AND a.attname = 'org_no'`
	// lead is the table that the others are colocated with.
	lead = "patient"
)

// isDistributed reports whether the tables are distributed.
func isDistributed(tx Tx, d *Dialect) (bool, error) {
	if d.hasExtension == "" {
		return false, nil
	}
	citus, err := One(tx, d.hasExtension, func(Row) {}, "citus")
	if err != nil || !citus {
		return false, err
	}
	tables, err := distributedTables(tx)
	return len(tables) > 0, err
}

func distributedTables(tx Tx) (tables []string, err error) {
	err = tx.Query(placedTables, func(r Row) error {
		tables = append(tables, r.Text(0))
		return nil
	})
	return tables, err
}

// place distributes the tables that are not in their place yet.
func place(tx Tx) (placed []Placed, err error) {
	have, err := distributedTables(tx)
	if err != nil {
		return nil, err
	}
	if len(have) == 0 {
		count := int64(0)
		if _, err := One(tx, workers, func(r Row) { count = r.Int(0) }); err != nil {
			return nil, err
		}
		if count == 0 {
			return nil, errors.New("the Citus cluster has no workers: add them on the coordinator (SELECT citus_add_node('HOST', 5432))")
		}
	}
	var tables []string
	for _, table := range created(postgresDialect.name) {
		// A restore migrates to the schema of its backup first.
		found, err := One(tx, postgresDialect.hasTable, func(Row) {}, table)
		if err != nil {
			return nil, err
		}
		if found {
			tables = append(tables, table)
		}
	}
	slices.SortStableFunc(tables, func(a, b string) int { return rank(a) - rank(b) })
	for _, table := range tables {
		p := Placed{Table: table, Place: places[table]}
		if p.Place == "" {
			return nil, fmt.Errorf("it is not declared where table %s is stored", table)
		}
		if p.Place == ByOrg && !slices.Contains(have, table) {
			if p.Dropped, err = distribute(tx, table); err != nil {
				return nil, fmt.Errorf("distributing table %s: %w", table, err)
			}
			p.Moved = true
		}
		placed = append(placed, p)
	}
	return placed, nil
}

// rank puts the lead first, and distributed tables before others.
func rank(table string) int {
	switch {
	case table == lead:
		return 0
	case places[table] == ByOrg:
		return 1
	}
	return 2
}

// distribute distributes one table with its rows.
func distribute(tx Tx, table string) (dropped []string, err error) {
	if err := tx.Query(foreignKeys, func(r Row) error {
		dropped = append(dropped, r.Text(0))
		return nil
	}, table); err != nil {
		return nil, err
	}
	for _, key := range dropped {
		if _, err := tx.Exec("ALTER TABLE " + table + " DROP CONSTRAINT " + key); err != nil {
			return nil, err
		}
	}
	if columns, ok := withOrg[table]; ok {
		found, err := One(tx, keyWithOrg, func(Row) {}, table)
		if err != nil {
			return nil, err
		}
		if !found {
			if _, err := tx.Exec("ALTER TABLE " + table + " DROP CONSTRAINT " + table + "_pkey, ADD PRIMARY KEY (" + columns + ")"); err != nil {
				return nil, err
			}
		}
	}
	colocated := lead
	if table == lead {
		colocated = "none"
	}
	if err := tx.Query(`SELECT create_distributed_table(CAST($1 AS TEXT), 'org_no', colocate_with => $2)`, nil, table, colocated); err != nil {
		return nil, err
	}
	// The rows were copied to the workers; this removes the originals.
	return dropped, tx.Query(`SELECT truncate_local_data_after_distributing_table(to_regclass($1))`, nil, table)
}

// created lists the tables that the migrations of an engine create, in order.
func created(engine string) (tables []string) {
	for _, m := range Migrations(engine) {
		for _, match := range createTable.FindAllStringSubmatch(m.SQL, -1) {
			tables = append(tables, match[1])
		}
	}
	return tables
}

// String describes the place of a table for operators.
func (p Placed) String() string {
	said := p.Table + ": " + string(p.Place)
	switch {
	case p.Moved:
		said = p.Table + ": now " + string(p.Place)
	case p.Place == ByOrg:
		said = p.Table + ": already " + string(p.Place)
	}
	if len(p.Dropped) > 0 {
		said += "; dropped foreign key " + strings.Join(p.Dropped, ", ")
	}
	return said
}
