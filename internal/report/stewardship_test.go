package report

import (
	"fmt"
	"testing"

	"anodyne/internal/pain"
	"anodyne/internal/pain/drug"
)

// stewards makes a report of so many patients, all different.
func stewards(n int) *Stewardship {
	d := &Stewardship{Head: head(), Patients: 3 * n}
	day := func(back int) pain.Date { return pain.DateOfDay(d.To.DayNumber() - drug.Day(back)) }
	for i := range n {
		r := StewardshipRow{
			PatientID: fmt.Sprintf("pat_%026d", i), Name: fmt.Sprintf("%s %s", []string{"Anna", "Łukasz", "Ζωή", "Наталья", "José"}[i%5], []string{"Smith", "Wiśniewski", "Παππάς", "Иванова", "Núñez de la Torre"}[i/5%5]),
			DateOfBirth: day(20000 + i%9000), Age: 50, Opioids: []string{"oxycodone"}, Current: i%10 != 0,
			OpioidDays: i % 366, OverlapDays: i % 40, Overlap: new(i%4 == 0), NaloxoneGap: new(i%3 == 0), NaloxoneReasons: []string{"mme_ge_50", "age_65_or_over"},
			Prescribers: i % 6, Pharmacies: i % 3, OutOfScope: i%17 == 0, UnexpectedUDS: i%50 == 0, Incomplete: i%29 == 0,
		}
		if i%23 != 0 {
			r.MME, r.Peak, r.Average = new(float64(i%140)), new(float64(i%140+10)), new(float64(i%140))
		}
		if i%2 == 0 {
			r.LastUDS = day(i % 700)
		}
		if i%3 == 0 {
			r.LastPEG = day(i % 500)
		}
		d.Rows = append(d.Rows, r)
	}
	return d
}

func TestStewardship(t *testing.T) {
	written(t, "steward", stewards(300))
}

func BenchmarkStewardship(b *testing.B) {
	d := stewards(10_000)
	b.ReportAllocs()
	for b.Loop() {
		if err := d.WritePDF(discard{}); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
