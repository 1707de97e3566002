package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestPatientSummary(t *testing.T) {
	d := usual(t, "Eleni Παπαδοπούλου-Nowak")
	file := written(t, "usual", d)
	tidy(t, file)
	list := pages(t, file)
	if len(list) != 2 {
		t.Fatalf("%d pages", len(list))
	}
	first := list[0]
	t.Run("header", func(t *testing.T) {
		says(t, first, "PAIN SUMMARY", "Eleni Παπαδοπούλου-Nowak", "Born 1959-05-17 (66 years) · female", d.Chart.Patient.ID.String(),
			"PERIOD", "2025-01-16 to 2026-01-15", "FIGURES AS OF", "2026-01-15")
	})
	t.Run("tiles", func(t *testing.T) {
		says(t, first, "LATEST AVERAGE PAIN", "3 of 10", "mild", "on 2025-12-10, best 3", "CHANGE FROM BASELINE", "−5 (−62.5 %)", "responder: 50 % or more", "baseline 8 on 2025-01-20",
			"PEG", "4.3 of 10", "−2.3, an important change", "MME A DAY", "90", "band ≥ 90")
	})
	t.Run("charts", func(t *testing.T) {
		says(t, first, "Pain (average pain, scale NRS)", "severe ≥ 7", "moderate ≥ 4", "mild < 4", "medicine started", "medicine ended", "procedure",
			"epidural steroid L4-L5", "radiofrequency ablation", "Opioid dose (MME a day)", "≥ 50 MME", "≥ 90 MME")
	})
	t.Run("medicines", func(t *testing.T) {
		says(t, first, "Current medicines (3)", "morphine opioid 30 mg, TID, oral 2025-09-01 2026-02-27 90", "gabapentin gabapentinoid 300 mg, TID, oral 2025-11-15 not stated", "lorazepam benzodiazepine 1 mg, QHS")
	})
	t.Run("safety", func(t *testing.T) {
		says(t, first, "Safety: please review", "REVIEW ≥ 90 MME a day since 2025-09-01: 90 MME a day", "REVIEW opioid with benzodiazepine since 2025-12-20: 27 shared days",
			"REVIEW naloxone gap: ≥ 50 MME a day, benzodiazepine, sleep disordered breathing, age 65 or over", "REVIEW PHQ-9 item 9: thoughts of death or self-harm since 2025-12-01",
			"Not found: outside the opioid guideline's scope.")
	})
	t.Run("definitions", func(t *testing.T) {
		says(t, first, "n = 22 in the period, 22 in all", "Bands: default scheme", "Baseline: Mean of the comparable scores", "Missing: medicines without supply or end, assumed to be taken: 1",
			"MME is for risk assessment, not for converting between opioids.", "average (definition 2: total MME divided by the covered calendar days) 72.2") // (90 x 45 + 137 x 90) / 227 days
	})
	t.Run("foot", func(t *testing.T) {
		says(t, first, "Confidential. Data as of 2026-01-15 10:30 UTC · rep_01kf00000000000000000000aa · Riverside Pain Clinic", "Page 1 of 2")
		says(t, list[1], "Page 2 of 2", d.Chart.Patient.ID.String()+" · born 1959-05-17 · Eleni Παπαδοπούλου-Nowak · Pain summary")
	})
	t.Run("further pages", func(t *testing.T) {
		says(t, list[1], "Questionnaires", "PEG 2025-12-01 4.3", "6.7 2025-03-01 −2.3 yes", "Procedures", "2025-06-12 epidural steroid lower back L4-L5 7 4 40 %",
			"Medical history", "Chronic low back pain M54.50 active 2019-06 pain")
	})
	if strings.Contains(strings.Join(list, ""), "…") {
		t.Error("something is shortened")
	}
}

