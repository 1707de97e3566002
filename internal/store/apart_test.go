package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
	"anodyne.example/anodyne/internal/testwait"
)

// While the rows of one organisation are unavailable, the background work of
// the others is done. When they are available again, theirs is done too.
func TestWorkOfOrganisationsApart(t *testing.T) {
	s := storetest.Start(t, storetest.Database(t, storetest.Postgres))
	lost, kept := storetest.Client(t, s, "Lost"), storetest.Client(t, s, "Kept")
	sys, now := s.System(), time.Now()
	for _, who := range []access.Principal{lost, kept} {
		storetest.AddPatient(t, s.For(&who), "Somebody")
		storetest.AddWebhook(t, s.For(&who), "https://hooks.example.org/")
		storetest.AddReport(t, s, &who, reporttype.Outcomes, now)
		expired := storetest.AddReport(t, s, &who, reporttype.Outcomes, now)
		storetest.Exec(t, s, `UPDATE report SET status = 2, expires_at = 1 WHERE org_no = $1 AND id = $2`, int64(who.Org), expired.ID.Bytes())
		for _, sql := range []string{
			`INSERT INTO report_garbage (org_no, report_no, fence) VALUES ($1, 99, 1)`,
			`INSERT INTO idempotency (org_no, client_no, key_hash, body_hash, status, location, etag, body, created_at) VALUES ($1, 1, 'k', '', 201, '', '', '', 1)`,
			`INSERT INTO webhook_cursor (org_no, webhook_no, pos, open, pending, failure, claim) VALUES ($1, 99, 0, '', 0, '', 0)`,
			`INSERT INTO alert_state (org_no, patient_no, day, level, overlap, next_day) VALUES ($1, 1, 0, 0, 0, 1)`,
			`UPDATE webhook_cursor SET due_at = 1, pending = 1 WHERE org_no = $1 AND webhook_no <> 99`,
			`INSERT INTO patient_gone (org_no, patient_no, id, kind, gone_at) VALUES ($1, 98, decode('00112233445566778899aabbccddeeff', 'hex'), 2, 1)`,
		} {
			storetest.Exec(t, s, sql, int64(who.Org))
		}
	}
	count := func(from string) func(access.OrgNo) bool {
		return func(org access.OrgNo) bool {
			return storetest.Number(t, s, `SELECT count(*) FROM `+from+` AND org_no = $1`, int64(org)) > 0
		}
	}
	not := func(found func(access.OrgNo) bool) func(access.OrgNo) bool {
		return func(org access.OrgNo) bool { return !found(org) }
	}
	var heads map[access.OrgNo]bool
	has := func(org access.OrgNo) bool { return heads[org] }
	waiting := func(list []webhooks.WaitingWebhook, err error) error {
		heads = map[access.OrgNo]bool{}
		for _, w := range list {
			heads[w.Org] = true
		}
		return err
	}
	always := func(access.OrgNo) bool { return true }
	work := []struct {
		name string
		do   func() error
		done func(access.OrgNo) bool
	}{
		{"position", func() error { return sys.SequencePending(t.Context()) }, not(count(`journal_pending WHERE true`))},
		{"seal", func() error { return storetest.ErrOf(sys.Seal(t.Context())) }, count(`journal_seal WHERE true`)},
		{"compare seals", func() error { return storetest.ErrOf(sys.WatchSeals(t.Context())) }, always},
		{"claim reports", func() (errs error) {
			for {
				c, err := sys.ClaimReport(t.Context(), "node", storetest.ClaimTime)
				if errs = err; c == nil {
					return errs
				}
			}
		}, not(count(`report WHERE status = 0`))},
		{"expire reports", func() error { return storetest.ErrOf(sys.ExpireReports(t.Context())) }, count(`report WHERE status > 2`)},
		{"purge reports", func() error { return storetest.ErrOf(sys.PurgeReports(t.Context())) }, not(count(`report_garbage WHERE report_no = 99`))},
		{"purge keys", func() error { return sys.Purge(t.Context()) }, not(count(`idempotency WHERE key_hash = 'k'`))},
		{"purge webhooks", func() error { return sys.PurgeWebhooks(t.Context(), now) }, not(count(`webhook_cursor WHERE webhook_no = 99`))},
		{"sweep alerts", func() error { return sys.SweepAlerts(t.Context()) }, not(count(`alert_state WHERE next_day = 1`))},
		{"derive", func() error { return sys.Rederive(t.Context()) }, count(`derivation WHERE true`)},
		{"find webhooks", func() error { return waiting(sys.WaitingWebhooks(t.Context(), 1)) }, has},
		{"find due webhooks", func() error { return waiting(sys.DueWebhooks(t.Context(), webhooks.DuePlace{}, now)) }, has},
		{"find heads", func() error {
			heads = map[access.OrgNo]bool{}
			return sys.JournalHeads(t.Context(), func(org access.OrgNo, _ journal.Pos) { heads[org] = true })
		}, has},
		{"next due", func() error {
			at, err := sys.NextDue(t.Context(), time.UnixMilli(0))
			heads = map[access.OrgNo]bool{lost.Org: at.UnixMilli() == 1, kept.Org: at.UnixMilli() == 1}
			return err
		}, has},
		{"size", func() error { return storetest.ErrOf(sys.JournalSize(t.Context())) }, always},
		{"backlog", func() error { return storetest.ErrOf(sys.WebhookBacklog(t.Context())) }, always},
		{"pull retries", func() error { return storetest.ErrOf(sys.PullRetries(t.Context(), time.Hour)) }, always},
		{"list erasures", func() error { return storetest.ErrOf(sys.ErasedPatients(t.Context())) }, always},
	}
	restore := storetest.Sever(t, s, lost.Org)
	for _, w := range work {
		if err := w.do(); !errors.Is(err, engine.ErrPart) {
			t.Errorf("%s: got %v, want an error of a part", w.name, err)
		}
		if !w.done(kept.Org) {
			t.Errorf("%s: not done for the organisation that is available", w.name)
		}
	}
	restore()
	for _, w := range work {
		testwait.Until(t, w.name, func() bool { return w.do() == nil })
		if !w.done(lost.Org) {
			t.Errorf("%s: not done for the organisation that was unavailable", w.name)
		}
	}
}

