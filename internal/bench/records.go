package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/strictjson"
)

const (
	// perBatch is the number of records sent or stored at once.
	perBatch = 100
	// batchVariants is the number of different batches posted.
	batchVariants = 256
	// ingestGate is the minimum number of records per second.
	ingestGate = 15_000
)

var clinicalPaths = []path{
	{name: "ingest", title: "POST 100 records", method: http.MethodPost, expect: http.StatusCreated, records: perBatch, recordGate: ingestGate, bodies: batches,
		target: func(b []byte, s *stock, n int) []byte {
			return append(s.patients[scatter(n)%len(s.patients)].Append(append(b, "/v1/patients/"...)), "/clinical-data"...)
		}},
	{name: "range", title: "100 patient records", method: http.MethodGet, expect: http.StatusOK, reads: true, records: perBatch,
		target: func(b []byte, s *stock, n int) []byte {
			b = s.patients[scatter(n)%max(1, s.courses)].Append(append(b, "/v1/patients/"...))
			return append(b, "/clinical-data?limit=100"...)
		}},
}

// medicines are prescribed in turn: name and dose in mg.
var medicines = []struct {
	name string
	dose int
}{{"oxycodone", 10}, {"gabapentin", 300}, {"ibuprofen", 400}, {"morphine", 15}, {"duloxetine", 30}, {"tramadol", 50}, {"lorazepam", 1}, {"naloxone", 4}}

var procedures = []string{"epidural_steroid", "nerve_block", "physical_therapy", "radiofrequency_ablation"}

// batch renders the records of one request: a course over a year in which pain
// falls by a third. Seven of ten records are scores, and one each is a
// medicine, a questionnaire, and a medicine or, every other time, a procedure.
func batch(n, size int) []byte {
	const minutes = 360 * 24 * 60
	start := time.Now().UTC().AddDate(-1, 0, 0).Truncate(time.Minute)
	b := []byte(`{"records":[`)
	for i := range size {
		if i > 0 {
			b = append(b, ',')
		}
		s := scatter(n*perBatch + i)
		at := start.Add(time.Duration((i*minutes+s%minutes)/size) * time.Minute).Format(time.RFC3339)
		pain := min(10, max(0, 4+scatter(n)%5-i*2/size+s%3-1))
		switch {
		case i%10 < 7:
			b = fmt.Appendf(b, `{"data_type":"pain_scores","recorded_at":"%s","value":{"score":%d,"aspect":"average","recall":"7d","body_site":"lower back"},"source":"patient"}`, at, pain)
		case i%10 == 8:
			b = fmt.Appendf(b, `{"data_type":"assessments","recorded_at":"%s","value":{"instrument":"peg","items":{"1":%d,"2":%d,"3":%d}},"source":"patient"}`, at, pain, pain, min(10, pain+1))
		case i%20 == 19:
			b = fmt.Appendf(b, `{"data_type":"procedures","recorded_at":"%s","value":{"procedure_type":"%s","body_site":"lower back","pre_score":%d,"post_score":%d},"source":"clinician"}`,
				at, procedures[s%len(procedures)], pain, max(0, pain-2))
		default:
			m := medicines[(scatter(n)+s%2)%len(medicines)]
			b = fmt.Appendf(b, `{"data_type":"medications","recorded_at":"%s","value":{"name":"%s","dose":%d,"dose_unit":"mg","route":"oral","frequency":"BID","days_supply":30,"status":"active"},"source":"clinician"}`,
				at, m.name, m.dose)
		}
	}
	return append(b, `]}`...)
}

// batches are the bodies posted, rendered once for all paths.
var batches = sync.OnceValue(func() [][]byte {
	bodies := make([][]byte, batchVariants)
	for n := range bodies {
		bodies[n] = batch(n, perBatch)
	}
	return bodies
})

// courseTypes are the types of records in a batch.
var courseTypes = []string{pain.TypePainScores.String(), pain.TypeMedications.String(), pain.TypeAssessments.String(), pain.TypeProcedures.String()}

// readsRecords reports whether any of the paths needs existing records.
func readsRecords(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return findPath(name).reads })
}

// courseSize returns the number of records per patient: enough for all
// patients to have some, unless a path needs full pages.
func courseSize(o *Options) int {
	moves := func(p *path) bool { return p.records > 0 }
	if slices.ContainsFunc(o.Paths, func(name string) bool {
		p := findPath(name)
		return moves(p) || slices.ContainsFunc(p.mix, moves)
	}) {
		return perBatch
	}
	return min(perBatch, max(1, o.Records/o.Patients))
}

// addCourses adds records, one course per patient, until there are enough.
func (st *stock) addCourses(ctx context.Context, records, size int, report progress) error {
	count := (records + size - 1) / size
	st.courses, st.batches, st.records = min(count, len(st.patients)), count, count*size
	var next, done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(fillers, count) {
		group.Go(func() error {
			for n := int(next.Add(1)) - 1; n < count; n = int(next.Add(1)) - 1 {
				if err := addBatch(ctx, st.org, st.client.ID, st.patients[n%len(st.patients)], batch(n, size)); err != nil {
					return err
				}
				report("records", int(done.Add(1))*size, count*size)
			}
			return nil
		})
	}
	return group.Wait()
}

// addBatch stores a batch like the API.
func addBatch(ctx context.Context, org store.Org, client id.Client, patientID id.Patient, body []byte) error {
	object, err := strictjson.Parse(body)
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
	change := journal.Change{
		Audit: audit.Entry{At: now, RequestID: id.New[id.RequestKind](now).String(), Actor: client.String(), Action: audit.ClinicalCreate,
			Resource: patientID.String(), Source: "127.0.0.1", Details: fmt.Appendf(nil, `{"count":%d}`, len(records))},
		Event:   event.ClinicalData(now, patientID, ids, courseTypes),
		Subject: patientID,
	}
	_, err = org.AddRecords(ctx, patientID, records, change, nil, now, idempotency.Outcome{})
	return err
}
