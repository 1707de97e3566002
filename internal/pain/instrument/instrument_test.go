package instrument

import (
	"encoding/json"
	"testing"
)

func answers(list ...int8) *Answers {
	var a Answers
	for i := range a {
		a[i] = Missing
		if i < len(list) {
			a[i] = list[i]
		}
	}
	return &a
}

func TestScore(t *testing.T) {
	const no = Missing
	for _, c := range []struct {
		name  string
		items *Answers
		want  Result
	}{
		{"peg", answers(6, 7, 5), Result{Status: Complete, Raw: 18, Exact: 6, Score: 6}},
		{"peg", answers(6, 7, no), Result{Status: Unscorable}},
		{"phq_9", answers(0, 0, 0, 0, 0, 0, 0, 0, 0), Result{Status: Complete, Band: "minimal"}},
		{"phq_9", answers(3, 3, 3, 3, 3, 3, 3, 3, 3), Result{Status: Complete, Raw: 27, Exact: 27, Score: 27, Band: "severe", Positive: true, Safety: true}},
		{"phq_9", answers(2, 1, 1, 1, 1, 1, 1, 1, no), Result{Status: Prorated, Raw: 9, Exact: 10.125, Score: 10, Band: "moderate", Positive: true}},
		{"phq_9", answers(2, 2, 2, 2, 2, 2, 2, no, no), Result{Status: Prorated, Raw: 14, Exact: 18, Score: 18, Band: "moderately_severe", Positive: true}},
		{"phq_9", answers(3, 3, 3, 3, 3, no, no, no, 1), Result{Status: Unscorable, Safety: true}},
		{"phq_2", answers(1, 1), Result{Status: Complete, Raw: 2, Exact: 2, Score: 2, Band: "negative"}},
		{"gad_7", answers(1, 1, 1, 1, 1, 0, 0), Result{Status: Complete, Raw: 5, Exact: 5, Score: 5, Band: "mild"}},
		{"gad_7", answers(3, 3, 3, 3, 3, no, 0), Result{Status: Prorated, Raw: 15, Exact: 17.5, Score: 18, Band: "severe", Positive: true}},
		{"gad_7", answers(3, 3, 3, 3, 3, no, no), Result{Status: Unscorable}},
		{"rmdq", answers(1, no, 0, 1), Result{Status: Complete, Raw: 2, Exact: 2, Score: 2}},
		{"rmdq", answers(), Result{Status: Complete}},
		{"pgic", answers(4), Result{Status: Complete, Raw: 4, Exact: 4, Score: 4, Band: "no_change"}},
	} {
		if got := Find(c.name).Score(c.items); got != c.want {
			t.Errorf("%s %v\ngot  %+v\nwant %+v", c.name, c.items, got, c.want)
		}
	}
}

func TestBands(t *testing.T) {
	for _, c := range []struct {
		name  string
		score float64
		want  string
	}{
		{"phq_9", 4, "minimal"}, {"phq_9", 5, "mild"}, {"phq_9", 9, "mild"}, {"phq_9", 10, "moderate"}, {"phq_9", 14, "moderate"},
		{"phq_9", 15, "moderately_severe"}, {"phq_9", 19, "moderately_severe"}, {"phq_9", 20, "severe"},
		{"gad_7", 4, "minimal"}, {"gad_7", 14, "moderate"}, {"gad_7", 15, "severe"},
		{"odi", 20, "minimal"}, {"odi", 20.5, "moderate"}, {"odi", 40, "moderate"}, {"odi", 60, "severe"}, {"odi", 80, "crippling"}, {"odi", 80.1, "bed_bound"},
		{"ndi", 4, "none"}, {"ndi", 5, "mild"}, {"ndi", 15, "moderate"}, {"ndi", 25, "severe"}, {"ndi", 35, "complete"},
		{"pcs", 30, "below_threshold"}, {"pcs", 31, "clinically_relevant"},
		{"pain_detect", -1, "unlikely"}, {"pain_detect", 12, "unlikely"}, {"pain_detect", 13, "unclear"}, {"pain_detect", 18, "unclear"}, {"pain_detect", 19, "likely"},
		{"dn4", 3, "unlikely"}, {"dn4", 4, "likely"}, {"ort", 3, "low"}, {"ort", 4, "moderate"}, {"ort", 8, "high"}, {"ort_oud", 2, "low"}, {"ort_oud", 3, "high"},
		{"comm", 8, "negative"}, {"comm", 9, "positive"}, {"promis_pi", 54.9, "within_normal_limits"}, {"promis_pi", 55, "mild"}, {"promis_pi", 60, "moderate"}, {"promis_pi", 70, "severe"},
		{"peg", 9, ""}, {"bpi_severity", 9, ""},
	} {
		if got := Find(c.name).BandOf(c.score); got != c.want {
			t.Errorf("%s %v is %q, want %q", c.name, c.score, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	for i, info := range All() {
		if Names()[i] != info.Name || Find(info.Name) == nil {
			t.Errorf("%s cannot be found", info.Name)
		}
		if info.Title == "" || info.Measure == "" || info.Missing == "" || info.Licence == "" || info.Source == "" || info.ScoreMax <= info.ScoreMin {
			t.Errorf("%s is described badly", info.Name)
		}
		if info.TotalOnly != (info.Items == 0) || info.TotalOnly != (info.combine == nil) || info.Items > MaxItems {
			t.Errorf("%s has %d items", info.Name, info.Items)
		}
		for j, band := range info.Bands {
			if j == 0 && band.From != info.ScoreMin || j > 0 && band.From <= info.Bands[j-1].From || band.From > info.ScoreMax {
				t.Errorf("%s: band %s begins at %v", info.Name, band.Name, band.From)
			}
		}
		if _, err := json.Marshal(info); err != nil {
			t.Error(err)
		}
	}
	if Find("peg2") != nil {
		t.Error("an instrument that is none")
	}
}

func TestInRange(t *testing.T) {
	pcs, odi := Find("pcs"), Find("odi")
	if !pcs.InRange(52) || pcs.InRange(53) || pcs.InRange(1.5) || pcs.InRange(-1) || !odi.InRange(35.56) {
		t.Error("ranges")
	}
}

func TestChangeMet(t *testing.T) {
	for _, c := range []struct {
		name            string
		before, after   float64
		points, percent bool
	}{
		{"peg", 20.0 / 3, 14.0 / 3, true, true}, {"peg", 6.7, 4.7, true, false}, {"peg", 2, 1.2, false, true}, {"peg", 0, 0, false, false},
		{"rmdq", 14, 9, true, true}, {"rmdq", 20, 15, true, false}, {"rmdq", 9, 14, false, false}, {"ndi", 20, 15, true, false}, {"gad_7", 20, 16, true, false}, {"gad_7", 20, 16.1, false, false},
		{"phq_9", 12, 7, true, false}, {"phq_9", 12, 7.5, false, false}, {"phq_9", 20, 16, false, true}, {"phq_9", 20, 16.1, false, false}, {"phq_9", 19, 15, false, false}, {"phq_9", 27, 21.6, true, true},
		{"phq_2", 6, 0, false, false},
	} {
		if points, percent := Find(c.name).Change.Met(c.before, c.after); points != c.points || percent != c.percent {
			t.Errorf("%s %v to %v: %v, %v", c.name, c.before, c.after, points, percent)
		}
	}
}
