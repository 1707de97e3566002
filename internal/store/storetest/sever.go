package storetest

import (
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
)

// Sever makes the rows of an organisation unavailable until the returned
// function is called, as if they were on a server that is down: every statement
// that reads or writes one of them fails. The database must be on a single
// PostgreSQL server.
func Sever(tb testing.TB, s *store.Store, org access.OrgNo) (restore func()) {
	tb.Helper()
	if Number(tb, s, `SELECT count(*) FROM pg_class WHERE relname = 'severed' AND relnamespace = to_regnamespace(current_schema())`) == 0 {
		makeSeverable(tb, s)
	}
	Exec(tb, s, `INSERT INTO severed (org_no) VALUES ($1)`, int64(org))
	return func() {
		tb.Helper()
		Exec(tb, s, `DELETE FROM severed WHERE org_no = $1`, int64(org))
	}
}

// makeSeverable puts a view in the place of every table with rows of
// organisations. The function that the view calls costs so much that it is
// called only for rows that a statement would otherwise use.
func makeSeverable(tb testing.TB, s *store.Store) {
	tb.Helper()
	Exec(tb, s, `CREATE TABLE severed (org_no BIGINT PRIMARY KEY)`)
	Exec(tb, s, `CREATE FUNCTION reachable(org BIGINT) RETURNS BOOLEAN LANGUAGE plpgsql COST 1000000 AS $$ BEGIN
		IF EXISTS (SELECT 1 FROM severed WHERE org_no = org) THEN
			RAISE EXCEPTION 'the server of organisation % is down', org USING ERRCODE = '08006';
		END IF;
		RETURN true; END $$`)
	for _, table := range Texts(tb, s, 1, `SELECT CAST(relname AS TEXT) FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace(current_schema())`) {
		if engine.PlaceOf(table) == engine.ByOrg {
			Exec(tb, s, `ALTER TABLE `+table+` RENAME TO `+table+`_rows`)
			Exec(tb, s, `CREATE VIEW `+table+` AS SELECT * FROM `+table+`_rows WHERE reachable(org_no) WITH LOCAL CHECK OPTION`)
		}
	}
}
