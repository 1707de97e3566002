package patients_test

import (
	"fmt"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// BenchmarkFeedPage reads a page of 1,000 records in the middle of feeds of
// different lengths, written one by one and in batches. One record in a
// thousand is of the rare type.
func BenchmarkFeedPage(b *testing.B) {
	for _, engine := range storetest.Engines {
		for _, batch := range []int{1, 1000} {
			for _, records := range []int{20_000, 100_000} {
				s := storetest.Open(b, engine)
				who := storetest.Client(b, s, "Bench")
				o := s.For(&who)
				people := make([]pain.Patient, 16)
				for i := range people {
					people[i] = storetest.AddPatient(b, o, "Bench")
				}
				storetest.Together(b, len(people), func(w int) error {
					for first := w * batch; first < records; first += len(people) * batch {
						lot := make([]pain.Record, batch)
						for i := range lot {
							lot[i] = newRecord(people[w].ID, pain.TypePainScores, time.Date(2015, 1, 1, 0, first+i, 0, 0, time.UTC))
							if lot[i].ID = id.New[id.RecordKind](time.Now()); (first+i)%1000 == 0 {
								lot[i].Type = pain.TypeNotes
							}
						}
						if err := storetest.AddRecords(b.Context(), o, people[w].ID, lot...); err != nil {
							return err
						}
					}
					return nil
				})
				storetest.Settle(b, s)
				head, _, err := o.Head(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				for name, types := range map[string][]pain.DataType{"all": nil, "rare": {pain.TypeNotes}} {
					b.Run(fmt.Sprintf("%s/%d in batches of %d/%s", engine, records, batch, name), func(b *testing.B) {
						found := 0
						for b.Loop() {
							page, err := o.Feed(b.Context(), patients.FeedQuery{From: patients.FeedCursor{Pos: head / 2}, Types: types, Limit: 1000})
							if err != nil {
								b.Fatal(err)
							}
							found = len(page.Records)
						}
						b.ReportMetric(float64(found), "records/op")
					})
				}
			}
		}
	}
}
