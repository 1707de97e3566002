package patients_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// mergedInto returns where an error says that the data of a patient is.
func mergedInto(t *testing.T, err error) (into id.Patient) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != fault.PatientMerged {
		t.Fatalf("%v, want %s", err, fault.PatientMerged)
	}
	into, err = id.Parse[id.PatientKind](f.Details["into"].(string))
	if err != nil {
		t.Fatal(err)
	}
	return into
}

// recordsOf returns the identifiers of a patient's records.
func recordsOf(t *testing.T, o store.Org, patientID id.Patient) (ids []id.Record) {
	t.Helper()
	for page := int64(1); ; page++ {
		total, err := o.Records(t.Context(), patientID, patients.RecordQuery{Page: page, Limit: 100, Inactive: true}, func(rec *pain.Record) { ids = append(ids, rec.ID) })
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(ids)) >= total {
			return ids
		}
	}
}

// While 16 callers write to four patients on two nodes, others merge them, also
// into each other at the same time. Every record that was acknowledged is with
// the patient that is left, everything derived matches the records, and nobody
// waits for ever.
func TestMergeUnderWriters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		storetest.Run(t, all...)
		nodes := []store.Org{all[0].For(&who), all[1].For(&who)}
		for round := range 3 {
			var people []id.Patient
			for i := range 4 {
				people = append(people, storetest.AddPatient(t, nodes[0], fmt.Sprint("Patient ", round, " ", i)).ID)
			}
			var mu sync.Mutex
			var kept []id.Record
			storetest.Together(t, 16+6, func(i int) error {
				o := nodes[i%2]
				if i >= 16 {
					// Three pairs of opposite merges: of each, at most one succeeds.
					from, into := people[(i-16)/2], people[3]
					if i%2 == 1 {
						from, into = into, from
					}
					if err := storetest.Merge(t.Context(), o, from, into); err != nil && fault.CodeOf(err) != fault.PatientMerged {
						return err
					}
					return nil
				}
				for n := range 12 {
					patientID := people[(i+n)%4]
					body := fmt.Sprintf(`{"data_type":"pain_scores","recorded_at":"2024-0%d-1%d","value":{"score":%d}}`, n%9+1, i%10, n%11)
					if n%4 == 0 {
						body = fmt.Sprintf(`{"data_type":"medications","recorded_at":"2024-05-1%d","value":{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30}}`, i%10)
					}
					for {
						rec := storetest.Record(t, patientID, body)
						err := storetest.AddRecords(t.Context(), o, patientID, rec)
						if fault.CodeOf(err) == fault.PatientMerged {
							f, _ := errors.AsType[*fault.Error](err)
							if patientID, err = id.Parse[id.PatientKind](f.Details["into"].(string)); err != nil {
								return err
							}
							continue
						}
						if err != nil {
							return err
						}
						mu.Lock()
						kept = append(kept, rec.ID)
						mu.Unlock()
						break
					}
				}
				return nil
			})
			var found []id.Record
			left := 0
			for _, patientID := range people {
				if _, err := nodes[0].Patient(t.Context(), patientID); err == nil {
					left++
					found = append(found, recordsOf(t, nodes[1], patientID)...)
				} else if _, err := nodes[1].Patient(t.Context(), mergedInto(t, err)); err != nil {
					t.Errorf("a merged patient names one that is not there: %v", err)
				}
			}
			byBytes := func(a, b id.Record) int { return slices.Compare(a.Bytes(), b.Bytes()) }
			slices.SortFunc(kept, byBytes)
			slices.SortFunc(found, byBytes)
			if left == 4 || len(kept) != 16*12 || !slices.Equal(kept, found) {
				t.Errorf("%d patients are left with %d records; %d were acknowledged", left, len(found), len(kept))
			}
			storetest.Clean(t, all[0])
		}
	})
}

