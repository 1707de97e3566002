package patients_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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

// addition returns the write that adds records, and its journal entry.
func addition(patientID id.Patient, records ...pain.Record) *patients.NewRecords {
	ids := make([]id.Record, len(records))
	for i := range records {
		ids[i] = records[i].ID
	}
	now := time.Now()
	return &patients.NewRecords{Patient: patientID, Records: records, Change: journal.Change{
		Audit: audit.Entry{At: now, Actor: "test", Action: audit.ClinicalCreate, Resource: patientID.String()},
		Event: event.ClinicalData(now, patientID, ids, nil), Subject: patientID,
	}}
}

// correction returns the write that corrects a record. It gives the replacement
// the same identifier however often it runs.
func correction(t *testing.T, patientID id.Patient, recordID id.Record, body string) *patients.CorrectedRecord {
	t.Helper()
	object, err := strictjson.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	in := storetest.Intake(patientID)
	replacement := in.NewID()
	in.NewID = func() id.Record { return replacement }
	return &patients.CorrectedRecord{Patient: patientID, Record: recordID, Rule: func(old pain.Record, _ string) (pain.Correction, patients.Extra, journal.Change, error) {
		c, err := pain.NewCorrection(old, object, in)
		change := journal.Change{
			Audit: audit.Entry{At: in.Now, Actor: "test", Action: audit.ClinicalCorrect, Resource: patientID.String()},
			Event: event.ClinicalData(in.Now, patientID, []id.Record{old.ID, replacement}, nil), Subject: patientID,
		}
		return c, patients.Extra{}, change, err
	}}
}

// renaming returns the write that gives a patient another name and one
// identifier more.
func renaming(patientID id.Patient, name string, more ...pain.Identifier) *patients.ChangedPatient {
	return &patients.ChangedPatient{ID: patientID, Rule: func(old pain.Patient, kept string) (pain.Patient, patients.Extra, *journal.Change, error) {
		p := old
		p.Name = name
		p.Version++
		for _, one := range more {
			if err := p.Identify(one); err != nil {
				return p, patients.Extra{}, nil, err
			}
		}
		c := storetest.Updated(p)
		return p, patients.Extra{Kept: kept}, &c, nil
	}}
}

// identified returns a patient with identifiers that is not stored yet.
func identified(name string, list ...pain.Identifier) *patients.NewPatient {
	p := storetest.Patient(name)
	p.Identifiers = pain.NewIdentifiers(list...)
	return &patients.NewPatient{Patient: p, Change: storetest.Created(p)}
}

// writeOne performs a write by the method that it equals.
func writeOne(ctx context.Context, o store.Org, w patients.Write) (err error) {
	now := time.Now()
	switch w := w.(type) {
	case *patients.NewPatient:
		_, err = o.CreatePatient(ctx, &w.Patient, w.Change, nil, idempotency.Outcome{})
	case *patients.ChangedPatient:
		_, err = o.UpdatePatient(ctx, w.ID, func(old pain.Patient) (pain.Patient, *journal.Change, error) {
			p, _, c, err := w.Rule(old, "")
			return p, c, err
		})
	case *patients.NewRecords:
		_, err = o.AddRecords(ctx, w.Patient, w.Records, w.Change, nil, now, idempotency.Outcome{})
	case *patients.CorrectedRecord:
		_, err = o.CorrectRecord(ctx, w.Patient, w.Record, nil, now, func(old pain.Record) (pain.Correction, journal.Change, idempotency.Outcome, error) {
			c, _, change, err := w.Rule(old, "")
			return c, change, idempotency.Outcome{}, err
		})
	}
	return err
}

func writeAll(ctx context.Context, o store.Org, writes ...patients.Write) error {
	_, err := o.WriteAll(ctx, writes, time.Now(), nil, nil)
	return err
}

// someBody returns a random record: opioids, which concern alerts, scores, which
// have a series, and notes, which have none.
func someBody(r *rand.Rand) string {
	at := fmt.Sprintf("20%02d-%02d-%02dT10:00:00Z", 22+r.IntN(4), 1+r.IntN(12), 1+r.IntN(3))
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf(`{"data_type":"medications","recorded_at":%q,"value":{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":%d,"days_supply":30}}`, at, 90+r.IntN(300))
	case 1:
		return fmt.Sprintf(`{"data_type":"notes","recorded_at":%q,"value":{"text":"note %d"}}`, at, r.IntN(100))
	}
	return fmt.Sprintf(`{"data_type":"pain_scores","recorded_at":%q,"value":{"score":%d}}`, at, r.IntN(11))
}

