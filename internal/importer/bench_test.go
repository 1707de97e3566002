package importer_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/importer"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
)

// writeLines writes a CSV file of n lines and returns its path.
func writeLines(t testing.TB, dir, name, header string, n int, line func(i int) string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, header)
	for i := range n {
		fmt.Fprintln(w, line(i))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// manyPatients writes a file with patients.
func manyPatients(t testing.TB, dir string, n int) string {
	return writeLines(t, dir, "patients.csv", "MRN,Name,Date of Birth,E-Mail,Condition,ICD-10", n, func(i int) string {
		return fmt.Sprintf("M%07d,Ada Nowak,19%02d-%02d-17,p%d@example.org,Low back pain,M54.50", i, 30+i%60, 1+i%12, i)
	})
}

// recordsEach is the number of records of each patient in manyRecords.
const recordsEach = 20

// manyRecords writes a file with records of the patients of manyPatients.
func manyRecords(t testing.TB, dir string, n int) string {
	first := time.Date(2023, 1, 1, 8, 0, 0, 0, time.UTC)
	return writeLines(t, dir, "clinical.csv", "MRN,Data type,Date,Score,Drug,Dose,Dose unit", n, func(i int) string {
		at := first.AddDate(0, 0, i%recordsEach*30+i%7).Add(time.Duration(i%600) * time.Minute).Format(time.RFC3339)
		if i%10 < 7 {
			return fmt.Sprintf("M%07d,pain_scores,%s,%d,,,", i/recordsEach, at, i%11)
		}
		return fmt.Sprintf("M%07d,medications,%s,,Morphine,%d,mg", i/recordsEach, at, 10+i%10)
	})
}

// BenchmarkImport imports patients and their records. It reports lines per
// second and the processor time of a line.
func BenchmarkImport(b *testing.B) {
	const people, records = 20_000, 100_000
	dir := b.TempDir()
	files := map[importer.Kind]string{importer.Patients: manyPatients(b, dir, people), importer.Clinical: manyRecords(b, dir, records)}
	for _, engine := range storetest.Engines {
		for _, kind := range []importer.Kind{importer.Patients, importer.Clinical} {
			b.Run(engine+"/"+string(kind), func(b *testing.B) {
				lines, used := int64(0), time.Duration(0)
				for b.Loop() {
					b.StopTimer()
					org := benchOrg(b, engine)
					if kind == importer.Clinical {
						importAll(b, org, files[importer.Patients])
					}
					before := cpuTime(b)
					b.StartTimer()
					lines += importAll(b, org, files[kind])
					used += cpuTime(b) - before
				}
				b.ReportMetric(float64(lines)/b.Elapsed().Seconds(), "lines/s")
				b.ReportMetric(float64(used.Microseconds())/float64(lines), "cpu-us/line")
			})
		}
	}
}

func benchOrg(t testing.TB, engine string) store.Org {
	s := storetest.Open(t, engine)
	storetest.Client(t, s, "Ours")
	org, err := s.System().Organization(t.Context(), "Ours")
	if err != nil {
		t.Fatal(err)
	}
	return org
}

// importAll imports a file without faults and returns the number of lines.
func importAll(t testing.TB, org store.Org, path string) int64 {
	t.Helper()
	done, err := importer.Run(t.Context(), importer.Config{Org: org, Files: []string{path}, Now: time.Now})
	if err != nil || done[0].Imported != done[0].Read {
		t.Fatal(done, err)
	}
	return done[0].Imported
}

// cpuTime returns the processor time of this process.
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