func TestMetadata(t *testing.T) {
	d := usual(t, "Eleni")
	d.Title = "Übergabe"
	file := written(t, "metadata", d)
	info := strings.Join(strings.Fields(string(poppler(t, "pdfinfo", file, "FILE"))), " ")
	says(t, info, "Title: Übergabe", "Author: Riverside Pain Clinic", "CreationDate: Thu Jan 15 10:30:00 2026", "ModDate: Thu Jan 15 10:30:00 2026", "Pages: 2", "A4")
	if !bytes.Contains(file, []byte("/Lang (en-GB)")) {
		t.Error("it does not say its language")
	}
	fonts := strings.Join(strings.Fields(string(poppler(t, "pdffonts", file, "FILE"))), " ")
	if n := strings.Count(fonts, "CID TrueType Identity-H yes"); n != 2 {
		t.Errorf("%d fonts are embedded: %s", n, fonts)
	}
}

func TestSameBytes(t *testing.T) {
	documents := map[string]document{"patient": usual(t, "Eleni Ковалёва"), "stewardship": stewards(50)}
	for name, d := range documents {
		want := written(t, name, d)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				var b bytes.Buffer
				if err := d.WritePDF(&b); err != nil || !bytes.Equal(b.Bytes(), want) {
					t.Errorf("%s: other bytes (%d, %d), %v", name, b.Len(), len(want), err)
				}
			})
		}
		wg.Wait()
	}
	later := usual(t, "Eleni Ковалёва")
	later.AsOf = later.AsOf.Add(time.Second)
	if bytes.Equal(written(t, "later", later), written(t, "patient", documents["patient"])) {
		t.Error("another moment gives the same bytes")
	}
}

