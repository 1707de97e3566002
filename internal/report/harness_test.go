package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/summary"
	"anodyne.example/anodyne/internal/store/storetest"
)

var asOf = time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)

func head() Head {
	return Head{ID: "rep_01kf00000000000000000000aa", Organisation: "Riverside Pain Clinic", AsOf: asOf,
		From: pain.Date{Year: 2025, Month: time.January, Day: 16}, To: pain.Date{Year: 2026, Month: time.January, Day: 15}}
}

// patient makes the summary of a patient from lines "TIME TYPE VALUE", or
// "history CODE CONDITION".
func patient(t testing.TB, name string, lines ...string) *PatientSummary {
	t.Helper()
	c := &summary.Chart{Patient: pain.Patient{ID: id.New[id.PatientKind](asOf), Name: name, Gender: "female", DateOfBirth: pain.Date{Year: 1959, Month: time.May, Day: 17}}}
	var history []pain.HistoryEntry
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "history "); ok {
			code, condition, _ := strings.Cut(rest, " ")
			history = append(history, pain.HistoryEntry{Condition: condition, ICD10Code: code, Status: "active", Category: "pain", OnsetDate: "2019-06"})
			continue
		}
		parts := strings.SplitN(line, " ", 3)
		rec := storetest.RecordAt(t, asOf, c.Patient.ID, fmt.Sprintf(`{"recorded_at":%q,"data_type":%q,"value":%s}`, parts[0], parts[1], parts[2]))
		if err := c.Series.Add(&rec); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(summary.RecordTypes[:], rec.Type) {
			c.Records = append(c.Records, rec)
		}
	}
	c.Series.Sort()
	c.Patient.MedicalHistory = pain.NewHistory(history...)
	d := &PatientSummary{Head: head(), Chart: c}
	s, err := summary.Of(c, d.To, asOf)
	if err != nil {
		t.Fatal(err)
	}
	d.Summary = &s
	return d
}

// usual is a patient with a bit of everything.
func usual(t testing.TB, name string) *PatientSummary {
	lines := []string{
		"history M54.50 Chronic low back pain", "history G47.33 Obstructive sleep apnoea",
		`2025-11-15T09:00:00Z medications {"name":"gabapentin","dose":300,"dose_unit":"mg","frequency":"TID","route":"oral"}`,
		`2025-02-01T09:00:00Z medications {"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30,"frequency":"TID","route":"oral"}`,
		`2025-03-02T09:00:00Z medications {"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":180,"days_supply":60,"frequency":"TID","route":"oral"}`,
		`2025-09-01T09:00:00Z medications {"name":"morphine","strength":30,"strength_unit":"mg","quantity":540,"days_supply":180,"frequency":"TID","route":"oral"}`,
		`2025-12-20T09:00:00Z medications {"name":"lorazepam","dose":1,"dose_unit":"mg","frequency":"QHS","days_supply":60}`,
		`2025-06-12T09:00:00Z procedures {"procedure_type":"epidural_steroid","body_site":"lower back","level":"L4-L5","pre_score":7,"post_score":4,"relief_percent":40}`,
		`2025-11-03T09:00:00Z procedures {"procedure_type":"radiofrequency_ablation","body_site":"lower back","laterality":"left","pre_score":6,"post_score":3}`,
		`2025-03-01T09:00:00Z assessments {"instrument":"peg","items":{"1":7,"2":7,"3":6}}`,
		`2025-12-01T09:00:00Z assessments {"instrument":"peg","items":{"1":5,"2":4,"3":4}}`,
		`2025-12-01T09:00:00Z assessments {"instrument":"phq_9","items":{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1}}`,
	}
	at := time.Date(2025, 1, 20, 8, 0, 0, 0, time.UTC)
	for i, score := range []int{8, 8, 7, 8, 7, 6, 7, 6, 6, 7, 5, 4, 5, 4, 5, 6, 5, 4, 4, 3, 4, 3} {
		if i == 13 {
			at = at.AddDate(0, 0, 30)
		}
		lines = append(lines, fmt.Sprintf(`%s pain_scores {"score":%d,"aspect":"average"}`, at.Format(time.RFC3339), score))
		at = at.AddDate(0, 0, 14)
	}
	return patient(t, name, lines...)
}

type document interface{ WritePDF(io.Writer) error }

// written returns the file of a document. With ANODYNE_TEST_KEEP it is also
// stored there for inspection.
func written(t testing.TB, name string, d document) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := d.WritePDF(&b); err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("ANODYNE_TEST_KEEP"); dir != "" {
		if err := os.WriteFile(dir+"/"+name+".pdf", b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}
