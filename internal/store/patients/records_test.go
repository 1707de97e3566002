package patients_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/strictjson"
)

var recordNow = time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)

// valuesOf has a stored value for each type that contributes to the series; for
// other types the value does not matter.
var valuesOf = map[pain.DataType]string{
	pain.TypeMedications:      `{"name":"ibuprofen"}`,
	pain.TypeAssessments:      `{"instrument":"odi","score":20}`,
	pain.TypeProcedures:       `{"procedure_type":"acupuncture"}`,
	pain.TypeFunctionalStatus: `{"measure":"pain_frequency","value":"most_days"}`,
	pain.TypeLabs:             `{"analyte":"oxycodone","result":"positive"}`,
}

// newRecord returns a record that is not stored yet.
func newRecord(patientID id.Patient, t pain.DataType, at time.Time) pain.Record {
	return pain.Record{
		ID: id.New[id.RecordKind](recordNow), PatientID: patientID, Type: t, RecordedAt: at, Value: pain.StoredValue(cmp.Or(valuesOf[t], `{"score":5}`)),
		Notes: "at rest", Source: "patient", Author: "diary", EncounterID: "e1", Status: pain.Final, CreatedAt: recordNow,
	}
}

// clinicalChange returns the change for records.
func clinicalChange(action audit.Action, records ...pain.Record) journal.Change {
	var ids []id.Record
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	patientID := records[0].PatientID
	return journal.Change{
		Audit:   audit.Entry{At: recordNow, Actor: "test", Action: action, Resource: patientID.String()},
		Event:   event.ClinicalData(recordNow, patientID, ids, []string{records[0].Type.String()}),
		Subject: patientID,
	}
}

func addRecords(t *testing.T, o store.Org, records ...pain.Record) {
	t.Helper()
	if _, err := o.AddRecords(t.Context(), records[0].PatientID, records, clinicalChange(audit.ClinicalCreate, records...), nil, recordNow, idempotency.Outcome{}); err != nil {
		t.Fatal(err)
	}
}

// correct corrects a record as the API does.
func correct(t *testing.T, o store.Org, patientID id.Patient, recordID id.Record, body string) (made pain.Correction, err error) {
	t.Helper()
	object, parseErr := strictjson.Parse([]byte(body))
	if parseErr != nil {
		t.Fatal(parseErr)
	}
	in := pain.Intake{PatientID: patientID, NewID: func() id.Record { return id.New[id.RecordKind](recordNow) }, Now: recordNow}
	_, err = o.CorrectRecord(t.Context(), patientID, recordID, nil, recordNow, func(old pain.Record) (pain.Correction, journal.Change, idempotency.Outcome, error) {
		c, err := pain.NewCorrection(old, object, in)
		made = c
		return c, clinicalChange(audit.ClinicalCorrect, old), idempotency.Outcome{}, err
	})
	return made, err
}

func listed(t *testing.T, o store.Org, patientID id.Patient, q patients.RecordQuery) (records []pain.Record, total int64) {
	t.Helper()
	total, err := o.Records(t.Context(), patientID, q, func(r *pain.Record) { records = append(records, *r) })
	if err != nil {
		t.Fatal(err)
	}
	return records, total
}

func TestRecordComesBackAsItWas(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		p := storetest.AddPatient(t, o, "A")
		full := newRecord(p.ID, pain.TypePainScores, recordNow.Add(123*time.Millisecond))
		bare := pain.Record{ID: id.New[id.RecordKind](recordNow), PatientID: p.ID, Type: pain.TypeNotes, RecordedAt: time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC),
			Value: pain.StoredValue(`{"text":"naïve \u0000 ☃"}`), Status: pain.Final, CreatedAt: recordNow}
		amended := newRecord(p.ID, pain.TypePainScores, recordNow)
		amended.Status, amended.Corrects = pain.Amended, full.ID
		want := []pain.Record{bare, amended, full}
		addRecords(t, o, full, bare, amended)
		got, total := listed(t, o, p.ID, patients.RecordQuery{Page: 1, Limit: 10})
		if !slices.Equal(got, want) || total != 3 {
			t.Errorf("got %+v of %d, want %+v", got, total, want)
		}
		for _, w := range want {
			if got, err := o.Record(t.Context(), p.ID, w.ID); got != w || err != nil {
				t.Errorf("got %+v, %v, want %+v", got, err, w)
			}
		}
		if birth, err := o.BirthDate(t.Context(), p.ID); birth != p.DateOfBirth || err != nil {
			t.Errorf("born on %v, %v", birth, err)
		}
	})
}

