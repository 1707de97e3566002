package report

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
)

// stewards makes a report of so many patients, all different.
func stewards(n int) *Stewardship {
	d := &Stewardship{Head: head(), Patients: 3 * n}
	day := func(back int) pain.Date { return pain.DateOfDay(d.To.DayNumber() - drug.Day(back)) }
	for i := range n {
		r := StewardshipRow{
			PatientID: fmt.Sprintf("pat_%026d", i), Name: fmt.Sprintf("%s %s", []string{"Anna", "Łukasz", "Ζωή", "Наталья", "José"}[i%5], []string{"Smith", "Wiśniewski", "Παππάς", "Иванова", "Núñez de la Torre"}[i/5%5]),
			DateOfBirth: day(20000 + i%9000), Age: 50, Opioids: []string{"oxycodone"}, Exposed: new(true), Current: new(i%10 != 0),
			OpioidDays: i % 366, MostOpioidDays: i % 366, OverlapDays: i % 40, Overlap: new(i%4 == 0), NaloxoneGap: new(i%3 == 0), NaloxoneReasons: []string{"mme_ge_50", "age_65_or_over"},
			Prescribers: i % 6, MostPrescribers: i % 6, Pharmacies: i % 3, OutOfScope: i%17 == 0, UnexpectedUDS: i%50 == 0, Incomplete: i%29 == 0, MMEIncomplete: i%29 == 0,
		}
		if i%31 == 0 { // nobody knows what it is
			r.Unclassified, r.MMEIncomplete, r.Incomplete, r.Overlap, r.NaloxoneGap = []string{"Zzyzx 100"}, true, true, nil, nil
			r.MostPrescribers, r.MostOpioidDays = r.Prescribers+2, min(366, r.OpioidDays+60)
			if i%62 == 31 {
				r.Exposed, r.Current, r.Opioids = nil, nil, nil
			}
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
	d := stewards(300)
	d.Rows = append(d.Rows, StewardshipRow{PatientID: "pat_ffffffffffffffffffffffffff", Name: "Exact Fifty", DateOfBirth: d.From, Exposed: new(true), Current: new(true), Opioids: []string{"tapentadol"}, MME: new(49.99999999999999), Overlap: new(false), NaloxoneGap: new(false)})
	file := written(t, "stewardship", d)
	tidy(t, file)
	list := pages(t, file)
	says(t, list[0], "Opioid stewardship", "WITH A CURRENT OPIOID", "of 900 patients", "296 in the period", "for 5 it is not known", "NALOXONE GAP", "50 MME", "90 MME",
		"Outside the guideline's scope", "Opioid on 90 days or more of the period (not listed)")

	lists := map[string]func(*StewardshipRow) bool{
		"90 MME a day or more":                          func(r *StewardshipRow) bool { return r.MME != nil && *r.MME >= 90 },
		"50 to less than 90 MME a day, as far as known": func(r *StewardshipRow) bool { return r.MME != nil && *r.MME >= 49.9999999 && *r.MME < 90 },
		"Opioid dose not known":                         func(r *StewardshipRow) bool { return is(r.Current) && (r.MME == nil || r.MMEIncomplete) },
		"Medicine not recognised":                       func(r *StewardshipRow) bool { return len(r.Unclassified) > 0 },
		"Opioid with benzodiazepine":                    func(r *StewardshipRow) bool { return r.Overlap != nil && *r.Overlap },
		"Naloxone gap":                                  func(r *StewardshipRow) bool { return r.NaloxoneGap != nil && *r.NaloxoneGap },
		"Unexpected urine drug screen":                  func(r *StewardshipRow) bool { return r.UnexpectedUDS },
		"No urine drug screen in 12 months":             func(r *StewardshipRow) bool { return is(r.Current) && r.LastUDS.String() <= "2025-01-15" },
		"No PEG in 12 months":                           func(r *StewardshipRow) bool { return is(r.Current) && r.LastPEG.String() <= "2025-01-15" },
		"Several prescribers":                           func(r *StewardshipRow) bool { return r.Prescribers >= 4 },
	}
	text := strings.Join(list, " ")
	for title, holds := range lists {
		n, unknown, outside := 0, 0, 0
		for i := range d.Rows {
			if title == "Several prescribers" && d.Rows[i].Prescribers < 4 && d.Rows[i].MostPrescribers >= 4 ||
				(title == "Opioid with benzodiazepine" || title == "Naloxone gap") && len(d.Rows[i].Unclassified) > 0 ||
				strings.HasPrefix(title, "50") && d.Rows[i].MMEIncomplete && (d.Rows[i].MME == nil || *d.Rows[i].MME < 50) ||
				strings.HasPrefix(title, "90") && d.Rows[i].MMEIncomplete && (d.Rows[i].MME == nil || *d.Rows[i].MME < 90) ||
				d.Rows[i].Current == nil && (title == "Opioid dose not known" || strings.HasPrefix(title, "No urine") && d.Rows[i].LastUDS.String() <= "2025-01-15" ||
					strings.HasPrefix(title, "No PEG") && d.Rows[i].LastPEG.String() <= "2025-01-15") {
				unknown++
			}
			if holds(&d.Rows[i]) {
				n++
				if d.Rows[i].OutOfScope {
					outside++
				}
			}
		}
		says(t, list[0], fmt.Sprintf("%s %d %d %d", title, n, unknown, outside))
		says(t, text, fmt.Sprintf("%s (%d)", title, n))
	}
	says(t, text, "Exact Fifty 2025-01-16 pat_ffffffffffffffffffffffffff 50 tapentadol")
	for i, page := range list {
		says(t, page, fmt.Sprintf("Page %d of %d", i+1, len(list)))
		if i > 0 && strings.Contains(page, "pat_") {
			says(t, page, "Patient Born Identifier MME a day") // the head is repeated
		}
	}
	if strings.Contains(text, "…") {
		t.Error("something is shortened")
	}
}

func TestWithinYear(t *testing.T) {
	d := Stewardship{Head: head()} // up to 2026-01-15
	for date, want := range map[string]bool{"2026-01-15": true, "2025-01-16": true, "2025-01-15": false, "2026-01-16": false} {
		day, err := pain.ParseDate(date)
		if err != nil {
			t.Fatal(err)
		}
		if d.withinYear(day) != want {
			t.Errorf("%s: %v", date, !want)
		}
	}
	if d.withinYear(pain.Date{}) {
		t.Error("no day is within the year")
	}
}

// The counts of the JSON form are those of the printed lists.
func TestCountsAgree(t *testing.T) {
	d := stewards(300)
	p := stewardPages{Stewardship: d}
	counted, unknown := map[string]int{}, map[string]int{}
	for _, l := range p.lists() {
		counted[l.title], unknown[l.title] = p.count(l.is)
	}
	c := d.counts()
	for title, n := range map[string]int{"90 MME a day or more": c.AtLeast90, "50 to less than 90 MME a day, as far as known": c.AtLeast50 - c.AtLeast90, "Opioid with benzodiazepine": c.Overlap,
		"Naloxone gap": c.NaloxoneGap, "No urine drug screen in 12 months": c.NoUDS, "No PEG in 12 months": c.NoPEG, "Several prescribers": c.ManyPrescribers} {
		if counted[title] != n || n == 0 {
			t.Errorf("%s: %d are listed, %d counted", title, counted[title], n)
		}
	}
	for title, n := range map[string]int{"90 MME a day or more": c.Undetermined.AtLeast90, "Opioid with benzodiazepine": c.Undetermined.Overlap,
		"Naloxone gap": c.Undetermined.NaloxoneGap, "No urine drug screen in 12 months": c.Undetermined.NoUDS, "No PEG in 12 months": c.Undetermined.NoPEG,
		"Several prescribers": c.Undetermined.ManyPrescribers} {
		if unknown[title] != n || n == 0 {
			t.Errorf("%s: of %d it is not known, %d counted", title, unknown[title], n)
		}
	}
}

func TestStewardshipOfNobody(t *testing.T) {
	file := written(t, "nobody", &Stewardship{Head: head()})
	tidy(t, file)
	says(t, pages(t, file)[0], "WITH A CURRENT OPIOID", "of 0 patients", "90 MME a day or more 0 0 0", "Page 1 of 1")
}

func BenchmarkStewardship(b *testing.B) {
	d := stewards(10_000)
	b.ReportAllocs()
	for b.Loop() {
		if err := d.WritePDF(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
