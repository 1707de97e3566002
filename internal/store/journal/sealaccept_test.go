package journal_test

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
)

// putOlderBack restores the log of "Ours" to its state at a head.
func putOlderBack(t *testing.T, s *store.Store, head journal.SealedHead) {
	t.Helper()
	storetest.Settle(t, s)
	storetest.Exec(t, s, `DELETE FROM journal WHERE org_no = $1 AND pos > $2`, int64(head.Org), int64(head.Pos))
	storetest.Exec(t, s, `UPDATE journal_head SET pos = $2 WHERE org_no = $1`, int64(head.Org), int64(head.Pos))
	storetest.Exec(t, s, `UPDATE journal_seal SET pos = $2, head = $3 WHERE org_no = $1`, int64(head.Org), int64(head.Pos), head.Head[:])
}

// An operator with the key can accept an older copy of the database, once, for
// all nodes. The log records it.
func TestAcceptOlderCopy(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all := []*store.Store{open(), open()}
		o, head := storetest.SealedOrg(t, all[0])
		grow(t, all[0], o, 5)
		fresh := storetest.Client(t, all[0], "Theirs")
		grow(t, all[0], all[0].For(&fresh), 2)
		sound(t, "before", all[1])
		older := func() {
			putOlderBack(t, all[0], head)
			for _, sql := range tamperings["organisation removed"].do {
				storetest.Exec(t, all[0], sql, int64(fresh.Org))
			}
		}
		older()
		for _, s := range all {
			if problems := storetest.Must[[]string](t)(s.System().WatchSeals(t.Context())); len(problems) != 2 {
				t.Errorf("not accepted: %q", problems)
			}
		}
		keyless := open()
		if _, err := keyless.System().AcceptSeals(t.Context(), journal.Accepting{Organizations: []string{"Nobody"}, Reason: "x", Action: audit.SealAccept}); err == nil {
			t.Error("accepted an organisation that there is not")
		}
		storetest.Must[[]journal.SealedHead](t)(keyless.System().AcceptSeals(t.Context(), journal.Accepting{Reason: "disk lost, backup of Monday", Action: audit.SealAccept}))
		sound(t, "check elsewhere", keyless)
		for _, s := range all {
			if problems := storetest.Must[[]string](t)(s.System().VerifySeals(t.Context(), nil, nil)); len(problems) > 0 {
				t.Errorf("check, before the node knows: %q", problems)
			}
			sound(t, "accepted", s)
		}
		storetest.Settle(t, all[0])
		lines := storetest.AuditLines(t, o, journal.AuditFilter{Action: audit.SealAccept})
		if len(lines) != 1 || !strings.Contains(string(lines[0]), "disk lost, backup of Monday") || !strings.Contains(string(lines[0]), `"client_id":"operator"`) {
			t.Errorf("lines %s", lines)
		}
		if moved := grow(t, all[0], o, 3); len(moved) != 1 {
			t.Errorf("sealed %+v", moved)
		}
		sound(t, "gone on", all[1])

		// The same acceptance does not apply a second time.
		putOlderBack(t, all[0], head)
		for _, s := range all {
			unsound(t, "again", "an older copy of the database was put back", s)
		}
		// Nor does one made without the key.
		document := content(t, journal.WitnessPath(all[0].Journal()))
		storetest.Exec(t, all[0], `INSERT INTO seal_acceptance (accepted_at, document) VALUES ($1, $2)`, int64(math.MaxInt64), document)
		unsound(t, "forged acceptance", "an older copy of the database was put back", all[1])
		if problems := storetest.Must[[]string](t)(all[1].System().VerifySeals(t.Context(), nil, nil)); !strings.Contains(strings.Join(problems, "\n"), "is not authentic") {
			t.Errorf("%q", problems)
		}
		// It does not prevent a valid acceptance.
		storetest.Must[[]journal.SealedHead](t)(all[0].System().AcceptSeals(t.Context(), journal.Accepting{Reason: "again", Action: audit.SealAccept}))
		if problems := storetest.Must[[]string](t)(all[1].System().WatchSeals(t.Context())); len(problems) > 0 {
			t.Errorf("accepted again: %q", problems)
		}
	})
}