// Order and pages are those of a plain sort, whatever the query.
func TestRecordsAgainstAPlainSort(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		p, other := storetest.AddPatient(t, o, "A"), storetest.AddPatient(t, o, "B")
		random := rand.New(rand.NewPCG(1, 2))
		day := func(n int) time.Time { return time.Date(2025, 1, 1+n, 0, 0, 0, 0, time.UTC) }
		states := []pain.Status{pain.Final, pain.Final, pain.Amended, pain.Superseded, pain.EnteredInError}
		var everything []pain.Record
		for range 120 {
			r := newRecord(p.ID, 1+pain.DataType(random.IntN(12)), day(40*random.IntN(10)).Add(time.Duration(random.IntN(3))*time.Hour))
			r.Status = states[random.IntN(len(states))]
			everything = append(everything, r)
		}
		addRecords(t, o, everything...)
		addRecords(t, o, newRecord(other.ID, pain.TypePainScores, day(3)))
		for i := range 400 {
			if i == 200 { // from here on a page looks up its day first
				patients.ShortNearby(t)
			}
			q := patients.RecordQuery{Page: 1 + random.Int64N(4), Limit: 1 + random.Int64N(40), Inactive: random.IntN(2) == 0, Descending: random.IntN(2) == 0}
			if random.IntN(2) == 0 {
				q.From = day(random.IntN(400))
			}
			if random.IntN(2) == 0 {
				q.Before = day(random.IntN(400))
			}
			for range random.IntN(4) {
				q.Types = append(q.Types, 1+pain.DataType(random.IntN(12)))
			}
			want := plainly(everything, q)
			total := int64(len(want))
			from := min((q.Page-1)*q.Limit, total)
			want = want[from:min(from+q.Limit, total)]
			got, gotTotal := listed(t, o, p.ID, q)
			if !slices.Equal(got, want) || gotTotal != total {
				t.Fatalf("%+v: %d of %d, want %d of %d", q, len(got), gotTotal, len(want), total)
			}
		}
	})
}

// plainly filters and sorts in memory.
func plainly(all []pain.Record, q patients.RecordQuery) []pain.Record {
	var fit []pain.Record
	for _, r := range all {
		if (q.Inactive || r.Status.Active()) && !r.RecordedAt.Before(q.From) && (q.Before.IsZero() || r.RecordedAt.Before(q.Before)) &&
			(len(q.Types) == 0 || slices.Contains(q.Types, r.Type)) {
			fit = append(fit, r)
		}
	}
	slices.SortFunc(fit, func(a, b pain.Record) int {
		order := a.RecordedAt.Compare(b.RecordedAt)
		if order == 0 {
			order = bytes.Compare(a.ID.Bytes(), b.ID.Bytes())
		}
		if q.Descending {
			order = -order
		}
		return order
	})
	return fit
}

// Of many concurrent corrections of one record, on two nodes, one succeeds and
// the others get a conflict.
func TestOneCorrectionWins(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		o := all[0].For(&who)
		p := storetest.AddPatient(t, o, "A")
		record := newRecord(p.ID, pain.TypePainScores, recordNow)
		addRecords(t, o, record)
		var won, lost atomic.Int64
		storetest.Together(t, 16, func(i int) error {
			body := fmt.Sprintf(`{"value":%d,"recorded_at":"2025-01-0%d"}`, i%11, 1+i%9)
			if i%3 == 0 {
				body = `{"entered_in_error":true,"reason":"x"}`
			}
			_, err := correct(t, all[i%2].For(&who), p.ID, record.ID, body)
			switch {
			case err == nil:
				won.Add(1)
			case fault.Is(err, fault.Conflict):
				lost.Add(1)
			default:
				return err
			}
			return nil
		})
		if won.Load() != 1 || lost.Load() != 15 {
			t.Errorf("%d won, %d lost", won.Load(), lost.Load())
		}
		kept, _ := listed(t, o, p.ID, patients.RecordQuery{Page: 1, Limit: 100, Inactive: true})
		standing, _ := listed(t, o, p.ID, patients.RecordQuery{Page: 1, Limit: 100})
		if len(kept)-len(standing) != 1 || len(standing) > 1 {
			t.Errorf("%d records, %d of them stand", len(kept), len(standing))
		}
	})
}

func TestHistoryOfARecord(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		p := storetest.AddPatient(t, o, "A")
		first, alone := newRecord(p.ID, pain.TypePainScores, recordNow), newRecord(p.ID, pain.TypePainScores, recordNow)
		addRecords(t, o, first, alone)
		want := []id.Record{first.ID}
		for i := range 3 {
			c, err := correct(t, o, p.ID, want[i], fmt.Sprintf(`{"value":%d,"recorded_at":"2025-01-0%d"}`, i, 9-i))
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, c.New.ID)
		}
		for _, member := range want {
			chain, err := o.History(t.Context(), p.ID, member)
			var got []id.Record
			for _, r := range chain {
				got = append(got, r.ID)
			}
			if !slices.Equal(got, want) || err != nil {
				t.Errorf("from %v: %v, %v, want %v", member, got, err, want)
			}
		}
		if chain, err := o.History(t.Context(), p.ID, alone.ID); len(chain) != 1 || err != nil {
			t.Errorf("%v, %v", chain, err)
		}
	})
}

