package api

import (
	"context"
	"fmt"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Of scores at the same millisecond, the one with the higher identifier is the
// latest, in whatever order they arrive: in the summary, in analytics, and
// wherever the earlier of two equally near scores counts.
func TestTiesAreOrderedByIdentifier(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		for _, test := range []struct {
			lower, higher int // scores, by identifier
			swapped       bool
		}{{2, 8, false}, {2, 8, true}, {8, 2, false}, {8, 2, true}} {
			c := n.caller(fmt.Sprintf("ties %v", test))
			patient := c.person("female", "1970-01-01", "M54.50")
			c.records(patient, `2024-01-02T09:00:00Z pain_scores {"score":8,"aspect":"average"}`)
			c.tied(patient, "2024-04-01T09:00:00.123Z", test.lower, test.higher, test.swapped)

			s := c.summary(patient, "?as_of=2024-12-31")
			if *s.Pain.Latest.Score != float64(test.higher) || *s.Pain.Change.Points != float64(test.higher-8) ||
				*s.Pain.Points[1].Score != float64(test.lower) || *s.Pain.Points[2].Score != float64(test.higher) {
				t.Errorf("%+v: %+v", test, s.Pain)
			}
			const period = "?start_date=2024-01-01&end_date=2024-12-31"
			if got := c.get(outcomesPath+period).dig("follow_up", "pain", "mean"); got != float64(test.lower) {
				t.Errorf("%+v: follow-up %v, want the earlier", test, got)
			}
			groups := c.get(populationPath+period).dig("severity_prevalence", "bands", "groups").([]any)
			band := map[int]int{2: 1, 8: 3}[test.higher] // mild, severe
			if got := groups[band].(map[string]any)["count"]; got != 1.0 {
				t.Errorf("%+v: %v by severity, want the latest", test, groups)
			}
		}
	})
}

// tied adds two scores of average pain at one time, that with the higher identifier
// first when they are swapped.
func (c *caller) tied(patient, at string, lower, higher int, swapped bool) {
	c.tb.Helper()
	who, err := id.Parse[id.PatientKind](patient)
	if err != nil {
		c.tb.Fatal(err)
	}
	score := func(value int) pain.Record {
		return storetest.Record(c.tb, who, fmt.Sprintf(`{"recorded_at":%q,"data_type":"pain_scores","value":{"score":%d,"aspect":"average"}}`, at, value))
	}
	one, two := score(lower), score(higher)
	if one.ID.String() > two.ID.String() {
		one.ID, two.ID = two.ID, one.ID
	}
	if swapped {
		one, two = two, one
	}
	o := c.store.For(&access.Principal{Org: c.client.Org, Client: c.client.No})
	for _, r := range []pain.Record{one, two} {
		if err := storetest.AddRecords(context.Background(), o, who, r); err != nil {
			c.tb.Fatal(err)
		}
	}
}

// A procedure at ten and a score at three the same day: it is not before it. Sides
// are apart, and both answers say which was taken.
func TestSitesAndSameDayTreatment(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		patient := c.person("female", "1970-01-01", "M17.11")
		const left, right = `,"aspect":"average","body_site":"knee","laterality":"left"}`, `,"aspect":"average","body_site":"knee","laterality":"right"}`
		c.records(patient,
			`2024-01-02T08:00:00Z pain_scores {"score":7`+right,
			`2024-01-02T08:00:00Z pain_scores {"score":9`+left,
			`2024-01-02T09:00:00Z pain_scores {"score":6`+right,
			`2024-02-01T10:00:00Z procedures {"procedure_type":"joint_injection","body_site":"knee","laterality":"right"}`,
			`2024-02-01T09:00:00Z pain_scores {"score":8`+right,
			`2024-02-01T15:00:00Z pain_scores {"score":2`+right,
			`2024-01-31T15:00:00Z pain_scores {"score":1,"context":"post_procedure"`+right,
			`2024-04-01T09:00:00Z pain_scores {"score":5`+right,
			`2024-04-01T09:00:00Z pain_scores {"score":1`+left,
			`2024-05-01T09:00:00Z pain_scores {"score":4`+right,
		)
		s := c.summary(patient, "?as_of=2024-06-30")
		if *s.Pain.BodySite != "knee" || *s.Pain.Laterality != "right" || *s.Pain.Baseline.Score != 6.5 || *s.Pain.Latest.Score != 4 || s.Pain.Scores != 7 {
			t.Errorf("%+v", s.Pain)
		}
		r := c.get(outcomesPath + "?start_date=2024-01-01&end_date=2024-12-31")
		sites := r.dig("cohort", "by_site", "groups").([]any)
		if len(sites) != 2 || sites[1].(map[string]any)["group"] != "knee, right" || sites[1].(map[string]any)["count"] != 1.0 {
			t.Errorf("%v", sites)
		}
		if base, after := r.dig("follow_up", "baseline", "mean"), r.dig("follow_up", "pain", "mean"); base != 6.5 || after != 5.0 {
			t.Errorf("from %v to %v", base, after)
		}
		treated := r.dig("procedures").([]any)[0].(map[string]any)
		if before, after := treated["before"].(map[string]any)["mean"], treated["after"].(map[string]any)["mean"]; before != 8.0 || after != 4.0 {
			t.Errorf("from %v to %v around the injection", before, after)
		}
	})
}
