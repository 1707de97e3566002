package patients_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Values written by an earlier version: it guessed "other" for what it did not
// know, and did not store what a value was derived from.
const (
	guessed    = `{"name":"Ploxaquil","strength":100,"strength_unit":"mg","quantity":90,"days_supply":30,"derived":{"drug_class":"other","opioid":false,"covered_from":"2025-06-01","covered_to":"2025-06-30","covered_days":30}}`
	understood = `{"name":"ibuprofen","days_supply":30,"derived":{"drug_class":"nsaid","ingredients":["ibuprofen"],"opioid":false,"covered_from":"2025-06-01","covered_to":"2025-06-30","covered_days":30}}`
	// missed is one that the current rules understand.
	missed = `{"name":"oxycodone","strength":20,"strength_unit":"mg","quantity":90,"days_supply":30,"derived":{"drug_class":"other","opioid":false,"covered_from":"2025-06-01","covered_to":"2025-06-30","covered_days":30}}`
)

// old stores medications as an earlier version would have, with the series that
// it made of them.
func old(t *testing.T, s *store.Store, o store.Org, name, value string) pain.Patient {
	t.Helper()
	p := storetest.AddPatient(t, o, name)
	at := time.Date(2025, 6, 1, 9, 0, 0, 0, time.UTC)
	rec := newRecord(p.ID, pain.TypeMedications, at)
	rec.Value = pain.StoredValue(value)
	addRecords(t, o, rec)
	class := drug.Other
	if value == understood {
		class = drug.NSAID
	}
	first := pain.DateOf(at).DayNumber()
	years := series.Series{Medications: []series.Medication{{Span: drug.Span{First: first, Last: first + 29}, Class: series.ClassOf(class)}}}
	packed := years.Encode(nil)
	packed[0]-- // the version of the rules
	if storetest.Exec(t, s, `UPDATE patient_series SET bytes = $1 WHERE patient_no = (SELECT patient_no FROM patient WHERE id = $2)`, packed, p.ID.Bytes()) != 1 {
		t.Fatal("there is no series")
	}
	return p
}

// TestRederive derives again what an earlier version stored: in parts, after an
// interruption, and by several nodes at once.
func TestRederive(t *testing.T) {
	patients.ShortDerivation(t)
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		o, sys := all[0].For(&who), all[0].System()
		people := []pain.Patient{old(t, all[0], o, "A", guessed), old(t, all[0], o, "B", understood), old(t, all[0], o, "C", missed), old(t, all[0], o, "D", guessed)}

		problems, _, err := sys.CheckDerived(t.Context(), false, storetest.NoProgress)
		if err != nil || len(problems) != 4 || !strings.Contains(problems[0], "(class other, now unclassified)") ||
			!strings.Contains(problems[1], `(basis "", now "name")`) || !strings.Contains(problems[2], "(class other, now opioid)") {
			t.Fatalf("%q, %v", problems, err)
		}
		// It is interrupted after the second patient, and continues there.
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := sys.Rederive(ctx); err == nil {
			t.Error("it was not ended")
		}
		storetest.Exec(t, all[0], `INSERT INTO derivation (org_no, rules, patient_no) SELECT org_no, $1, 2 FROM org_counter WHERE patients = 4`, pain.Derivation)
		if err := sys.Rederive(t.Context()); err != nil {
			t.Fatal(err)
		}
		if problems, _, err := sys.CheckDerived(t.Context(), false, storetest.NoProgress); err != nil || len(problems) != 2 {
			t.Errorf("after the rest: %q, %v", problems, err)
		}
		// Other rules start again; two nodes at once do no harm.
		storetest.Exec(t, all[0], `UPDATE derivation SET rules = $1`, pain.Derivation-1)
		storetest.Together(t, 2, func(node int) error { return all[node].System().Rederive(t.Context()) })
		derivedRight(t, sys)
		if n := storetest.Number(t, all[0], `SELECT count(*) FROM derivation WHERE rules = $1 AND patient_no = 4`, pain.Derivation); n != 1 {
			t.Errorf("what was done is kept %d times", n)
		}
		for i, want := range []drug.Class{drug.Unclassified, drug.NSAID, drug.Opioid, drug.Unclassified} {
			var s series.Series
			for _, bytes := range o.SeriesOf(t, people[i].ID) {
				if err := s.Decode([]byte(bytes)); err != nil {
					t.Fatal(err)
				}
			}
			if len(s.Medications) != 1 || s.Medications[0].Class != series.ClassOf(want) {
				t.Errorf("patient %d has the series %+v, want %s", i, s.Medications, want)
			}
			list, _ := listed(t, o, people[i].ID, patients.RecordQuery{Page: 1, Limit: 10})
			if len(list) != 1 || !strings.Contains(list[0].Value.JSON(), fmt.Sprintf(`"drug_class":%q,"basis":`, want)) {
				t.Errorf("patient %d: %s", i, list[0].Value.JSON())
			}
		}
		// It was done once for each, and is in the audit log.
		storetest.Settle(t, all[0])
		if lines, _, err := o.Audit(t.Context(), journal.AuditCursor{}, 100, journal.AuditFilter{Action: audit.ClinicalDerive}); err != nil || len(lines) != len(people) {
			t.Errorf("%d audit lines of %d patients, %v", len(lines), len(people), err)
		}
		if err := sys.Rederive(t.Context()); err != nil {
			t.Fatal(err)
		}
		derivedRight(t, sys)
	})
}

// derivedRight fails the test if a derived value does not match the records.
func derivedRight(t *testing.T, sys store.System) {
	t.Helper()
	if problems, _, err := sys.CheckDerived(t.Context(), false, storetest.NoProgress); err != nil || len(problems) > 0 {
		t.Errorf("%q, %v", problems, err)
	}
	if problems, _, err := sys.CheckSeries(t.Context(), false, storetest.NoProgress); err != nil || len(problems) > 0 {
		t.Errorf("%q, %v", problems, err)
	}
}

// A check repairs what older nodes wrote after the derivation, and what cannot
// be read does not hold up the rest.
func TestCheckRepairsWhatIsDerived(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o, sys := all[0].For(&who), all[0].System()
		if err := sys.Rederive(t.Context()); err != nil {
			t.Fatal(err)
		}
		old(t, all[0], o, "A", guessed)
		unreadable := old(t, all[0], o, "B", understood)
		storetest.Exec(t, all[0], `UPDATE clinical_record SET value = '{' WHERE patient_no = (SELECT patient_no FROM patient WHERE id = $1)`, unreadable.ID.Bytes())
		if problems, repaired, err := sys.CheckDerived(t.Context(), true, storetest.NoProgress); err != nil || repaired != 1 || len(problems) != 1 || !strings.Contains(problems[0], "patient number 2: its series has an outdated format; it cannot be recalculated") {
			t.Errorf("%d repaired, %q, %v", repaired, problems, err)
		}
		if problems, _, err := sys.CheckDerived(t.Context(), false, storetest.NoProgress); err != nil || len(problems) != 1 {
			t.Errorf("%q, %v", problems, err)
		}
	})
}