// stateOf returns all rows of an organisation, and its events by patient.
func stateOf(t *testing.T, s *store.Store, org any) (rows []string) {
	t.Helper()
	for _, q := range []struct {
		columns int
		sql     string
	}{
		{6, `SELECT patient_no, id, version, name, medical_history, identifiers FROM patient WHERE org_no = $1 ORDER BY id`},
		{6, `SELECT patient_no, id, recorded_at, status, corrects, value FROM clinical_record WHERE org_no = $1 ORDER BY id`},
		{3, `SELECT patient_no, period, counts FROM record_count WHERE org_no = $1 ORDER BY patient_no, period`},
		{3, `SELECT patient_no, year, bytes FROM patient_series WHERE org_no = $1 ORDER BY patient_no, year`},
		{4, `SELECT patient_no, level, overlap, next_day FROM alert_state WHERE org_no = $1 ORDER BY patient_no`},
		{3, `SELECT system, value, patient_no FROM patient_identifier WHERE org_no = $1 ORDER BY system, value`},
		{2, `SELECT patients, gone FROM org_counter WHERE org_no = $1`},
		{3, `SELECT subject, event_type, count(*) FROM journal WHERE org_no = $1 AND event_type <> 'system.alert' GROUP BY subject, event_type ORDER BY subject, event_type`},
	} {
		rows = append(rows, storetest.Texts(t, s, q.columns, q.sql, org)...)
	}
	return rows
}

// Writes in one transaction leave the same rows and journal entries as one by
// one, whatever their number and order.
func TestWriteAllEqualsSingleWrites(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		for seed := range uint64(6) {
			r := rand.New(rand.NewPCG(seed, 1))
			single, together := storetest.Client(t, s, fmt.Sprint("Single ", seed)), storetest.Client(t, s, fmt.Sprint("Together ", seed))
			one, all := s.For(&single), s.For(&together)
			var people []id.Patient
			var correctable []pain.Record
			for i := range 4 {
				p := identified(fmt.Sprint("Old ", i), mrn(fmt.Sprint("old ", i)))
				before := []patients.Write{p}
				for range r.IntN(6) {
					rec := storetest.Record(t, p.Patient.ID, someBody(r))
					before = append(before, addition(p.Patient.ID, rec))
					if rec.Type == pain.TypePainScores {
						correctable = append(correctable, rec)
					}
				}
				people = append(people, p.Patient.ID)
				for _, w := range before {
					for _, o := range []store.Org{one, all} {
						if err := writeOne(t.Context(), o, w); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			var writes []patients.Write
			for i := range r.IntN(6) {
				p := identified(fmt.Sprint("New ", i), mrn(fmt.Sprint("new ", i)), mrn(fmt.Sprint("b ", i)))
				people, writes = append(people, p.Patient.ID), append(writes, p)
			}
			for i := range 1 + r.IntN(30) {
				patientID := people[r.IntN(len(people))]
				switch n := r.IntN(8); {
				case n == 0 && len(correctable) > 0:
					at := r.IntN(len(correctable))
					rec := correctable[at]
					correctable = slices.Delete(correctable, at, at+1)
					body := fmt.Sprintf(`{"recorded_at":"202%d-05-01","value":{"score":%d}}`, 2+r.IntN(4), r.IntN(11))
					if r.IntN(3) == 0 {
						body = `{"entered_in_error":true,"reason":"wrong patient"}`
					}
					writes = append(writes, correction(t, rec.PatientID, rec.ID, body))
				case n == 1:
					writes = append(writes, renaming(people[r.IntN(4)], fmt.Sprint("Name ", i), mrn(fmt.Sprint("more ", i))))
				default:
					var records []pain.Record
					for range 1 + r.IntN(3) {
						records = append(records, storetest.Record(t, patientID, someBody(r)))
					}
					writes = append(writes, addition(patientID, records...))
				}
			}
			for i, w := range writes {
				if err := writeOne(t.Context(), one, w); err != nil {
					t.Fatalf("write %d: %v", i, err)
				}
			}
			if err := writeAll(t.Context(), all, writes...); err != nil {
				t.Fatal(err)
			}
			storetest.Settle(t, s)
			want, got := stateOf(t, s, int64(single.Org)), stateOf(t, s, int64(together.Org))
			if !slices.Equal(want, got) {
				for i := range min(len(want), len(got)) {
					if want[i] != got[i] {
						t.Errorf("seed %d: a row is %q, alone %q", seed, got[i], want[i])
					}
				}
				t.Fatalf("seed %d: %d rows, alone %d", seed, len(got), len(want))
			}
		}
		storetest.Clean(t, s)
	})
}

// If one write is rejected, nothing of the others is stored, and the error says
// which one it was.
func TestWriteAllOrNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who, other := storetest.Client(t, s, "General Hospital"), storetest.Client(t, s, "Other Clinic")
		o := s.For(&who)
		a := identified("Ada", mrn("1"))
		foreign := identified("Bea")
		score := storetest.Record(t, a.Patient.ID, `{"data_type":"pain_scores","recorded_at":"2024-05-01","value":{"score":4}}`)
		gone := storetest.Record(t, a.Patient.ID, `{"data_type":"pain_scores","recorded_at":"2024-05-02","value":{"score":4}}`)
		for _, err := range []error{writeAll(t.Context(), o, a, addition(a.Patient.ID, score, gone)), writeAll(t.Context(), s.For(&other), foreign),
			writeAll(t.Context(), o, correction(t, a.Patient.ID, gone.ID, `{"entered_in_error":true,"reason":"wrong"}`))} {
			if err != nil {
				t.Fatal(err)
			}
		}
		good := func(i int) []patients.Write {
			p := identified("Good", mrn(fmt.Sprint("good ", i)))
			return []patients.Write{p, addition(p.Patient.ID, storetest.Record(t, p.Patient.ID, `{"data_type":"notes","value":{"text":"x"}}`)),
				addition(a.Patient.ID, storetest.Record(t, a.Patient.ID, `{"data_type":"notes","value":{"text":"x"}}`)),
				correction(t, a.Patient.ID, score.ID, `{"value":{"score":5}}`)}
		}
		sought := identified("Sought", mrn("1"))
		sought.Sought = mrn("1")
		found := renaming(a.Patient.ID, "Found")
		found.Sought = mrn("2")
		medicated := storetest.Record(t, a.Patient.ID, `{"data_type":"medications","recorded_at":"2024-05-01","value":{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30}}`)
		medicated.Aliases = 7
		settled := stateOf(t, s, int64(who.Org))
		for i, bad := range []struct {
			name string
			code fault.Code
			w    patients.Write
		}{
			{"another's identifier", fault.Conflict, identified("Taken", mrn("1"))},
			{"an identifier of the same request", fault.Conflict, identified("Twice", mrn("good 1"))},
			{"an unknown patient", fault.NotFound, addition(storetest.Patient("").ID, score)},
			{"another organisation's patient", fault.NotFound, renaming(foreign.Patient.ID, "Stolen")},
			{"an unknown record", fault.NotFound, correction(t, a.Patient.ID, id.New[id.RecordKind](time.Now()), `{"value":{"score":5}}`)},
			{"a record entered in error", fault.Conflict, correction(t, a.Patient.ID, gone.ID, `{"value":{"score":5}}`)},
			{"a record corrected twice", fault.Conflict, correction(t, a.Patient.ID, score.ID, `{"value":{"score":6}}`)},
			{"an identifier that was free", "", sought},
			{"a patient that had an identifier", "", found},
			{"outdated aliases", "", addition(a.Patient.ID, medicated)},
		} {
			err := writeAll(t.Context(), o, append(good(i), bad.w)...)
			failed, ok := errors.AsType[*patients.WriteError](err)
			wantOutdated := bad.code == ""
			if !ok || patients.Outdated(err) != wantOutdated || !wantOutdated && !fault.Is(err, bad.code) {
				t.Errorf("%s: %v", bad.name, err)
				continue
			}
			// A patient created twice is noticed at either; several writes about
			// one patient at the first.
			if failed.Index != 4 && !strings.Contains(bad.name, "same request") && bad.name != "outdated aliases" {
				t.Errorf("%s: write %d was rejected", bad.name, failed.Index)
			}
			if now := stateOf(t, s, int64(who.Org)); !slices.Equal(now, settled) {
				t.Errorf("%s: something was stored", bad.name)
			}
		}
		if err := writeAll(t.Context(), o, good(99)...); err != nil {
			t.Error(err)
		}
		storetest.Clean(t, s)
	})
}

