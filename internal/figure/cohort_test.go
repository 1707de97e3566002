package figure

import (
	"math"
	"reflect"
	"testing"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/chart"
)

func TestSeverity(t *testing.T) {
	groups := []analytics.Share{{Group: "none", Count: new(1)}, {Group: "mild", Count: nil}, {Group: "moderate", Count: new(3)}, {Group: "severe", Count: new(4)}}
	got := Severity(&analytics.Severity{Bands: analytics.Split{Groups: groups}}).Rows[0]
	for i, g := range groups {
		if got.Counts[i] != g.Count {
			t.Errorf("%s: %v", g.Group, got.Counts[i])
		}
	}
	Severity(&analytics.Severity{}) // of nobody there are no groups
}

func TestSplit(t *testing.T) {
	got := Split("Age", &analytics.Split{N: new(4800), Groups: []analytics.Share{{Group: "18-44", Count: new(1200), Percent: new(25.0)}, {Group: "age_band"}}})
	want := []chart.Proportion{{Label: "18-44", Share: new(0.25), Words: "1,200 of 4,800"}, {Label: "age", Words: "hidden"}}
	if got.Title != "Age" || !reflect.DeepEqual(got.Rows, want) {
		t.Errorf("%+v", got)
	}
}

// Who takes nothing has no bar among the doses.
func TestDoses(t *testing.T) {
	got := Doses(&analytics.Split{Groups: []analytics.Share{{Group: "0", Count: new(9)}, {Group: ">0-<20", Count: new(5)}, {Group: ">=90"}}}).Bins
	want := []chart.Bin{{Low: 0, High: 20, Count: new(5)}, {Low: 90, High: 130, Open: true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestClasses(t *testing.T) {
	got := Classes([]analytics.Proportion{{Definition: "class.nsaid", Count: new(1), N: new(4), Proportion: new(0.25), CI95: &analytics.Bounds{Low: 0.0456, High: 0.6994}}}).Rows
	if len(got) != 1 || got[0].Label != "NSAID" || *got[0].Share != 0.25 || got[0].Words != "1 of 4" || math.Abs(*got[0].Low-0.0456) > 1e-4 || math.Abs(*got[0].High-0.6994) > 1e-4 {
		t.Errorf("%+v", got)
	}
}

// What is hidden or not compared has no mark, only words.
func TestDisparity(t *testing.T) {
	got := Disparity(&analytics.Disparity{Measure: "ge_50", Dimension: "age_band", Reference: new("45-64"), Groups: []analytics.DisparityGroup{
		{Group: "18-44", Count: new(4), N: new(40), Percent: new(10.0), Difference: new(-0.051), DiffCI95: &analytics.Bounds{Low: -0.1158, High: 0.0812}},
		{Group: "45-64", Count: new(151), N: new(1000), Percent: new(15.1)},
		{Group: "65-79", N: new(10)},
		{Group: "80+", N: new(3), Difference: new(0.5), DiffCI95: &analytics.Bounds{}, Suppressed: true},
		{Group: "unknown"},
	}})
	want := []chart.Effect{
		{Label: "18-44", Estimate: new(-5.1), Low: new(-11.6), High: new(8.1), Words: "10.0 % of 40"},
		{Label: "45-64", Words: "reference, 15.1 % of 1,000"},
		{Label: "65-79", Words: "not compared, n = 10"},
		{Label: "80+", Words: "hidden"},
		{Label: "unknown", Words: "not compared"},
	}
	if got.Title != "≥ 50 MME a day by age" || !reflect.DeepEqual(got.Rows, want) {
		t.Errorf("%s: %+v", got.Title, got.Rows)
	}
}

// Each label stands for its own share.
func TestResponders(t *testing.T) {
	share := func(n int) analytics.Proportion {
		return analytics.Proportion{Count: new(n), N: new(10), Proportion: new(float64(n) / 10)}
	}
	r := &analytics.Response{Responder30: share(1), Responder50: share(2), NRSAtLeast2: share(3), Worsened30: share(4), LowBaseline: share(5)}
	r.NonresponderImputation.Responder30, r.NonresponderImputation.Responder50 = share(6), share(7)
	want := map[string]string{"30 % improvement or more": "1 of 10", "50 % improvement or more": "2 of 10", "2-point improvement or more": "3 of 10", "30 % worsening or more": "4 of 10",
		"baseline under 4": "5 of 10", "30 % response, missing counted as non-response": "6 of 10", "50 % response, missing counted as non-response": "7 of 10"}
	got := map[string]string{}
	for _, row := range Responders(r).Rows {
		got[row.Label] = row.Words
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

func TestTrend(t *testing.T) {
	got, err := Trend(&analytics.Trend{Buckets: []analytics.Bucket{{From: "2025-12-01", Mean: new(4.5), N: new(12)}, {From: "2026-01-01"}}})
	if err != nil || len(got.Points) != 2 || *got.Points[0].Mean != 4.5 || *got.Points[0].N != 12 || got.Points[1].Mean != nil || got.Points[1].Start.Month() != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Trend(&analytics.Trend{Buckets: []analytics.Bucket{{From: "yesterday"}}}); err == nil {
		t.Error("a bucket without a day passes")
	}
}

func TestTimeToResponse(t *testing.T) {
	got := TimeToResponse(&analytics.TimeToResponse{MedianDays: new(30), Curve: []analytics.SurvivalPoint{{Day: 30, AtRisk: 10, Events: 5, Censored: 1, Survival: 0.5, CI95: &analytics.Bounds{Low: 0.2, High: 0.7}}}})
	if want := (chart.SurvivalStep{Day: 30, AtRisk: 10, Events: 5, Censored: 1, Share: 0.5}); *got.Median != 30 || len(got.Steps) != 1 || *got.Steps[0].Low != 0.2 || *got.Steps[0].High != 0.7 {
		t.Errorf("%+v", got)
	} else if got.Steps[0].Low, got.Steps[0].High = nil, nil; got.Steps[0] != want {
		t.Errorf("%+v", got)
	}
	if got := TimeToResponse(&analytics.TimeToResponse{}); got.Median != nil || len(got.Steps) > 0 {
		t.Errorf("of nobody %+v", got)
	}
}
