package store_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

func TestPurge(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		now := storetest.NewClock()
		cfg.Now = now.Now
		s := storetest.Start(t, cfg)
		bytes := map[string]string{storetest.SQLite: "BLOB", storetest.Postgres: "BYTEA"}[s.Engine()]
		// Each row gets a unique key, and $2 as its time.
		const at, text = `CAST($2 AS BIGINT)`, `CAST(i AS TEXT) || '/' || CAST(CAST($2 AS BIGINT) AS TEXT)`
		key := `CAST(` + text + ` AS ` + bytes + `)`
		tables := []struct {
			name, columns, values string
			kept                  time.Duration
		}{
			{"token", "hash, org_no, client_no, scopes, issued_at, expires_at", key + ", 1, 1, 0, 0, " + at, 24 * time.Hour},
			{"client_assertion", "org_no, client_no, jti_hash, expires_at", "1, 1, " + key + ", " + at, clients.AssertionKept},
			{"idempotency", "org_no, client_no, key_hash, body_hash, status, location, etag, body, created_at",
				"1, 1, " + key + ", '', 201, '', '', '', " + at, 25 * time.Hour},
			{"rate_window", "client_no, window_end, used, granted", "i * 100000000000000 + " + at + ", " + at + ", 1, 1", 24 * time.Hour},
			{"spool_segment", "segment, shipped_at", text + ", " + at, 7 * 24 * time.Hour},
		}
		for _, table := range tables {
			fill := func(n int64, age time.Duration) {
				t.Helper()
				storetest.Exec(t, s, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
					INSERT INTO `+table.name+` (`+table.columns+`) SELECT `+table.values+` FROM n`, n, now.Now().Add(-age).UnixMilli())
			}
			fill(2*int64(engine.PurgeSlice)+7, table.kept+time.Millisecond)
			fill(3, table.kept)
			fill(2, 0)
		}
		c := storetest.Must[clients.Client](t)(s.System().CreateClient(t.Context(), clients.NewClient{Org: "O", Name: "C", SecretHash: []byte("1")}))
		if err := s.System().RotateSecret(t.Context(), c.ID, []byte("2"), 0); err != nil {
			t.Fatal(err)
		}
		if err := s.System().Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, table := range tables {
			if n := storetest.Number(t, s, `SELECT count(*) FROM `+table.name); n != 5 {
				t.Errorf("%s: %d rows are left, want 5", table.name, n)
			}
		}
		if n := storetest.Number(t, s, `SELECT count(*) FROM client_secret`); n != 2 {
			t.Errorf("%d secrets are left, want the one that ended just now too", n)
		}
		now.Pass(25 * time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		purged := make(chan error, 1)
		go func() { purged <- s.System().KeepPurged(ctx) }()
		for storetest.Number(t, s, `SELECT count(*) FROM token`)+storetest.Number(t, s, `SELECT count(*) FROM client_secret`) != 1 {
			runtime.Gosched()
		}
		cancel()
		if err := <-purged; err != nil {
			t.Error(err)
		}
	})
}

// On PostgreSQL, a row can be renewed by one transaction while another one deletes
// the old. The count that begins must stay: limits are exact.
func TestPurgeLeavesWhatIsRenewed(t *testing.T) {
	s := storetest.Open(t, storetest.Postgres)
	now := time.Now()
	storetest.Exec(t, s, `INSERT INTO rate_window (client_no, window_end, used, granted) VALUES (1, $1, 5, 5)`, now.Add(-48*time.Hour).UnixMilli())
	purged := make(chan error, 1)
	if err := s.Database().Write(t.Context(), func(tx engine.Tx) error {
		if _, err := tx.Exec(`UPDATE rate_window SET window_end = $1, used = 1, granted = 1 WHERE client_no = 1`, now.Add(time.Hour).UnixMilli()); err != nil {
			return err
		}
		go func() { purged <- s.System().Purge(t.Context()) }()
		testwait.Until(t, "the purge waits for the row", func() bool {
			return storetest.Number(t, s, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'DELETE FROM rate_window%'`) > 0
		})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := <-purged; err != nil {
		t.Fatal(err)
	}
	if n := storetest.Number(t, s, `SELECT count(*) FROM rate_window WHERE client_no = 1 AND used = 1`); n != 1 {
		t.Error("the window that has just begun was deleted")
	}
}