// What one patient had is with the other one, in its order; the journal has an
// entry for each, and every way to the first one leads to the second.
func TestMerge(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "General Hospital")
		o := s.For(&who)
		a, b, c := storetest.AddPatient(t, o, "Ada"), storetest.AddPatient(t, o, "Bea"), storetest.AddPatient(t, o, "Cleo")
		imported := storetest.Patient("Dora")
		imported.Identifiers = pain.NewIdentifiers(mrn("8"))
		line := patients.ImportedPatient{Content: hashOf(1), Key: hashOf(2), Patient: imported, Change: storetest.Created(imported)}
		if added, _, err := o.ImportPatients(t.Context(), []patients.ImportedPatient{line}); added != 1 || err != nil {
			t.Fatal(added, err)
		}
		score := func(patientID id.Patient, at string) pain.Record {
			rec := storetest.Record(t, patientID, `{"data_type":"pain_scores","recorded_at":"`+at+`","value":{"score":4}}`)
			if err := storetest.AddRecords(t.Context(), o, patientID, rec); err != nil {
				t.Fatal(err)
			}
			return rec
		}
		want := []id.Record{score(a.ID, "2024-01-01").ID, score(b.ID, "2024-02-01").ID, score(a.ID, "2024-03-01").ID, score(imported.ID, "2025-01-01").ID}
		storetest.Exec(t, s, `INSERT INTO patient_identifier (org_no, system, value, patient_no) VALUES ($1, 'mrn', '7', 1)`, int64(who.Org))
		storetest.Exec(t, s, `UPDATE patient SET identifiers = '[{"system":"mrn","value":"7"}]' WHERE org_no = $1 AND patient_no = 1`, int64(who.Org))
		storetest.Settle(t, s)
		head, _, err := o.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range [][2]id.Patient{{imported.ID, a.ID}, {a.ID, b.ID}, {b.ID, c.ID}} {
			if err := storetest.Merge(t.Context(), o, step[0], step[1]); err != nil {
				t.Fatal(err)
			}
		}
		if got := recordsOf(t, o, c.ID); !slices.Equal(got, want) {
			t.Errorf("records %v, want %v", got, want)
		}
		storetest.Settle(t, s)
		events, _, err := o.Events(t.Context(), head, 100)
		if err != nil || len(events) != 3 || events[2].Type != event.PatientMerged || string(events[2].Data) != `{"patient_id":"`+b.ID.String()+`","into":"`+c.ID.String()+`"}` {
			t.Errorf("events %+v, %v", events, err)
		}
		if changed, _, err := storetest.ChangedIDs(t, o, head); err != nil || len(changed) != 1 || changed[0] != c.ID {
			t.Errorf("changed patients %v, %v", changed, err)
		}
		rec := storetest.Record(t, a.ID, `{"data_type":"sleep","value":{"hours":4}}`)
		_, chart := o.Chart(t.Context(), a.ID)
		_, detail := o.Patient(t.Context(), a.ID)
		_, birth := o.BirthDate(t.Context(), a.ID)
		_, _, intake := o.Intake(t.Context(), a.ID)
		_, record := o.Record(t.Context(), a.ID, want[0])
		_, history := o.History(t.Context(), a.ID, want[0])
		_, list := o.Records(t.Context(), a.ID, patients.RecordQuery{Page: 1, Limit: 1}, func(*pain.Record) {})
		_, correct := storetest.Correct(t.Context(), o, a.ID, want[0], `{"entered_in_error":true,"reason":"x"}`)
		_, update := o.UpdatePatient(t.Context(), a.ID, func(old pain.Patient) (pain.Patient, *journal.Change, error) { return old, nil, nil })
		for name, err := range map[string]error{
			"show": o.ShowPatient(t.Context(), a.ID, func(patients.PatientRow) {}), "chart": chart, "detail": detail, "birth": birth, "intake": intake, "record": record,
			"history": history, "list": list, "correct": correct, "update": update, "add": storetest.AddRecords(t.Context(), o, a.ID, rec),
			"merge": storetest.Merge(t.Context(), o, a.ID, c.ID), "merge into": storetest.Merge(t.Context(), o, c.ID, a.ID),
		} {
			if into := mergedInto(t, err); into != c.ID {
				t.Errorf("%s: merged into %s, want %s", name, into, c.ID)
			}
		}
		if there, others, err := o.ImportedPatients(t.Context(), []patients.ImportedPatient{line}); there != 1 || others != nil || err != nil {
			t.Errorf("the line of the imported patient: %d, %v, %v", there, others, err)
		}
		line.Content = hashOf(3)
		if there, others, err := o.ImportedPatients(t.Context(), []patients.ImportedPatient{line}); there != 0 || len(others) != 1 || err != nil {
			t.Errorf("another line with its key: %d, %v, %v", there, others, err)
		}
		if got, err := o.Patient(t.Context(), c.ID); err != nil || got.MedicalHistory != c.MedicalHistory || got.Version != 2 {
			t.Errorf("the same entry twice, and an identifier: %+v, %v", got, err)
		}
		if n := storetest.Number(t, s, `SELECT count(*) FROM patient_identifier i JOIN patient p ON p.org_no = i.org_no AND p.patient_no = i.patient_no
			WHERE i.org_no = $1 AND p.id = $2 AND p.identifiers = '[{"system":"mrn","value":"7"},{"system":"mrn","value":"8"}]'`, int64(who.Org), c.ID.Bytes()); n != 2 {
			t.Error("the identifiers did not move along")
		}
		storetest.Clean(t, s)
	})
}

// A merge is refused that names the patient of another organisation, or none,
// and changes nothing.
func TestMergeOfOthers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who, others := storetest.Client(t, s, "General Hospital"), storetest.Client(t, s, "Elsewhere")
		o, elsewhere := s.For(&who), s.For(&others)
		mine, theirs := storetest.AddPatient(t, o, "Ada"), storetest.AddPatient(t, elsewhere, "Bea")
		for _, pair := range [][2]id.Patient{{mine.ID, theirs.ID}, {theirs.ID, mine.ID}, {mine.ID, id.New[id.PatientKind](time.Now())}} {
			if err := storetest.Merge(t.Context(), o, pair[0], pair[1]); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("%v: %v", pair, err)
			}
		}
		for _, both := range []struct {
			store.Org
			patient id.Patient
		}{{o, mine.ID}, {elsewhere, theirs.ID}} {
			if _, err := both.Patient(t.Context(), both.patient); err != nil {
				t.Error(err)
			}
		}
		storetest.Clean(t, s)
	})
}