// While the rows of one organisation are unavailable, a patient of another can
// be erased, and no log is reported as altered.
func TestEraseOfOrganisationsApart(t *testing.T) {
	s := storetest.Start(t, storetest.Database(t, storetest.Postgres))
	lost, kept := storetest.Client(t, s, "Lost"), storetest.Client(t, s, "Kept")
	erase := func(who *access.Principal) error {
		p := storetest.AddPatient(t, s.For(who), "Somebody")
		storetest.Saw(t, s.For(&lost), p.ID.String())
		storetest.Saw(t, s.For(&kept), p.ID.String())
		return s.For(who).ErasePatient(t.Context(), p.ID, "asked for", audit.Entry{At: time.Now(), Actor: "test"})
	}
	seal := func() error { return storetest.ErrOf(s.System().Seal(t.Context())) }
	storetest.AddPatient(t, s.For(&lost), "Somebody else")
	storetest.Ship(t, s)
	if err := seal(); err != nil {
		t.Fatal(err)
	}
	restore := storetest.Sever(t, s, lost.Org)
	for range 2 {
		if err := erase(&kept); err != nil {
			t.Error(err)
		}
		if err := seal(); !errors.Is(err, engine.ErrPart) {
			t.Errorf("sealing: %v", err)
		}
	}
	if _, err := storetest.TryPatient(t, s.For(&lost)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a write to the other organisation: %v", err)
	}
	restore()
	var problems []string
	testwait.Until(t, "the seals to be compared", func() bool {
		found, err := s.System().WatchSeals(t.Context())
		problems = found
		return err == nil
	})
	if len(problems) > 0 {
		t.Errorf("the logs are said to be altered: %q", problems)
	}
	if err := erase(&lost); err != nil {
		t.Error(fmt.Errorf("afterwards: %w", err))
	}
}
