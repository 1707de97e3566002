package engine

import (
	"context"
	"errors"
	"strings"
)

// contents reads whole tables in one transaction. In a Citus cluster it reads
// distributed tables one organisation at a time, because the coordinator stores
// and sorts the whole result of any other query.
type contents struct {
	tx Tx
	d  *Dialect
	// distributed reports whether the tables are distributed; then orgs has the
	// organisations in order, and counted how many rows each has, by table.
	distributed bool
	orgs        []int64
	counted     map[string]map[int64]int64
	// shards is where the shards were when the snapshots were taken.
	shards string
}

// contentsOf returns the contents of a database that nobody else writes to.
func (db *DB) contentsOf(tx Tx) (*contents, error) {
	distributed, err := isDistributed(tx, db.dialect())
	c := &contents{tx: tx, d: db.dialect(), distributed: distributed, counted: map[string]map[int64]int64{}}
	if err == nil && distributed {
		err = c.listOrgs()
	}
	return c, err
}

// pointedAt lists the tables on the coordinator that rows on the workers refer to.
const pointedAt = "org, account, seal_acceptance"

// contentsBesideWriters returns the contents of a database at one moment. tx must
// not have read anything yet.
//
// In a Citus cluster the coordinator and each worker have a snapshot of their own,
// taken when the transaction first reads there. Rows on the workers refer to
// rows on the coordinator, so nobody may add any of those between the first
// snapshot and the last.
func (db *DB) contentsBesideWriters(ctx context.Context, tx Tx) (*contents, error) {
	distributed, err := Get(ctx, db, func(tx Tx) (bool, error) { return isDistributed(tx, db.dialect()) })
	if err != nil {
		return nil, err
	}
	if !distributed {
		return &contents{tx: tx, d: db.dialect()}, nil
	}
	var c *contents
	err = db.Write(ctx, func(lock Tx) (err error) {
		if _, err := lock.Exec("LOCK TABLE " + pointedAt + " IN SHARE MODE"); err != nil {
			return err
		}
		if c, err = db.contentsOf(tx); err != nil {
			return err
		}
		if c.shards, err = placements(lock); err != nil {
			return err
		}
		_, err = One(tx, "SELECT count(*) FROM org_counter", func(Row) {}) // on every worker
		return err
	})
	return c, err
}

// stayed returns an error if shards were moved since [DB.contentsBesideWriters]:
// where they are now, their rows are not of the same moment.
func (db *DB) stayed(ctx context.Context, c *contents) error {
	if !c.distributed {
		return nil
	}
	now, err := Get(ctx, db, placements)
	if err == nil && now != c.shards {
		err = errors.New("the Citus cluster moved shards meanwhile; try again when it is done")
	}
	return err
}

// placements lists where the shards are.
func placements(tx Tx) (shards string, err error) {
	_, err = One(tx, `SELECT string_agg(shardid || ' ' || groupid, ',' ORDER BY shardid, groupid) FROM pg_dist_placement`, func(r Row) { shards = r.Text(0) })
	return shards, err
}

func (c *contents) listOrgs() error {
	return c.tx.Query(`SELECT org_no FROM org ORDER BY org_no`, func(r Row) error {
		c.orgs = append(c.orgs, r.Int(0))
		return nil
	})
}

// byOrg reports whether a table is read one organisation at a time.
func (c *contents) byOrg(t Table) bool { return c.distributed && places[t.Name] == ByOrg }

// count returns the number of rows of a table.
func (c *contents) count(t Table) (rows int64, err error) {
	if !c.byOrg(t) {
		_, err = One(c.tx, "SELECT count(*) FROM "+c.d.source(t.Name), func(r Row) { rows = r.Int(0) })
		return rows, err
	}
	counted := map[int64]int64{}
	if err := c.tx.Query("SELECT org_no, count(*) FROM "+c.d.source(t.Name)+" GROUP BY org_no", func(r Row) error {
		counted[r.Int(0)] = r.Int(1)
		return nil
	}); err != nil {
		return 0, err
	}
	c.counted[t.Name] = counted
	for _, org := range c.orgs { // not those that were created later
		rows += counted[org]
	}
	return rows, nil
}

// Rows calls each for every row of a table, ordered by its key.
func (c *contents) Rows(t Table, each func(Row) error) error {
	columns, order := make([]string, len(t.Columns)), make([]string, len(t.Key))
	text := map[string]bool{}
	for i, column := range t.Columns {
		columns[i], text[column.Name] = column.Name, column.Type == Text
	}
	for i, k := range t.Key {
		if order[i] = k; text[k] { // the default collation depends on the engine and the database
			order[i] += " COLLATE " + c.d.Binary
		}
	}
	from, ordered := "SELECT "+strings.Join(columns, ", ")+" FROM "+c.d.source(t.Name), " ORDER BY "+strings.Join(order, ", ")
	if !c.byOrg(t) {
		return c.tx.Query(from+ordered, each)
	}
	if c.counted[t.Name] == nil {
		if _, err := c.count(t); err != nil {
			return err
		}
	}
	// The keys of these tables begin with org_no, so this is the same order.
	for _, org := range c.orgs {
		if c.counted[t.Name][org] == 0 {
			continue
		}
		if err := c.tx.Query(from+" WHERE org_no = $1"+ordered, each, org); err != nil {
			return err
		}
	}
	return nil
}