// TestUgly is about patients whom no example has.
func TestUgly(t *testing.T) {
	var many, medicines []string
	for i := range 2000 {
		at := asOf.AddDate(0, 0, -364).Add(time.Duration(i) * 4 * time.Hour)
		many = append(many, fmt.Sprintf(`%s pain_scores {"score":%d,"aspect":"average"}`, at.Format(time.RFC3339), 1+(i/7)%10))
	}
	for i := range 40 {
		medicines = append(medicines, fmt.Sprintf(`%s medications {"name":"medicine %d with a very long name that goes on and on","dose":%d,"dose_unit":"mg","frequency":"every other day in the morning with food","route":"oral","days_supply":365}`,
			asOf.AddDate(0, 0, -360+8*i).Format(time.RFC3339), i, i+1))
	}
	long := strings.Repeat("Wolfeschlegelsteinhausenbergerdorff", 5)
	for _, c := range []struct {
		name  string
		d     *PatientSummary
		pages int
		first []string
	}{
		{"nothing", patient(t, "Nobody Known"), 1, []string{"no comparable score", "no baseline", "never answered", "no current opioid", "No comparable scores in this period", "No opioid in this period",
			"None recorded.", "Nothing to review.", "Never asked: PHQ-9 item 9", "Missing: no score in the period"}},
		{"one score", patient(t, "One", `2025-06-01T08:00:00Z pain_scores {"score":5,"aspect":"average"}`), 1, []string{"5 of 10", "moderate", "no score after the baseline", "n = 1 in the period"}},
		{"baseline of zero", patient(t, "Zero", `2025-06-01T08:00:00Z pain_scores 0`, `2025-07-01T08:00:00Z pain_scores 6`), 1, []string{"LATEST CURRENT PAIN", "+6", "no percentage: baseline is 0"}},
		{"low baseline", patient(t, "Low", `2025-06-01T08:00:00Z pain_scores 2`, `2025-07-01T08:00:00Z pain_scores 1`), 1, []string{"−1 (−50 %)", "responder: 50 % or more", "low baseline (2): % is misleading"}},
		{"worse", patient(t, "Worse", `2025-06-01T08:00:00Z pain_scores 5`, `2025-07-01T08:00:00Z pain_scores 8`), 1, []string{"+3 (+60 %)", "worse by 30 % or more"}},
		{"every reason", patient(t, "Risky", "history N18.6 End-stage renal disease", "history G47.33 Sleep apnoea", "history F11.20 Opioid dependence", "history C50.911 Breast cancer",
			`2025-12-01T08:00:00Z medications {"name":"morphine","strength":30,"strength_unit":"mg","quantity":180,"days_supply":60}`,
			`2025-12-01T08:00:00Z medications {"name":"lorazepam","dose":1,"dose_unit":"mg","frequency":"QD","days_supply":60}`), 2,
			[]string{"naloxone gap: ≥ 50 MME a day, benzodiazepine, overdose or substance use, sleep disordered breathing, age 65 or over, renal or hepatic failure",
				"NOTE outside the opioid guideline's scope: C50.911"}},
		{"everything at once", patient(t, strings.Repeat("Wide Name ", 20), append(append(medicines, many[:300]...), "history N18.6 End-stage renal disease", "history G47.33 Sleep apnoea", "history F11.20 Opioid dependence", "history C50.911 Breast cancer",
			`2025-11-20T08:00:00Z medications {"name":"hydromorphone"}`,
			`2025-12-01T08:00:00Z medications {"name":"morphine","strength":30,"strength_unit":"mg","quantity":180,"days_supply":60}`,
			`2025-12-01T08:00:00Z medications {"name":"gabapentin","dose":300,"dose_unit":"mg","frequency":"TID","days_supply":60}`,
			`2025-12-01T08:00:00Z medications {"name":"lorazepam","dose":1,"dose_unit":"mg","frequency":"QD","days_supply":60}`)...), 3,
			[]string{"Current medicines (44)", "MME a day hydromorphone opioid", "morphine opioid", "lorazepam benzodiazepine", "naloxone gap", "Missing:"}},
		{"about the same", patient(t, "Same", `2025-06-01T08:00:00Z pain_scores 5`, `2025-07-01T08:00:00Z pain_scores 4`), 1, []string{"−1 (−20 %)", "non-responder (under 30 %)"}},
		{"2,000 scores", patient(t, "Many", many...), 1, []string{"n = 2000 in the period, 2000 in all"}},
		{"40 medicines", patient(t, "Forty", medicines...), 3, []string{"Current medicines (40)", "more on the next page.", "more"}},
		{"scores before the period", patient(t, "Old", `2020-06-01T08:00:00Z pain_scores 5`, `2025-06-01T08:00:00Z pain_scores 5`), 1, []string{"n = 1 in the period, 2 in all", "scores before the period (not drawn): 1"}},
		{"markup", patient(t, `<script>alert(1)</script> {nb} (a\b) %s`), 1, []string{`<script>alert(1)</script> {nb} (a\b) %s`}},
		{"directions and other scripts", patient(t, "abc\u202edef\u200f 李明 Nguyễn"), 1, []string{"abcdef □□ Nguyen", "Some characters are not in the font of this document"}},
		{"cyrillic", patient(t, "Наталья Ковалёва-Щербакова"), 1, []string{"Наталья Ковалёва-Щербакова"}},
		{"a long name", patient(t, long), 1, []string{"WolfeschlegelsteinhausenbergerdorffWolfeschlegelsteinhausenbergerd", "orffWolfeschlegelsteinhausenbergerdorffWolfeschlegelsteinhausenberg", "erdorffWolfeschlegelsteinhausenbergerdorff"}},
		{"dose not known", patient(t, "Unknown", `2025-12-01T08:00:00Z medications {"name":"buprenorphine","dose":8,"dose_unit":"mg","frequency":"QD","days_supply":60}`,
			`2025-10-01T08:00:00Z medications {"name":"morphine","days_supply":120}`), 1,
			[]string{"not known", "band unknown, incomplete", "dose not known or not counted", "NOT KNOWN ≥ 50 MME a day: not all of the dose is known", "¹ Not in the total",
				"the dose of an opioid is not known, or what a medicine is, so MME may be too low"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := written(t, c.name, c.d)
			tidy(t, file)
			list := pages(t, file)
			if len(list) != c.pages {
				t.Errorf("%d pages, want %d", len(list), c.pages)
			}
			says(t, list[0], c.first...)
			text := strings.Join(list, "")
			if strings.Contains(text, "NaN") {
				t.Error("NaN is no number")
			}
			if strings.Contains(text, "…") != (c.name == "40 medicines" || c.name == "everything at once") { // whose labels in the chart are too long
				t.Errorf("shortened: %s", text)
			}
		})
	}
}

func BenchmarkPatientSummary(b *testing.B) {
	d := usual(b, "Eleni Παπαδοπούλου-Nowak")
	b.ReportAllocs()
	for b.Loop() {
		if err := d.WritePDF(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
