package alert

import (
	"fmt"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// prescribed parses prescriptions: "60 1-10" is an opioid of 60 MME on these
// days, "benzo 3-4" a benzodiazepine, "? 3-4" an opioid without MME, "open 60"
// one of unknown duration.
func prescribed(t *testing.T, all string) *Watched {
	t.Helper()
	w := &Watched{}
	for _, each := range strings.Split(all, ", ") {
		if each == "" {
			continue
		}
		m := series.Medication{Class: opioid, Drug: 1}
		what, days, _ := strings.Cut(each, " ")
		switch what {
		case "benzo":
			m.Class, m.Drug = benzodiazepine, 2
		case "nsaid":
			m.Class = series.ClassOf(drug.NSAID)
		case "?":
			m.Reason = 3
		case "open":
			m.Open, m.MME = true, 60
		default:
			what, refill := strings.CutSuffix(what, "r") // a supply of a known strength
			if refill {
				m.Supplied, m.Product = true, 3
			}
			if _, err := fmt.Sscan(what, &m.MME); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := fmt.Sscanf(days, "%d-%d", &m.First, &m.Last); err != nil {
			t.Fatalf("%q: %v", each, err)
		}
		w.Add([]series.Medication{m})
	}
	return w
}

// Each case is a patient's life: what is prescribed from a day on, as far as
// it is written down then, and what is alerted on the day. A day without
// prescriptions is one without a write.
func TestJudge(t *testing.T) {
	type step struct {
		day   drug.Day
		write string // "" is none
		want  string
	}
	for _, tt := range []struct {
		name  string
		steps []step
	}{
		{"below", []step{{1, "49.9 1-9", ""}}},
		{"reaches 50", []step{{1, "50 1-9", "50 warning"}, {2, "", ""}, {3, "50 1-9, 20 3-9", ""}}},
		{"reaches 90 later", []step{{1, "50 1-9", "50 warning"}, {3, "50 1-9, 40 3-9", "90 critical"}}},
		{"jumps both: once, with the higher", []step{{1, "120 1-9", "90 critical"}, {2, "", ""}}},
		{"adds up from several", []step{{1, "30 1-9", ""}, {2, "30 1-9, 20 2-9", "50 warning"}}},
		{"ended before today", []step{{20, "120 1-19, benzo 1-19", ""}, {21, "", ""}}},
		{"began before today", []step{{5, "60 1-9", "50 warning"}}},
		{"begins without a write", []step{{1, "60 5-9", ""}, {5, "", "50 warning"}, {6, "", ""}}},
		{"begins while nobody looks", []step{{1, "60 5-9", ""}, {7, "", "50 warning"}}},
		{"came and went while nobody looked", []step{{1, "60 5-9", ""}, {10, "", ""}}},
		{"ends and begins again", []step{{1, "60 1-3, 60 6-9", "50 warning"}, {4, "", ""}, {6, "", "50 warning"}}},
		{"ends and begins again while nobody looks", []step{{1, "60 1-3, 60 6-9", "50 warning"}, {7, "", "50 warning"}}},
		{"goes down to 50 and up again", []step{{1, "60 1-9, 40 1-3, 40 6-9", "90 critical"}, {4, "", ""}, {6, "", "90 critical"}}},
		{"renewed on the day after its last", []step{{1, "60 1-3", "50 warning"}, {4, "60 1-3, 60 4-9", ""}, {8, "60 1-3, 60 4-9", ""}}},
		{"renewed a day late", []step{{1, "60 1-3", "50 warning"}, {5, "60 1-3, 60 5-9", "50 warning"}}},
		{"written a day late", []step{{1, "60 1-3", "50 warning"}, {5, "60 1-3, 60 4-9", "50 warning"}}},
		{"taken back and written again", []step{{1, "60 1-9", "50 warning"}, {1, "nsaid 1-9", ""}, {1, "60 1-9", "50 warning"}}},
		{"lowered in part by a write", []step{{1, "95 1-9", "90 critical"}, {1, "60 1-9", ""}, {1, "95 1-9", "90 critical"}}},
		{"a late record fills no gap of what was alerted", []step{{1, "60 1-9", "50 warning"}, {5, "60 1-2, 60 5-9", ""}, {6, "", ""}}},
		{"MME not known", []step{{1, "? 1-9, 49 1-9", ""}}},
		{"nobody knows how long", []step{{1, "open 1-1", "50 warning"}, {2, "open 1-1, benzo 2-9", "overlap critical"}}},
		// It is assumed for 90 days: on day 90 nothing is new, on day 92 all is.
		{"renewed while it is assumed", []step{{1, "open 1-1", "50 warning"}, {90, "open 1-1, open 90-90", ""}}},
		{"renewed when it is not", []step{{1, "open 1-1", "50 warning"}, {92, "open 1-1, open 92-92", "50 warning"}}},
		{"replaced, not added to", []step{{1, "open 1-1", "50 warning"}, {9, "open 1-1, 60 9-20", ""}}},
		{"an early refill", []step{{1, "60r 1-30", "50 warning"}, {25, "60r 1-30, 60r 25-54", ""}, {31, "", ""}, {40, "60r 1-30, 60r 25-54, 40 40-41", "90 critical"}}},
		{"its days are those of the timeline", []step{{1, "60r 1-30", "50 warning"}, {25, "60r 1-30, 60r 25-54, benzo 55-60", ""}, {55, "", "overlap critical"}, {61, "", ""}}},
		{"overlap", []step{{1, "10 1-9", ""}, {2, "10 1-9, benzo 2-4", "overlap critical"}, {3, "", ""}, {6, "10 1-9, benzo 2-4, benzo 6-7", "overlap critical"}}},
		{"overlap with an opioid that has no MME", []step{{1, "? 1-9, benzo 9-12", ""}, {9, "", "overlap critical"}, {10, "", ""}}},
		{"overlap of days only", []step{{1, "10 1-3, benzo 4-9", ""}, {4, "", ""}}},
		{"overlap goes on with the next supply", []step{{1, "10 1-9, benzo 1-3", "overlap critical"}, {4, "10 1-9, benzo 1-3, benzo 4-9", ""}}},
		{"overlap taken back", []step{{1, "10 1-9, benzo 1-3", "overlap critical"}, {1, "10 1-9", ""}, {1, "10 1-9, benzo 1-3", "overlap critical"}}},
		{"both at once", []step{{1, "60 1-9, benzo 1-9", "50 warning, overlap critical"}}},
		{"the clock goes back", []step{{5, "60 5-9", "50 warning"}, {4, "", ""}, {4, "60 5-9, 10 1-9", ""}, {5, "", ""}}},
		{"the clock goes back over an end", []step{{3, "60 1-3", "50 warning"}, {4, "", ""}, {3, "60 1-3, 1 1-9", ""}, {4, "", ""}}},
		{"the clock was far ahead", []step{{1, "60 1-9", "50 warning"}, {300, "", ""}, {301, "60 1-9, benzo 1-2", ""}, {4, "", "50 warning"}, {5, "", ""}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s Standing
			before := &Watched{}
			for _, step := range tt.steps {
				now := before
				if step.write != "" {
					now = prescribed(t, step.write)
				} else if !s.Due(step.day) {
					if step.want != "" {
						t.Fatalf("day %d: nobody would look, standing %+v", step.day, s)
					}
					continue
				}
				var got []string
				stands, alerts := Judge(s, before, now, step.day)
				for _, a := range alerts {
					what := "overlap"
					if a.Threshold > 0 {
						what = fmt.Sprint(a.Threshold)
					}
					got = append(got, what+" "+string(a.Severity))
				}
				if strings.Join(got, ", ") != step.want {
					t.Errorf("day %d: alerted %q, want %q; stood %+v", step.day, got, step.want, s)
				}
				if stands.Due(step.day) {
					t.Errorf("day %d: still due, standing %+v", step.day, stands)
				}
				s, before = stands, now
			}
		})
	}
}

func TestConcerns(t *testing.T) {
	medicine := func(class drug.Class, open bool) series.Medication {
		return series.Medication{Class: series.ClassOf(class), Open: open}
	}
	for _, tt := range []struct {
		m    series.Medication
		want bool
	}{
		{medicine(drug.Opioid, false), true}, {medicine(drug.Benzodiazepine, false), true},
		{medicine(drug.Opioid, true), true}, {medicine(drug.NSAID, false), false},
	} {
		if got := Concerns([]series.Medication{medicine(drug.Topical, false), tt.m}); got != tt.want {
			t.Errorf("%s, open %v: %v", tt.m.Class, tt.m.Open, got)
		}
	}
}
