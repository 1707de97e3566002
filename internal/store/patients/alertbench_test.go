package patients_test

import (
	"fmt"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/storetest"
)

// BenchmarkAddRecord adds single records from several callers, each with its
// own patients, both with and without effect on alerts.
func BenchmarkAddRecord(b *testing.B) {
	const atOnce = 8
	for _, engine := range storetest.Engines {
		for _, kind := range []struct{ name, body string }{
			{"score", `{"data_type":"pain_scores","value":5}`},
			{"nsaid", `{"data_type":"medications","value":{"name":"ibuprofen","days_supply":30}}`},
			{"opioid", `{"data_type":"medications","value":{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30}}`},
		} {
			b.Run(fmt.Sprintf("%s/%s", engine, kind.name), func(b *testing.B) {
				s := storetest.Open(b, engine)
				who := storetest.Client(b, s, "Bench")
				o := s.For(&who)
				var patients []id.Patient
				var models []pain.Record
				for range 400 {
					patient := storetest.AddPatient(b, o, "Bench").ID
					patients, models = append(patients, patient), append(models, storetest.Record(b, patient, kind.body))
				}
				b.ResetTimer()
				storetest.Together(b, atOnce, func(caller int) error {
					for i := caller; i < b.N; i += atOnce {
						rec := models[i%len(models)]
						rec.ID = id.New[id.RecordKind](time.Now())
						if err := storetest.AddRecords(b.Context(), o, patients[i%len(patients)], rec); err != nil {
							return err
						}
					}
					return nil
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}
