package engine

import (
	"context"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// shard is the rows of some organisations in the distributed tables, all on one
// worker. There they are in tables of their own.
type shard struct {
	id     int64 // of the part of the lead table
	worker *workerLink
	tables map[string]string // the names of its tables by those of the distributed tables
	sql    sync.Map          // statements about its tables by SQL as written
}

// located is what the coordinator knows about a shard.
type located struct {
	address string // of its only worker, or "" if lookups cannot be sent there
	tables  map[string]string
}

const (
	// shardsOf selects the shards of organisations.
	shardsOf = `SELECT org_no, get_shard_id_for_distribution_column('` + lead + `', org_no) FROM unnest(CAST($1 AS BIGINT[])) AS org_no`
	// describeShards selects the worker of some shards, with a row for each distributed
	// table. Only workers that know where shards are can say whether they
	// still have one.
	describeShards = `SELECT lead.shardid, n.nodename, CAST(n.nodeport AS BIGINT), CAST(c.relname AS TEXT), shard_name(part.logicalrelid, part.shardid)
		FROM pg_dist_shard lead
		JOIN pg_dist_placement p ON p.shardid = lead.shardid
		JOIN pg_dist_node n ON n.groupid = p.groupid AND n.groupid > 0 AND n.noderole = 'primary' AND n.isactive AND n.hasmetadata AND n.metadatasynced
		JOIN pg_dist_shard part ON part.shardminvalue = lead.shardminvalue AND part.shardmaxvalue = lead.shardmaxvalue
		JOIN pg_dist_partition t ON t.logicalrelid = part.logicalrelid AND t.partmethod = 'h'
			AND t.colocationid = (SELECT colocationid FROM pg_dist_partition WHERE logicalrelid = lead.logicalrelid)
		JOIN pg_class c ON c.oid = part.logicalrelid
		WHERE lead.shardid = ANY($1)`
)

// shardsOf asks the coordinator for the shards of organisations.
func (e *postgresEngine) shardsOf(ctx context.Context, orgs []int64) (shards map[int64]int64, err error) {
	shards = make(map[int64]int64, len(orgs))
	err = e.read(ctx, func(tx Tx) error {
		return tx.Query(shardsOf, func(r Row) error {
			shards[r.Int(0)] = r.Int(1)
			return nil
		}, orgs)
	})
	return shards, err
}

// locate asks the coordinator where shards are.
func (e *postgresEngine) locate(ctx context.Context, shards []int64) (all map[int64]*located, err error) {
	all = make(map[int64]*located, len(shards))
	err = e.read(ctx, func(tx Tx) error {
		return tx.Query(describeShards, func(r Row) error {
			address := net.JoinHostPort(r.Text(1), strconv.FormatInt(r.Int(2), 10))
			at := all[r.Int(0)]
			if at == nil {
				at = &located{address: address, tables: map[string]string{}}
				all[r.Int(0)] = at
			}
			if at.address != address {
				at.address = "" // there are copies on several workers
			}
			at.tables[r.Text(3)] = r.Text(4)
			return nil
		}, shards)
	})
	return all, err
}

// stillHere selects those of some shards that are on the worker that is asked, and
// 1 if that is in doubt.
//
// If a shard is moved, the coordinator lets no one write to it until it has told
// the old worker, in the second phase of a commit. If it has to do that later, the
// transaction stays prepared. So what was read before this statement is current if
// the statement returns the shard without doubt.
const stillHere = `SELECT p.shardid, CASE WHEN EXISTS (SELECT 1 FROM pg_prepared_xacts WHERE database = current_database() AND gid LIKE 'citus\_%') THEN 1 ELSE 0 END
	FROM pg_dist_placement p JOIN pg_dist_local_group g ON g.groupid = p.groupid
	WHERE p.shardid = ANY($1) AND p.shardstate = 1`

var (
	// tableInQuery finds the names of tables in a query.
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
