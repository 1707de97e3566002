package journal_test

import (
	"testing"

	"anodyne.example/anodyne/internal/store/storetest"
)

// The queue of entries without a position is nearly always empty, also when
// PostgreSQL collects statistics. A backlog gets positions nevertheless. (How much
// work that is depends on the form of the statement: see TestSubqueriesAreMadeOnce.)
func TestSequenceMoreThanExpected(t *testing.T) {
	s := storetest.Open(t, storetest.Postgres)
	c := storetest.Client(t, s, "Ours")
	add := func(n int) {
		storetest.Exec(t, s, `INSERT INTO journal_pending (org_no, at, audit, packed)
			SELECT $1, i, CAST('' AS BYTEA), 0 FROM generate_series(CAST(1 AS BIGINT), $2) AS i`, int64(c.Org), n)
		storetest.Settle(t, s)
	}
	add(2000)
	storetest.Exec(t, s, `ANALYZE journal_pending`)
	const entries = 12_000
	before := storetest.Number(t, s, `SELECT pos FROM journal_head WHERE org_no = $1`, int64(c.Org))
	add(entries)
	if given := storetest.Number(t, s, `SELECT pos FROM journal_head WHERE org_no = $1`, int64(c.Org)) - before; given != entries {
		t.Errorf("%d entries got positions, want %d", given, entries)
	}
	if n := storetest.Number(t, s, `SELECT count(*) FROM (SELECT pos FROM journal WHERE org_no = $1 ORDER BY pos DESC LIMIT $2) AS last WHERE pos > $3`, int64(c.Org), entries, before); n != entries {
		t.Errorf("%d entries are in the log, want %d", n, entries)
	}
}
