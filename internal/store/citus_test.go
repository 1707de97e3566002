//go:build citus

package store_test

import (
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// The check and the size of the database include the workers.
func TestWorkersAreIncluded(t *testing.T) {
	pgcluster.NeedsCitus(t)
	s := storetest.Open(t, storetest.Postgres)
	storetest.Clean(t, s)
	bytes, err := s.Database().Size(t.Context())
	if alone := storetest.Number(t, s, `SELECT pg_database_size(current_database())`); err != nil || bytes < 2*alone {
		t.Errorf("the size is %d, of which the coordinator has %d; %v", bytes, alone, err)
	}
	storetest.Number(t, s, `SELECT count(*) FROM run_command_on_shards('journal', 'CREATE RULE hidden AS ON DELETE TO %s DO INSTEAD NOTHING')`)
	problems := storetest.Must[[]string](t)(s.System().CheckTables(t.Context()))
	if len(problems) != 2 || !strings.Contains(problems[0], "a rule named hidden on journal_") {
		t.Errorf("the check says %q", problems)
	}
}
