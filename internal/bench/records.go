package bench

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"anodyne/internal/audit"
	"anodyne/internal/event"
	"anodyne/internal/id"
	"anodyne/internal/pain"
	"anodyne/internal/store"
	"anodyne/internal/strictjson"
)

const (
	// perBatch is how many records are sent, or kept, at once.
	perBatch = 100
	// batchVariants is how many different batches are posted.
	batchVariants = 256
	// ingestGate is how many records a second must be taken in.
	ingestGate = 15_000
)

var clinicalPaths = []path{
	{name: "ingest", title: "POST 100 records", method: http.MethodPost, expect: http.StatusCreated, records: perBatch, recordGate: ingestGate, bodies: batches,
		target: func(b []byte, s *stock, n int) []byte {
			return append(s.patients[scatter(n)%len(s.patients)].Append(append(b, "/v1/patients/"...)), "/clinical-data"...)
		}},
	{name: "range", title: "100 records of one", method: http.MethodGet, expect: http.StatusOK, reads: true, records: perBatch,
		target: func(b []byte, s *stock, n int) []byte {
			b = s.patients[scatter(n)%max(1, s.courses)].Append(append(b, "/v1/patients/"...))
			return append(b, "/clinical-data?limit=100"...)
		}},
}

var opioids = []string{"oxycodone", "morphine", "tramadol", "hydrocodone"}

// batch renders the records of one request: four scores to each medicine,
// over a year.
func batch(n int) []byte {
	day := time.Now().UTC().AddDate(-1, 0, 0)
	b := []byte(`{"records":[`)
	for i := range perBatch {
		if i > 0 {
			b = append(b, ',')
		}
		s := scatter(n*perBatch + i)
		at := day.Add(time.Duration(s%(360*24*60)) * time.Minute).Format(time.RFC3339)
		if i%5 == 4 {
			b = fmt.Appendf(b, `{"data_type":"medications","recorded_at":"%s","value":{"name":"%s","dose":%d,"dose_unit":"mg","route":"oral","frequency":"BID","days_supply":30,"status":"active"},"source":"clinician"}`,
				at, opioids[s%len(opioids)], 5+s%4*5)
			continue
		}
		b = fmt.Appendf(b, `{"data_type":"pain_scores","recorded_at":"%s","value":{"score":%d,"aspect":"average","recall":"7d","body_site":"lower back"},"source":"patient"}`, at, s%11)
	}
	return append(b, `]}`...)
}

func batches() [][]byte {
	bodies := make([][]byte, batchVariants)
	for n := range bodies {
		bodies[n] = batch(n)
	}
	return bodies
}

// readsRecords reports whether a path wants records to be there.
func readsRecords(names []string) bool {
	for _, name := range names {
		if findPath(name).reads {
			return true
		}
	}
	return false
}

// addCourses adds records, a batch to a patient, until there are as many as
// wanted, and gives the number of batches.
func (st *stock) addCourses(ctx context.Context, org store.Org, client id.Client, records int, progress func(done, total int)) (int, error) {
	count := (records + perBatch - 1) / perBatch
	st.courses = min(count, len(st.patients))
	var next, done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(fillers, count) {
		group.Go(func() error {
			for n := int(next.Add(1)) - 1; n < count; n = int(next.Add(1)) - 1 {
				if err := addBatch(ctx, org, client, st.patients[n%len(st.patients)], n); err != nil {
					return err
				}
				progress(int(done.Add(1))*perBatch, count*perBatch)
			}
			return nil
		})
	}
	return count, group.Wait()
}

// addBatch keeps what the API would of a batch.
func addBatch(ctx context.Context, org store.Org, client id.Client, patientID id.Patient, n int) error {
	object, err := strictjson.Parse(batch(n))
	if err != nil {
		return err
	}
	now := time.Now()
	records, _, err := pain.NewRecords(object, pain.Intake{PatientID: patientID, Now: now, NewID: func() id.Record { return id.New[id.RecordKind](now) }})
	if err != nil {
		return err
	}
	ids := make([]id.Record, len(records))
	for i := range records {
		ids[i] = records[i].ID
	}
	change := store.Change{
		Audit: audit.Entry{At: now, RequestID: id.New[id.RequestKind](now).String(), Actor: client.String(), Action: audit.ClinicalCreate,
			Resource: patientID.String(), Source: "127.0.0.1", Details: fmt.Appendf(nil, `{"count":%d}`, len(records))},
		Event:   event.ClinicalData(now, patientID, ids, []string{pain.TypePainScores.String(), pain.TypeMedications.String()}),
		Subject: patientID,
	}
	_, err = org.AddRecords(ctx, patientID, records, change, nil, now, store.Outcome{})
	return err
}
