package engine

import (
	"cmp"
	"context"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// shard holds the rows of some organisations in the distributed tables, all on one
// worker. There they are in tables of their own.
type shard struct {
	id      int64 // of the part of the lead table
	version version
	tables  map[string]string // the names of its tables by those of the distributed tables
	sql     sync.Map          // statements about its tables by SQL as written
	worker  *workerLink       // nil if no worker can be asked

	// The lock of direct guards these.
	found    time.Time
	outdated bool // it has moved since
}

// usable reports whether the worker can be asked. Like due, it must be called with
// the lock of direct held.
func (s *shard) usable() bool { return !s.outdated && s.worker != nil && s.worker.usable() }

// due reports whether a shard that is not usable can be looked for again.
func (s *shard) due(now time.Time) bool { return now.Sub(s.found) > findAgain }

// version changes whenever the coordinator changes where a shard is.
type version struct{ placement, node int64 }

// located is what the coordinator knows about a shard.
type located struct {
	version version
	address string // of its only worker, or "" if there are several
	tables  map[string]string
}

const (
	// homesOf selects the shards of organisations.
	homesOf = `SELECT org_no, get_shard_id_for_distribution_column('` + lead + `', org_no) FROM unnest(CAST($1 AS BIGINT[])) AS org_no`
	// placement selects where a shard is. xmin is the transaction that changed a
	// row.
	placement = `SELECT p.shardid, CAST(CAST(p.xmin AS TEXT) AS BIGINT) AS placement, CAST(CAST(n.xmin AS TEXT) AS BIGINT) AS node, n.nodename, n.nodeport
		FROM pg_dist_placement p JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary' AND n.isactive`
	// placesOf selects where shards are, with a row for each distributed table.
	placesOf = `SELECT now.shardid, now.placement, now.node, now.nodename, CAST(now.nodeport AS BIGINT), CAST(c.relname AS TEXT), shard_name(part.logicalrelid, part.shardid)
		FROM (` + placement + `) AS now
		JOIN pg_dist_shard lead ON lead.shardid = now.shardid
		JOIN pg_dist_shard part ON part.shardminvalue = lead.shardminvalue AND part.shardmaxvalue = lead.shardmaxvalue
		JOIN pg_dist_partition t ON t.logicalrelid = part.logicalrelid AND t.partmethod = 'h'
			AND t.colocationid = (SELECT colocationid FROM pg_dist_partition WHERE logicalrelid = lead.logicalrelid)
		JOIN pg_class c ON c.oid = part.logicalrelid AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = lead.logicalrelid)
		WHERE now.shardid = ANY($1)`
	// versionsOf selects the versions of shards, whose numbers are separated by
	// commas, so that statements can be combined.
	versionsOf = `SELECT now.shardid, now.placement, now.node FROM unnest(CAST(string_to_array($1, ',') AS BIGINT[])) AS wanted (shardid)
		CROSS JOIN LATERAL (` + placement + ` WHERE p.shardid = wanted.shardid OFFSET 0) AS now`
)

// homes asks the coordinator for the shards of organisations.
func (e *postgresEngine) homes(ctx context.Context, orgs []int64) (homes map[int64]int64, err error) {
	homes = make(map[int64]int64, len(orgs))
	if len(orgs) == 0 {
		return homes, nil
	}
	err = e.read(ctx, func(tx Tx) error {
		return tx.Query(homesOf, func(r Row) error {
			homes[r.Int(0)] = r.Int(1)
			return nil
		}, orgs)
	})
	return homes, err
}

// locate asks the coordinator where shards are.
func (e *postgresEngine) locate(ctx context.Context, shards []int64) (all map[int64]*located, err error) {
	all = make(map[int64]*located, len(shards))
	if len(shards) == 0 {
		return all, nil
	}
	err = e.read(ctx, func(tx Tx) error {
		return tx.Query(placesOf, func(r Row) error {
			address := net.JoinHostPort(r.Text(3), strconv.FormatInt(r.Int(4), 10))
			at := all[r.Int(0)]
			if at == nil {
				at = &located{version: version{r.Int(1), r.Int(2)}, address: address, tables: map[string]string{}}
				all[r.Int(0)] = at
			}
			if at.address != address {
				at.address = ""
			}
			at.tables[r.Text(5)] = r.Text(6)
			return nil
		}, shards)
	})
	return all, err
}

// versions asks the coordinator for the versions of shards, together with the
// requests that are being counted. If one is as it was when the shard was found,
// the shard has not moved since, and what was read on its worker before is current.
func (e *postgresEngine) versions(ctx context.Context, shards []*shard) (map[int64]version, error) {
	var ids strings.Builder
	for i, s := range shards {
		if i > 0 {
			ids.WriteByte(',')
		}
		ids.WriteString(strconv.FormatInt(s.id, 10))
	}
	f, err := e.asks.Do(ctx, ask{sql: versionsOf, args: []any{ids.String()}})
	if err = cmp.Or(err, f.err); err != nil {
		return nil, err
	}
	all := make(map[int64]version, len(shards))
	for _, r := range f.rows {
		all[r.Int(0)] = version{r.Int(1), r.Int(2)}
	}
	return all, nil
}

var (
	// tableInQuery finds the names of tables in a query, as we write them: not in a
	// list with commas, and after one space.
	tableInQuery = regexp.MustCompile(`\b(?:FROM|JOIN) (\w+)`)
	// otherName finds the name that a query gives to a table; keywords are in
	// capitals.
	otherName = regexp.MustCompile(`^ (?:AS )?[a-z]`)
)

// statement returns a query about the tables of the shard, or false if it needs
// others.
func (s *shard) statement(sql string) (string, bool) {
	if done, ok := s.sql.Load(sql); ok {
		return done.(string), done != ""
	}
	done := s.rewritten(sql)
	s.sql.Store(sql, done)
	return done, done != ""
}

// rewritten returns a query about the tables of the shard, or "".
func (s *shard) rewritten(sql string) string {
	var b strings.Builder
	end := 0
	for _, at := range tableInQuery.FindAllStringSubmatchIndex(sql, -1) {
		table := sql[at[2]:at[3]]
		name, ok := s.tables[table]
		if !ok {
			return ""
		}
		b.WriteString(sql[end:at[2]] + name)
		if end = at[3]; !otherName.MatchString(sql[end:]) {
			b.WriteString(" AS " + table) // its columns may be named with the table
		}
	}
	return b.String() + sql[end:]
}