// Transactions about the same patients and identifiers, in opposite orders and
// beside single writes and merges, all end, and each is whole.
func TestWriteAllInParallel(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		storetest.Run(t, all...)
		var people []id.Patient
		for i := range 6 {
			people = append(people, storetest.AddPatient(t, all[0].For(&who), fmt.Sprint("Patient ", i)).ID)
		}
		const callers, rounds = 16, 6
		storetest.Together(t, callers, func(i int) error {
			o := all[i%2].For(&who)
			r := rand.New(rand.NewPCG(uint64(i), 2))
			for n := range rounds {
				order := slices.Clone(people)
				r.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
				var writes []patients.Write
				names := []string{"x", "y", "z"}
				r.Shuffle(len(names), func(a, b int) { names[a], names[b] = names[b], names[a] })
				for k, patientID := range order {
					if k < 3 {
						p := identified("New", mrn(fmt.Sprint(names[k], i, n)), mrn("shared "+names[k]+fmt.Sprint(n)))
						writes = append(writes, p, addition(p.Patient.ID, storetest.Record(t, p.Patient.ID, someBody(r))))
						writes = append(writes, renaming(patientID, fmt.Sprint("Renamed ", i, n)))
					}
					writes = append(writes, addition(patientID, storetest.Record(t, patientID, someBody(r))))
				}
				// Of all callers, one gets the shared identifiers of a round.
				if err := writeAll(t.Context(), o, writes...); err != nil && !fault.Is(err, fault.Conflict) {
					return err
				}
				if err := storetest.AddRecords(t.Context(), o, order[0], storetest.Record(t, order[0], someBody(r))); err != nil {
					return err
				}
			}
			return nil
		})
		s := all[0]
		if n := storetest.Number(t, s, `SELECT count(*) FROM patient`); n != 6+3*rounds {
			t.Errorf("%d patients, want %d", n, 6+3*rounds)
		}
		if n := storetest.Number(t, s, `SELECT count(*) FROM clinical_record`); n != (6+3)*rounds+callers*rounds {
			t.Errorf("%d records, want %d", n, (6+3)*rounds+callers*rounds)
		}
		storetest.Clean(t, s)
	})
}
