package webhooks_test

import (
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

func TestPurgeDeliveries(t *testing.T) {
	eachHooked(t, func(t *testing.T, h *hooked) {
		// Hundreds of rows, slightly older and slightly younger than the
		// retention.
		copies := func(task webhooks.Task, n int64) {
			t.Helper()
			bytes := map[string]string{storetest.SQLite: "BLOB", storetest.Postgres: "BYTEA"}[h.s.Engine()]
			storetest.Exec(t, h.s, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
				INSERT INTO webhook_delivery (org_no, webhook_no, id, pos, event_id, event_type, status, created_at, tries, attempts)
				SELECT 1, 1, CAST(substr(CAST($2 AS `+bytes+`), 1, 6) || CAST(CAST(1000000000 + i AS TEXT) AS `+bytes+`) AS `+bytes+`), 1, $2, 'x', 1, 0, 1, '' FROM n`,
				n, task.Delivery.Bytes())
		}
		old := h.events(2)
		h.result(&old[0], webhooks.Delivered)
		h.result(&old[1], webhooks.Pending)
		copies(old[0], 2*int64(engine.PurgeSlice))
		h.now.Pass(time.Millisecond)
		young := h.events(1)
		h.result(&young[0], webhooks.Failed)
		h.now.Pass(webhooks.DeliveriesKept)
		if err := h.s.System().Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		left := storetest.Deliveries(t, h.o, h.w.ID)
		if len(left) != 1 || left[0].ID != young[0].Delivery {
			t.Errorf("%d are left, want the one that is as old as can be", len(left))
		}
		if stats := h.stats(); stats.Backlog != 0 {
			t.Errorf("what was pending and is gone is counted: %+v", stats)
		}

		// A deleted endpoint leaves nothing, and its number is free again.
		other := storetest.AddWebhook(t, h.o, someURL)
		copies(young[0], int64(engine.PurgeSlice)+3)
		if err := h.o.DeleteWebhook(t.Context(), h.w.ID, storetest.HookLine(audit.WebhookDelete, h.w)); err != nil {
			t.Fatal(err)
		}
		late := &webhooks.Progress{Claim: h.claim, Pos: h.claim.Pos, Results: []webhooks.Result{{Task: &old[0], Attempt: ok(h.now.Now()), Status: webhooks.Delivered}}}
		write(t, h.s, late)
		if !late.Lost {
			t.Error("a result of a deleted endpoint was written")
		}
		if err := h.s.System().Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"webhook_delivery", "webhook_hour"} {
			if n := storetest.Number(t, h.s, `SELECT count(*) FROM `+table); n != 0 {
				t.Errorf("%s has %d rows left", table, n)
			}
		}
		if n := storetest.Number(t, h.s, `SELECT count(*) FROM webhook_cursor`); n != 1 {
			t.Errorf("%d cursors are left, want that of the other endpoint", n)
		}
		if _, err := h.o.Webhook(t.Context(), other.ID); err != nil {
			t.Error(err)
		}
	})
}
