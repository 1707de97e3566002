package export

import (
	"io"
	"os"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/store/storetest"
)

// discard is a folder that keeps nothing.
type discard struct{}

type discarded struct{ io.Writer }

func (discarded) Close() error { return nil }

// Create implements Folder.
func (discard) Create(string) (io.WriteCloser, error) { return discarded{io.Discard}, nil }

// Scratch implements Folder.
func (discard) Scratch() (*os.File, error) { return Scratch("") }

// BenchmarkExport exports synthetic patients, and reports the rows a second.
func BenchmarkExport(b *testing.B) {
	now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	s := storetest.Open(b, storetest.SQLite)
	who := storetest.Client(b, s, "north")
	o := s.For(&who)
	addSynthetic(b, o, 500, now)
	for _, format := range reports.ExportFormats {
		b.Run(string(format), func(b *testing.B) {
			b.ReportAllocs()
			options, rows := Default(), int64(0)
			options.Format = format
			for b.Loop() {
				made, err := Run(b.Context(), o, options, nil, now, discard{}, func(int64, int64) {})
				if err != nil {
					b.Fatal(err)
				}
				for _, f := range made.Files {
					rows += f.Rows
				}
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkBulkExport exports synthetic patients as FHIR, and reports the
// resources a second.
func BenchmarkBulkExport(b *testing.B) {
	now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	s := storetest.Open(b, storetest.SQLite)
	who := storetest.Client(b, s, "north")
	o := s.For(&who)
	addSynthetic(b, o, 500, now)
	b.ReportAllocs()
	resources := int64(0)
	for b.Loop() {
		made, err := RunBulk(b.Context(), o, Bulk{Types: BulkTypes()}, fhir.Mapping{}, now, discard{}, func(int64, int64) {})
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range made.Files {
			resources += f.Rows
		}
	}
	b.ReportMetric(float64(resources)/b.Elapsed().Seconds(), "resources/s")
}