// A batch that fails leaves no record, no event and no audit line.
func TestBatchThatFailsLeavesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		s, o := all[0], all[0].For(&who)
		p := storetest.AddPatient(t, o, "A")
		kept := newRecord(p.ID, pain.TypePainScores, recordNow)
		addRecords(t, o, kept)
		storetest.Settle(t, s)
		_, head, err := o.Events(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		batch := []pain.Record{newRecord(p.ID, pain.TypeSleep, recordNow), newRecord(p.ID, pain.TypeMood, recordNow), kept} // the last one already exists
		once := &idempotency.Once{Key: []byte("key"), Body: []byte("body")}
		for _, key := range []*idempotency.Once{nil, once} {
			if _, err := o.AddRecords(t.Context(), p.ID, batch, clinicalChange(audit.ClinicalCreate, batch...), key, recordNow, idempotency.Outcome{Status: 201}); err == nil {
				t.Error("a record was added twice")
			}
		}
		nobody := id.New[id.PatientKind](recordNow)
		if _, err := o.AddRecords(t.Context(), nobody, batch[:2], clinicalChange(audit.ClinicalCreate, batch...), once, recordNow, idempotency.Outcome{}); !fault.Is(err, fault.NotFound) {
			t.Errorf("to nobody: %v", err)
		}
		rule := errors.New("the rule says no")
		if _, err := o.CorrectRecord(t.Context(), p.ID, kept.ID, once, recordNow, func(old pain.Record) (pain.Correction, journal.Change, idempotency.Outcome, error) {
			return pain.Correction{Old: old}, clinicalChange(audit.ClinicalCorrect, old), idempotency.Outcome{}, rule
		}); !errors.Is(err, rule) {
			t.Errorf("got %v", err)
		}
		storetest.Settle(t, s)
		if got, total := listed(t, o, p.ID, patients.RecordQuery{Page: 1, Limit: 100, Inactive: true}); total != 1 || got[0] != kept {
			t.Errorf("%d records: %+v", total, got)
		}
		if events, _, err := o.Events(t.Context(), head, 100); len(events) != 0 || err != nil {
			t.Errorf("%v, %v", events, err)
		}
		// The key is still free.
		if out, err := o.AddRecords(t.Context(), p.ID, batch[:2], clinicalChange(audit.ClinicalCreate, batch[:2]...), once, recordNow, idempotency.Outcome{Status: 201, Body: []byte("{}")}); out.Replayed || err != nil {
			t.Errorf("%+v, %v", out, err)
		}
	})
}

// Records are not accessible through another organisation or another patient.
func TestRecordsAreApart(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		ours, theirs := storetest.Client(t, s, "Ours"), storetest.Client(t, s, "Theirs")
		a, b := s.For(&ours), s.For(&theirs)
		mine, secret := storetest.AddPatient(t, a, "Mine"), storetest.AddPatient(t, b, "Secret")
		record := newRecord(secret.ID, pain.TypePainScores, recordNow)
		addRecords(t, b, record)
		for _, patientID := range []id.Patient{secret.ID, mine.ID} {
			if _, err := a.Record(t.Context(), patientID, record.ID); !fault.Is(err, fault.NotFound) {
				t.Errorf("Record: %v", err)
			}
			if _, err := a.History(t.Context(), patientID, record.ID); !fault.Is(err, fault.NotFound) {
				t.Errorf("History: %v", err)
			}
			if _, err := correct(t, a, patientID, record.ID, `{"value":1}`); !fault.Is(err, fault.NotFound) {
				t.Errorf("CorrectRecord: %v", err)
			}
		}
		if _, err := a.BirthDate(t.Context(), secret.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("BirthDate: %v", err)
		}
		if _, err := a.Records(t.Context(), secret.ID, patients.RecordQuery{Page: 1, Limit: 10}, func(*pain.Record) { t.Error("a record was shown") }); !fault.Is(err, fault.NotFound) {
			t.Errorf("Records: %v", err)
		}
		stolen := newRecord(secret.ID, pain.TypeMood, recordNow)
		if _, err := a.AddRecords(t.Context(), secret.ID, []pain.Record{stolen}, clinicalChange(audit.ClinicalCreate, stolen), nil, recordNow, idempotency.Outcome{}); !fault.Is(err, fault.NotFound) {
			t.Errorf("AddRecords: %v", err)
		}
		if got, total := listed(t, a, mine.ID, patients.RecordQuery{Page: 1, Limit: 10, Inactive: true}); total != 0 || len(got) != 0 {
			t.Errorf("%v", got)
		}
		if got, err := b.Record(t.Context(), secret.ID, record.ID); got != record || err != nil {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
