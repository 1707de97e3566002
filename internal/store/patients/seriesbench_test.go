package patients_test

import (
	"fmt"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/storetest"
)

// BenchmarkAddRecords adds batches of 100 records to patients that already have
// some in the same year, from several callers, each with its own patients.
func BenchmarkAddRecords(b *testing.B) {
	const batch, atOnce = 100, 8
	for _, engine := range storetest.Engines {
		for _, before := range []int{0, 500} {
			b.Run(fmt.Sprintf("%s/%d", engine, before), func(b *testing.B) {
				s := storetest.Open(b, engine)
				who := storetest.Client(b, s, "Bench")
				o := s.For(&who)
				plain := storetest.Patient("plain").ID
				var model []pain.Record
				for i := range batch {
					at := time.Date(2025, 1, 1, 9, 30*i, 0, 0, time.UTC).Format(time.RFC3339)
					body := fmt.Sprintf(`{"data_type":"pain_scores","recorded_at":%q,"value":{"score":%d,"aspect":"average"}}`, at, i%11)
					if i%10 == 9 {
						body = fmt.Sprintf(`{"data_type":"medications","recorded_at":%q,"value":{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30}}`, at)
					}
					model = append(model, storetest.Record(b, plain, body))
				}
				fresh := func(patient id.Patient) []pain.Record {
					records := append([]pain.Record(nil), model...)
					for i := range records {
						records[i].ID, records[i].PatientID = id.New[id.RecordKind](time.Now()), patient
					}
					return records
				}
				var patients []id.Patient
				for range min(b.N, 400) {
					patients = append(patients, storetest.AddPatient(b, o, "Bench").ID)
				}
				for _, p := range patients {
					for range before / batch {
						if err := storetest.AddRecords(b.Context(), o, p, fresh(p)...); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ResetTimer()
				storetest.Together(b, atOnce, func(caller int) error {
					for i := caller; i < b.N; i += atOnce {
						p := patients[i%len(patients)]
						if err := storetest.AddRecords(b.Context(), o, p, fresh(p)...); err != nil {
							return err
						}
					}
					return nil
				})
				b.ReportMetric(float64(batch*b.N)/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}
