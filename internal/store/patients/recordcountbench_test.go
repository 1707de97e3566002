package patients_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// BenchmarkRecordsPage reads a page of 100 records of patients who have few or
// very many, over ten years.
func BenchmarkRecordsPage(b *testing.B) {
	const years, batch, limit = 10, 1000, 100
	for _, engine := range storetest.Engines {
		for _, records := range []int{100, 10_000, 100_000} {
			s := storetest.Open(b, engine)
			who := storetest.Client(b, s, "Bench")
			o := s.For(&who)
			p := storetest.AddPatient(b, o, "Bench")
			apart := years * 365 * 24 * time.Hour / time.Duration(records)
			for first := 0; first < records; first += batch {
				lot := make([]pain.Record, min(batch, records))
				for i := range lot {
					lot[i] = newRecord(p.ID, pain.TypePainScores+pain.DataType(i%3), time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(first+i)*apart))
					lot[i].ID = id.New[id.RecordKind](time.Now())
				}
				if err := storetest.AddRecords(b.Context(), o, p.ID, lot...); err != nil {
					b.Fatal(err)
				}
			}
			for _, ask := range []struct {
				name string
				q    patients.RecordQuery
			}{
				{"first", patients.RecordQuery{Page: 1, Limit: limit}},
				{"last", patients.RecordQuery{Page: int64(records / limit), Limit: limit}},
				{"newest", patients.RecordQuery{Page: 1, Limit: limit, Descending: true}},
				{"of a type, in the middle", patients.RecordQuery{Page: max(1, int64(records/limit/6)), Limit: limit, Types: []pain.DataType{pain.TypeMedications}}},
				{"past the end", patients.RecordQuery{Page: 1 << 20, Limit: limit}},
			} {
				b.Run(fmt.Sprintf("%s/%d/%s", engine, records, ask.name), func(b *testing.B) {
					before := processorTime(b)
					for b.Loop() {
						if _, err := o.Records(b.Context(), p.ID, ask.q, func(*pain.Record) {}); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
				})
			}
		}
	}
}

// processorTime returns the CPU time used by this process, on which other load
// has little effect. It does not include PostgreSQL.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
