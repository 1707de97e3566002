package figure

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/summary"
	"anodyne.example/anodyne/internal/store/storetest"
)

var now = time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)

// curves draws the last 100 days of a patient with records "DAY TYPE VALUE".
func curves(t *testing.T, lines ...string) Curves {
	t.Helper()
	c := &summary.Chart{Patient: pain.Patient{ID: id.New[id.PatientKind](now), DateOfBirth: pain.Date{Year: 1959, Month: time.May, Day: 17}}}
	for _, line := range lines {
		parts := strings.SplitN(line, " ", 3)
		rec := storetest.RecordAt(t, now, c.Patient.ID, fmt.Sprintf(`{"recorded_at":"%sT09:00:00Z","data_type":%q,"value":%s}`, parts[0], parts[1], parts[2]))
		if err := c.Series.Add(&rec); err != nil {
			t.Fatal(err)
		}
		c.Records = append(c.Records, rec)
	}
	c.Series.Sort()
	s, err := summary.Of(c, pain.DateOf(now), now)
	if err != nil {
		t.Fatal(err)
	}
	got, err := CurvesOf(c, &s, pain.DateOf(now.AddDate(0, 0, -99)), pain.DateOf(now))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestCurvesOf(t *testing.T) {
	got := curves(t,
		`2025-09-01 pain_scores {"score":9,"aspect":"average"}`,
		`2025-10-08 pain_scores {"score":8,"aspect":"average"}`,
		`2025-12-01 pain_scores {"score":3,"aspect":"worst"}`,
		`2026-01-15 pain_scores {"score":5,"aspect":"average"}`,
		`2025-06-01 medications {"name":"gabapentin","days_supply":30}`,
		`2025-11-01 medications {"name":"Oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30}`,
		`2025-12-01 medications {"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30}`,
		`2026-01-10 medications {"name":"naproxen","days_supply":30}`,
		`2025-11-20 procedures {"procedure_type":"epidural_steroid","body_site":"lower back","level":"L4-L5"}`)

	if got.Kind != "average pain, scale NRS" || got.Before != 1 {
		t.Errorf("%q, %d before", got.Kind, got.Before)
	}
	day := func(year int, month time.Month, day int) time.Time {
		return time.Date(year, month, day, 9, 0, 0, 0, time.UTC)
	}
	if want := []chart.PainPoint{{At: day(2025, 10, 8), Score: 8}, {At: day(2026, 1, 15), Score: 5}}; !slices.Equal(got.Pain.Points, want) {
		t.Errorf("points %v, want %v", got.Pain.Points, want)
	}
	if got.Pain.Baseline == nil || *got.Pain.Baseline != 9 {
		t.Errorf("baseline %v", got.Pain.Baseline)
	}
	var events []string
	for _, e := range got.Pain.Events {
		events = append(events, fmt.Sprint(e.At.Format(time.DateOnly), " ", e.Kind, " ", e.Label))
	}
	want := []string{"2025-11-01 0 Oxycodone", "2025-11-20 2 epidural steroid L4-L5", "2025-12-30 1 Oxycodone", "2026-01-10 0 naproxen"}
	if !slices.Equal(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
	taken := slices.ContainsFunc(got.MME.Runs, func(r chart.MMERun) bool { return r.MME != nil && *r.MME == 45 && !r.Incomplete })
	if !taken || !got.MME.From.Equal(got.Pain.From) || !got.MME.To.Equal(got.Pain.To) {
		t.Errorf("doses %+v", got.MME)
	}
}

func TestCurvesOfNothing(t *testing.T) {
	got := curves(t)
	if got.Kind != "no comparable scores" || len(got.Pain.Points) > 0 || got.Pain.Baseline != nil || len(got.Pain.Events) > 0 {
		t.Errorf("%+v", got)
	}
}
