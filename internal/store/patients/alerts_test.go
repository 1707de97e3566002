package patients_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// morphine returns a record of mme MME a day for ten days from a day on.
func morphine(tb testing.TB, c *storetest.Clock, patientID id.Patient, mme int, from time.Time) pain.Record {
	tb.Helper()
	return storetest.RecordAt(tb, c.Now(), patientID, fmt.Sprintf(
		`{"data_type":"medications","value":{"name":"morphine","strength":1,"strength_unit":"mg","quantity":%d,"days_supply":10,"start_date":%q}}`, 10*mme, from.Format(time.DateOnly)))
}

// An alert follows the write that raised it in the journal, with the service as
// its actor and without any measured value. A repeated write does not raise it
// again.
func TestAlertComesWithItsWrite(t *testing.T) {
	eachClocked(t, func(t *testing.T, c *storetest.Clock, all []*store.Store, o store.Org) {
		patient := storetest.AddPatient(t, o, "Alerted").ID
		rec := morphine(t, c, patient, 95, c.Now())
		change := journal.Change{Audit: audit.Entry{At: c.Now(), Actor: "test", Action: audit.ClinicalCreate, Resource: patient.String()},
			Event: event.ClinicalData(c.Now(), patient, []id.Record{rec.ID}, []string{"medications"}), Subject: patient}
		key := &idempotency.Once{Key: []byte("key"), Body: []byte("body")}
		for range 3 {
			if _, err := o.AddRecords(t.Context(), patient, []pain.Record{rec}, change, key, c.Now(), idempotency.Outcome{Body: []byte("{}")}); err != nil {
				t.Fatal(err)
			}
		}
		storetest.Settle(t, all[0])
		events, _, err := o.Events(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range events {
			got = append(got, string(e.Type))
		}
		if want := []string{"patient.created", "clinical_data.updated", "system.alert"}; !slices.Equal(got, want) {
			t.Fatalf("events %q, want %q", got, want)
		}
		if want := fmt.Sprintf(`{"kind":"high_dose_opioid","severity":"critical","patient_id":%q,"threshold":90}`, patient); string(events[2].Data) != want {
			t.Errorf("data %s, want %s", events[2].Data, want)
		}
		lines, _, err := o.Audit(t.Context(), journal.AuditCursor{}, 100, journal.AuditFilter{Action: audit.AlertRaise})
		if err != nil || len(lines) != 1 {
			t.Fatalf("%d audit lines, %v", len(lines), err)
		}
		if want := fmt.Sprintf(`{"timestamp":"2024-12-20T10:30:00Z","action":"alert.raise","client_id":"service","resource":%q,"details":{"kind":"high_dose_opioid","threshold":90}}`, patient); string(lines[0]) != want {
			t.Errorf("audit line %s, want %s", lines[0], want)
		}
	})
}

// For a correction, too, the record comes first; an import raises alerts like
// any other write.
func TestCorrectionsAndImportsAlert(t *testing.T) {
	eachClocked(t, func(t *testing.T, c *storetest.Clock, all []*store.Store, o store.Org) {
		p := storetest.AddPatient(t, o, "Alerted")
		rec := morphine(t, c, p.ID, 20, c.Now())
		group := patients.ImportedRecords{Patient: p.ID, Hashes: []patients.ImportHash{hashOf(1)}, Records: []pain.Record{rec},
			Change: func([]pain.Record) journal.Change { return storetest.Updated(p) }}
		for range 2 {
			if _, _, err := o.ImportRecords(t.Context(), []patients.ImportedRecords{group}); err != nil {
				t.Fatal(err)
			}
		}
		value := `{"name":"morphine","strength":1,"strength_unit":"mg","quantity":500,"days_supply":10}`
		if _, err := storetest.CorrectAt(t.Context(), o, c.Now(), p.ID, rec.ID, `{"value":`+value+`}`); err != nil {
			t.Fatal(err)
		}
		// Tablets of another strength are taken in addition: 2 mg x 200 / 10 =
		// 40.
		group.Hashes[0], group.Records[0] = hashOf(2), storetest.RecordAt(t, c.Now(), p.ID, `{"data_type":"medications","value":{"name":"morphine","strength":2,"strength_unit":"mg","quantity":200,"days_supply":10}}`)
		if _, _, err := o.ImportRecords(t.Context(), []patients.ImportedRecords{group}); err != nil {
			t.Fatal(err)
		}
		want := []string{"2024-12-20 high_dose_opioid 50", "2024-12-20 high_dose_opioid 90"}
		if got := alertsOf(t, all[0], o, p.ID, 0); !slices.Equal(got, want) {
			t.Errorf("alerted %q, want %q", got, want)
		}
		events, _, err := o.Events(t.Context(), 0, 100)
		if err != nil || len(events) < 4 || events[2].Type != event.ClinicalDataUpdated || events[3].Type != event.SystemAlert {
			t.Errorf("events %v, %v", events, err)
		}
	})
}

// due creates patients whose prescription begins tomorrow.
func due(t *testing.T, c *storetest.Clock, o store.Org, n int) (patients []id.Patient) {
	t.Helper()
	for i := range n {
		p := storetest.AddPatient(t, o, storetest.PatientName(i)).ID
		if err := storetest.AddRecordsAt(t.Context(), o, c.Now(), p, morphine(t, c, p, 60, c.Now().Add(day))); err != nil {
			t.Fatal(err)
		}
		patients = append(patients, p)
	}
	return patients
}

// Nodes that sweep at the same time, repeatedly, and with the clock set back in
// between, alert each patient once, whatever the slices.
func TestSweepsAlertOnce(t *testing.T) {
	patients.ShortSweepSlice(t)
	eachClocked(t, func(t *testing.T, c *storetest.Clock, all []*store.Store, o store.Org) {
		patients := due(t, c, o, 10)
		sweep := func() {
			t.Helper()
			storetest.Together(t, 4, func(i int) error { return all[i%2].System().SweepAlerts(t.Context()) })
		}
		sweep()
		for _, p := range patients {
			if got := alertsOf(t, all[0], o, p, 0); len(got) != 0 {
				t.Fatalf("alerted a day early: %q", got)
			}
		}
		for _, passes := range []time.Duration{day, 0, -day, -3 * day, 4 * day} {
			c.Pass(passes)
			sweep()
		}
		for _, p := range patients {
			if got := alertsOf(t, all[0], o, p, 0); len(got) != 1 || got[0] != "2024-12-21 high_dose_opioid 50" {
				t.Errorf("alerted %q", got)
			}
		}
	})
}

// A clock that was months ahead does not prevent alerts once it is correct
// again.
func TestSweepAfterAClockFarAhead(t *testing.T) {
	eachClocked(t, func(t *testing.T, c *storetest.Clock, all []*store.Store, o store.Org) {
		patients := due(t, c, o, 3)
		c.Pass(200 * day)
		if err := all[0].System().SweepAlerts(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.Pass(-198 * day)
		for range 2 {
			if err := all[1].System().SweepAlerts(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range patients {
			if got := alertsOf(t, all[0], o, p, 0); len(got) != 1 || got[0] != "2024-12-22 high_dose_opioid 50" {
				t.Errorf("alerted %q", got)
			}
		}
	})
}

// A patient that cannot be judged is reported, without personal data, and does
// not hold up the others.
func TestSweepGoesOnPastAFault(t *testing.T) {
	patients.ShortSweepSlice(t)
	eachClocked(t, func(t *testing.T, c *storetest.Clock, all []*store.Store, o store.Org) {
		patients := due(t, c, o, 8)
		storetest.Exec(t, all[0], `UPDATE patient_series SET bytes = $1 WHERE patient_no = 2`, []byte("spoilt"))
		storetest.Exec(t, all[0], `UPDATE clinical_record SET value = '{}' WHERE patient_no = 2`)
		storetest.Exec(t, all[0], `UPDATE patient_series SET bytes = $1 WHERE patient_no = 3`, []byte("spoilt")) // its records are intact
		c.Pass(day)
		err := all[0].System().SweepAlerts(t.Context())
		if err == nil || !strings.Contains(err.Error(), "could not evaluate the alerts of 1 patients;") || strings.Contains(err.Error(), patients[1].String()) {
			t.Errorf("the sweep says %v", err)
		}
		for i, p := range patients {
			if got := alertsOf(t, all[0], o, p, 0); (len(got) == 1) != (i != 1) {
				t.Errorf("patient %d: alerted %q", i, got)
			}
		}
	})
}

// A write includes years whose series cannot be read, by their records.
func TestAlertsCountUnreadableYears(t *testing.T) {
	eachClocked(t, func(t *testing.T, c *storetest.Clock, all []*store.Store, o store.Org) {
		p := storetest.AddPatient(t, o, "Spoilt").ID
		old := storetest.RecordAt(t, c.Now(), p, `{"data_type":"medications","recorded_at":"2023-12-01","value":{"name":"morphine","dose":30,"dose_unit":"mg","frequency":"BID","end_date":"2025-12-01"}}`)
		if err := storetest.AddRecordsAt(t.Context(), o, c.Now(), p, old); err != nil {
			t.Fatal(err)
		}
		storetest.Exec(t, all[0], `INSERT INTO patient_series (org_no, patient_no, year, bytes) SELECT org_no, patient_no, 1999, bytes FROM patient_series`) // without a record
		storetest.Exec(t, all[0], `UPDATE patient_series SET bytes = $1`, []byte("spoilt"))
		added := morphine(t, c, p, 40, c.Now())
		if err := storetest.AddRecordsAt(t.Context(), o, c.Now(), p, added); err != nil {
			t.Fatal(err)
		}
		storetest.Exec(t, all[0], `UPDATE patient_series SET bytes = $1`, []byte("spoilt"))
		for _, body := range []string{`{"entered_in_error":true,"reason":"x"}`, `{"value":{"name":"morphine","dose":50,"dose_unit":"mg","frequency":"BID","end_date":"2025-12-01"}}`} {
			if _, err := storetest.CorrectAt(t.Context(), o, c.Now(), p, added.ID, body); err != nil {
				t.Fatal(err)
			}
			added = old
		}
		want := []string{"2024-12-20 high_dose_opioid 50", "2024-12-20 high_dose_opioid 90", "2024-12-20 high_dose_opioid 90"}
		if got := alertsOf(t, all[0], o, p, 0); !slices.Equal(got, want) {
			t.Errorf("alerted %q, want %q", got, want)
		}
	})
}

// A repair raises the alerts that a wrong series prevented, and none twice.
func TestRepairAlerts(t *testing.T) {
	eachClocked(t, func(t *testing.T, c *storetest.Clock, all []*store.Store, o store.Org) {
		patients := due(t, c, o, 2)
		storetest.Exec(t, all[0], `DELETE FROM patient_series WHERE patient_no = 1`)
		c.Pass(day)
		check := func() {
			t.Helper()
			if err := all[0].System().SweepAlerts(t.Context()); err != nil {
				t.Fatal(err)
			}
			if problems, _, err := all[0].System().CheckSeries(t.Context(), true, func(string, int64, int64) {}); len(problems) != 0 || err != nil {
				t.Fatalf("%q, %v", problems, err)
			}
		}
		check()
		if got := alertsOf(t, all[0], o, patients[0], 0); len(got) != 1 {
			t.Errorf("after the repair alerted %q", got)
		}
		storetest.Exec(t, all[0], `UPDATE patient_series SET bytes = $1`, []byte("spoilt"))
		check()
		for _, p := range patients {
			if got := alertsOf(t, all[0], o, p, 0); len(got) != 1 {
				t.Errorf("alerted %q", got)
			}
		}
	})
}

// The migration makes existing patients due.
func TestMigrationMakesPatientsDue(t *testing.T) {
	eachClocked(t, func(t *testing.T, c *storetest.Clock, all []*store.Store, o store.Org) {
		patients := due(t, c, o, 3)
		storetest.Exec(t, all[0], `DELETE FROM alert_state`)
		_, rest, _ := strings.Cut(storetest.MigrationSQL(all[0].Engine(), "alerts"), "INSERT INTO alert_state")
		insert, _, found := strings.Cut(rest, ";")
		if !found {
			t.Fatal("the migration inserts nobody")
		}
		storetest.Exec(t, all[0], "INSERT INTO alert_state"+insert)
		for range 2 {
			if err := all[0].System().SweepAlerts(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.Pass(day)
		}
		for _, p := range patients {
			if got := alertsOf(t, all[0], o, p, 0); len(got) != 1 || got[0] != "2024-12-21 high_dose_opioid 50" {
				t.Errorf("alerted %q", got)
			}
		}
	})
}

// Records that are not watched create no standing, and a standing belongs to
// its organisation.
func TestStandings(t *testing.T) {
	eachClocked(t, func(t *testing.T, c *storetest.Clock, all []*store.Store, o store.Org) {
		p := storetest.AddPatient(t, o, "Unwatched").ID
		for _, body := range []string{`{"data_type":"pain_scores","value":5}`, `{"data_type":"medications","value":{"name":"ibuprofen","days_supply":5}}`,
			`{"data_type":"medications","value":{"name":"Zzyzx"}}`, `{"data_type":"notes","value":{"text":"opioid"}}`} {
			rec := storetest.RecordAt(t, c.Now(), p, body)
			if err := storetest.AddRecordsAt(t.Context(), o, c.Now(), p, rec); err != nil {
				t.Fatal(err)
			}
			if rec.Type == pain.TypeMedications {
				if _, err := storetest.CorrectAt(t.Context(), o, c.Now(), p, rec.ID, `{"entered_in_error":true,"reason":"x"}`); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := storetest.Number(t, all[0], `SELECT count(*) FROM alert_state`); n != 0 {
			t.Errorf("%d standings", n)
		}
		who := storetest.Client(t, all[0], "Other Hospital")
		other := all[0].For(&who)
		q := storetest.AddPatient(t, other, "Watched").ID // has the same number as p
		if err := storetest.AddRecordsAt(t.Context(), other, c.Now(), q, morphine(t, c, q, 60, c.Now())); err != nil {
			t.Fatal(err)
		}
		if err := storetest.AddRecordsAt(t.Context(), o, c.Now(), p, morphine(t, c, p, 60, c.Now())); err != nil {
			t.Fatal(err)
		}
		if ours, theirs := alertsOf(t, all[0], o, p, 0), alertsOf(t, all[0], other, q, 0); len(ours) != 1 || len(theirs) != 1 {
			t.Errorf("alerted %q and %q", ours, theirs)
		}
		if foreign := alertsOf(t, all[0], o, q, 0); len(foreign) != 0 {
			t.Errorf("another organisation's alerts: %q", foreign)
		}
	})
}

// A sweep uses an index to read only what is due.
func TestSweepGoesByIndex(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite)
	for sql, index := range map[string]string{patients.SweepBegun: "INDEX alert_state_next (next_day<?)", patients.SweepAhead: "INDEX alert_state_day (day>?)"} {
		var plan []string
		if err := s.Database().Read(t.Context(), func(tx engine.Tx) error {
			return tx.Query("EXPLAIN QUERY PLAN "+sql, func(r engine.Row) error {
				plan = append(plan, r.Text(3))
				return nil
			}, int64(1), int64(1), int64(1), int64(1), int64(1))
		}); err != nil {
			t.Fatal(err)
		}
		if len(plan) != 1 || !strings.Contains(plan[0], "SEARCH") || !strings.Contains(plan[0], strings.Fields(index)[1]) {
			t.Errorf("plan %q, want one by %s", plan, index)
		}
	}
}

func TestUntilSweep(t *testing.T) {
	for at, want := range map[string]time.Duration{
		"2024-12-20T10:30:00Z":           time.Hour,
		"2024-12-20T23:00:00Z":           time.Hour,
		"2024-12-20T23:59:59Z":           time.Second,
		"2024-12-20T00:00:00Z":           time.Hour,
		"2024-12-21T00:30:00+01:00":      30 * time.Minute,
		"2024-12-20T23:59:59.999999999Z": 1,
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := patients.UntilSweep(now); got != want {
			t.Errorf("at %s: %s, want %s", at, got, want)
		}
	}
}
