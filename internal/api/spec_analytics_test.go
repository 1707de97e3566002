package api

import (
	"testing"
)

func TestSpec4_6_OutcomesAndTrends(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for range 3 {
			c.course(c.person("female", "1980-01-01", "M54.50"), "oxycodone", daysAgo(200))
		}
		r := c.get(outcomesPath)
		for _, want := range []struct {
			path  []string
			value any
		}{
			{[]string{"cohort", "patients", "count"}, 3.0},
			{[]string{"baseline", "mean"}, 8.0},
			{[]string{"follow_up", "pain", "mean"}, 4.0},
			{[]string{"follow_up", "change", "mean"}, -4.0},
			{[]string{"response", "responder_30", "count"}, 3.0},
			{[]string{"response", "responder_50", "proportion"}, 1.0},
			{[]string{"trend", "interval"}, "month"},
			{[]string{"trend", "slope", "direction"}, "improving"},
		} {
			if got := r.dig(want.path...); got != want.value {
				t.Errorf("%v is %v, want %v", want.path, got, want.value)
			}
		}
		if buckets := r.dig("trend", "buckets").([]any); len(buckets) < 12 || len(buckets) > 13 {
			t.Errorf("a year has %d months", len(buckets))
		}
		if instruments := r.dig("instruments").([]any); len(instruments) != 1 || instruments[0].(map[string]any)["instrument"] != "peg" {
			t.Errorf("instruments: %v", instruments)
		}
	})
}

func TestSpec4_7_PopulationHealthAndInsights(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, medicine := range []string{"oxycodone", "morphine", "ibuprofen"} {
			c.course(c.person("female", "1980-01-01", "M54.50"), medicine, daysAgo(100))
		}
		r := c.get(populationPath)
		for _, want := range []struct {
			path  []string
			value any
		}{
			{[]string{"cohort", "patients", "count"}, 3.0},
			{[]string{"severity_prevalence", "bands", "n"}, 3.0},
			{[]string{"opioids", "opioid_exposure", "count"}, 2.0},
			{[]string{"opioids", "opioid_exposure", "n"}, 3.0},
			{[]string{"opioids", "mme", "peak", "n"}, 2.0},
			{[]string{"opioids", "mme", "peak", "mean"}, 25.0}, // 30 and 20
		} {
			if got := r.dig(want.path...); got != want.value {
				t.Errorf("%v is %v, want %v", want.path, got, want.value)
			}
		}
		insights := r.dig("insights").([]any)
		if len(insights) == 0 {
			t.Error("no insight")
		}
		for _, insight := range insights {
			if text, _ := insight.(map[string]any)["text"].(string); text == "" {
				t.Errorf("%v", insight)
			}
		}
	})
}
