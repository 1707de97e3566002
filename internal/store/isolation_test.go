package store_test

import (
	"bytes"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// No data of one organisation is accessible through another's view.
func TestOrganisationsAreApart(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		ours, theirs := storetest.Client(t, s, "Ours"), storetest.Client(t, s, "Theirs")
		a, b := s.For(&ours), s.For(&theirs)
		mine := storetest.AddPatient(t, a, "Mine")
		var secret []id.Patient
		for i := range 5 {
			secret = append(secret, storetest.AddPatient(t, b, "Secret "+storetest.PatientName(i)).ID)
		}
		if err := b.Saw(&audit.Entry{At: time.Now(), Action: audit.PatientRead, Resource: secret[0].String()}); err != nil {
			t.Fatal(err)
		}
		token := []byte("token of theirs, 32 bytes long..")
		owner := storetest.ClientOf(t, s, theirs.ClientID)
		if issued, err := s.System().IssueToken(t.Context(), &owner, token, access.Asked{Scopes: theirs.Scopes}, time.Hour); err != nil || !issued {
			t.Fatal(err)
		}

		// Before and after entries have got their position.
		for range 2 {
			onlyMine := func(p patients.PatientItem) {
				if p.ID != mine.ID || p.No != 1 {
					t.Errorf("got another organisation's %s", p.Name)
				}
			}
			if _, err := a.Patient(t.Context(), secret[0]); !fault.Is(err, fault.NotFound) {
				t.Errorf("Patient: %v", err)
			}
			err := a.ShowPatient(t.Context(), secret[0], func(p patients.PatientRow) { t.Errorf("showed another organisation's %s", p.Name) })
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("ShowPatient: %v", err)
			}
			_, err = a.UpdatePatient(t.Context(), secret[0], func(old pain.Patient) (pain.Patient, *journal.Change, error) {
				t.Error("the rule was asked about another organisation's patient")
				return old, nil, nil
			})
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("UpdatePatient: %v", err)
			}
			if total, err := a.PatientPage(t.Context(), 1, 100, onlyMine); total != 1 || err != nil {
				t.Errorf("PatientPage: %d, %v", total, err)
			}
			if err := a.PatientRange(t.Context(), 0, 100, onlyMine); err != nil {
				t.Error(err)
			}
			if err := a.PatientItems(t.Context(), []int64{1, 2, 3, 4, 5}, onlyMine); err != nil {
				t.Error(err)
			}
			if _, patients, err := a.Head(t.Context()); patients != 1 || err != nil {
				t.Errorf("Head: %d patients, %v", patients, err)
			}
			if changed, _, err := storetest.ChangedIDs(t, a, 0); len(changed) != 1 || changed[0] != mine.ID || err != nil {
				t.Errorf("Changed: %v, %v", changed, err)
			}
			if _, _, err := a.ChangedPatients(t.Context(), 0, 100, onlyMine, func(int64) {}); err != nil {
				t.Error(err)
			}
			if events, _, err := a.Events(t.Context(), 0, 100); len(events) > 1 || err != nil {
				t.Errorf("Events: %d, %v", len(events), err)
			}
			for _, line := range storetest.AuditLines(t, a, journal.AuditFilter{}) {
				if bytes.Contains(line, []byte(secret[0].String())) || bytes.Contains(line, []byte(theirs.ClientID.String())) {
					t.Errorf("Audit: %s", line)
				}
			}
			if err := s.System().ShipReads(t.Context()); err != nil {
				t.Fatal(err)
			}
			storetest.Settle(t, s)
		}

		if err := a.RevokeToken(t.Context(), token, audit.Entry{At: time.Now(), Action: audit.TokenRevoke}); err != nil {
			t.Fatal(err)
		}
		if got, found, err := s.System().Token(t.Context(), token); !found || got.Revoked || err != nil {
			t.Errorf("another organisation's token: %+v, %v, %v", got, found, err)
		}
	})
}
