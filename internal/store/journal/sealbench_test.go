package journal_test

import (
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store/storetest"
)

// BenchmarkWatchSeals verifies logs as a server does continuously: one of
// 100,000 entries, and 5,000 of 20.
func BenchmarkWatchSeals(b *testing.B) {
	const upTo = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) `
	numbered := map[string]string{
		storetest.SQLite:   `INSERT INTO org (org_no, id, name, created_at) SELECT i, CAST(i + 1000000000000000 AS BLOB), 'Org ' || i, 0 FROM n`,
		storetest.Postgres: `INSERT INTO org (id, name, created_at) SELECT decode(lpad('' || i, 32, '0'), 'hex'), 'Org ' || i, 0 FROM n`,
	}
	for _, engine := range storetest.Engines {
		for name, size := range map[string]struct{ orgs, entries int64 }{"one": {1, 100_000}, "many": {5000, 20}} {
			b.Run(engine+"/"+name, func(b *testing.B) {
				s := storetest.Open(b, engine)
				storetest.Exec(b, s, upTo+numbered[engine], size.orgs)
				storetest.Exec(b, s, `INSERT INTO journal_head (org_no, pos) SELECT org_no, $1 FROM org`, size.entries)
				storetest.Exec(b, s, upTo+`INSERT INTO journal (org_no, pos, at, audit, packed) SELECT o.org_no, n.i, 1, $2, 0 FROM org o, n`,
					size.entries, []byte(strings.Repeat("x", 250)))
				if _, err := s.System().Seal(b.Context()); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if problems, err := s.System().WatchSeals(b.Context()); len(problems) > 0 || err != nil {
						b.Fatal(problems, err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size.orgs*size.entries), "ns/entry")
			})
		}
	}
}