// A log that does not match its own seal is accepted only if the operator
// reseals it; the others stay as they are.
func TestAcceptReseals(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all := []*store.Store{open(), open()}
		o, _ := storetest.SealedOrg(t, all[0])
		who := storetest.Client(t, all[0], "Theirs")
		theirs := all[0].For(&who)
		grow(t, all[0], theirs, 2)
		sound(t, "before", all[1])
		accept := func(a journal.Accepting) error {
			a.Reason, a.Action = "a disk error", audit.SealAccept
			_, err := all[0].System().AcceptSeals(t.Context(), a)
			return err
		}
		storetest.Exec(t, all[0], `UPDATE journal SET audit = 'x' WHERE pos = 2`)
		storetest.Exec(t, all[0], `DELETE FROM journal_seal WHERE org_no = $1`, int64(o.No()))
		storetest.Must[[]string](t)(all[0].System().WatchSeals(t.Context()))
		if err := accept(journal.Accepting{Organizations: []string{"Ours"}}); err == nil || !strings.Contains(err.Error(), "--reseal") {
			t.Errorf("accepted without a seal: %v", err)
		}
		if err := accept(journal.Accepting{}); err == nil || !strings.Contains(err.Error(), "--reseal") {
			t.Errorf("all accepted: %v", err)
		}
		if err := accept(journal.Accepting{Organizations: []string{"Ours"}, Reseal: true}); err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			unsound(t, "the other", "organisation Theirs: the journal up to entry 4 is not what was sealed", s)
		}
		storetest.Settle(t, all[0])
		if lines := storetest.AuditLines(t, o, journal.AuditFilter{Action: audit.SealAccept}); len(lines) != 1 || !strings.Contains(string(lines[0]), `"resealed":true`) || !strings.Contains(string(lines[0]), `"was_position":12`) {
			t.Errorf("lines %s", lines)
		}
		if moved := grow(t, all[1], o, 1); len(moved) != 1 || moved[0].Name != "Ours" {
			t.Errorf("sealed %+v", moved)
		}
		storetest.Exec(t, all[0], `DELETE FROM journal WHERE org_no = $1 AND pos = 3`, int64(theirs.No()))
		if err := accept(journal.Accepting{Reseal: true}); err == nil || !strings.Contains(err.Error(), "restore a backup") {
			t.Errorf("a log with a hole: %v", err)
		}
	})
}

// A server that starts on an accepted database never reports a problem.
func TestStartOnAccepted(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		first := storetest.Start(t, cfg)
		o, head := storetest.SealedOrg(t, first)
		grow(t, first, o, 5)
		putOlderBack(t, first, head)
		storetest.Must[[]journal.SealedHead](t)(first.System().AcceptSeals(t.Context(), journal.Accepting{Reason: "moved", Action: audit.SealAccept}))
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		s := storetest.Start(t, cfg)
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // one round, and the end
		if err := s.System().KeepSealed(ctx); err != nil || strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("%v, logged %s", err, log.String())
		}
		if n := storetest.Number(t, s, `SELECT pos FROM journal_seal`); n != 13 {
			t.Errorf("sealed up to %d, want 13", n)
		}
	})
}

// A missing organisation that is accepted has no log to record it in, so
// another one has the line.
func TestAcceptGone(t *testing.T) {
	for name, a := range map[string]journal.Accepting{"named": {Organizations: []string{"Theirs"}}, "all": {}} {
		storetest.Each(t, func(t *testing.T, open func() *store.Store) {
			s := open()
			o, _ := storetest.SealedOrg(t, s)
			before := len(storetest.AuditLines(t, o, journal.AuditFilter{Action: audit.SealAccept}))
			theirs := storetest.Client(t, s, "Theirs")
			grow(t, s, s.For(&theirs), 2)
			for _, sql := range tamperings["organisation removed"].do {
				storetest.Exec(t, s, sql, int64(theirs.Org))
			}
			unsound(t, "removed", "it is gone", s)
			a.Reason, a.Action = "the practice closed", audit.SealAccept
			accepted := storetest.Must[[]journal.SealedHead](t)(s.System().AcceptSeals(t.Context(), a))
			if last := accepted[len(accepted)-1]; last.Name != "Theirs" || last.Org != 0 {
				t.Errorf("accepted %+v", accepted)
			}
			sound(t, "accepted", s)
			storetest.Settle(t, s)
			lines := storetest.AuditLines(t, o, journal.AuditFilter{Action: audit.SealAccept})
			if len(lines) == before || !strings.Contains(string(bytes.Join(lines[before:], nil)), theirs.OrgID.String()) {
				t.Errorf("%s: lines %s", name, lines)
			}
		})
	}
}

// The check detects triggers that could alter the log unnoticed.
func TestCheckFindsTriggers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		storetest.SealedOrg(t, s)
		if problems := storetest.Must[[]string](t)(s.System().CheckTables(t.Context())); len(problems) > 0 {
			t.Fatalf("before: %q", problems)
		}
		if s.Engine() == storetest.SQLite {
			storetest.Exec(t, s, `CREATE TRIGGER hide AFTER INSERT ON journal BEGIN UPDATE journal SET audit = 'x' WHERE pos = new.pos; END`)
		} else {
			storetest.Exec(t, s, `CREATE RULE hide AS ON INSERT TO journal_seal DO INSTEAD NOTHING`)
		}
		problems := storetest.Must[[]string](t)(s.System().CheckTables(t.Context()))
		if len(problems) != 1 || !strings.Contains(problems[0], "named hide") {
			t.Errorf("%q", problems)
		}
	})
}
