package bench

import "net/http"

// analyticsPaths measure over all patients. The first answer reads all series
// into memory; see [PathResult].
var analyticsPaths = []path{
	analyticsPath("outcomes", "outcomes", "/v1/analytics/outcomes"),
	analyticsPath("population", "population health", "/v1/analytics/population-health"),
	analyticsPath("analytics-filter", "both, with filters", filtered()...),
}

// analyticsPath asks for some targets in turn.
func analyticsPath(name, title string, targets ...string) path {
	return path{name: name, title: title, method: http.MethodGet, expect: http.StatusOK, reads: true,
		target: func(b []byte, _ *stock, n int) []byte { return append(b, targets[n%len(targets)]...) }}
}

func filtered() (targets []string) {
	for _, filter := range []string{"gender=female", "age_min=40&age_max=64", "condition=M54", "medication_class=opioid", "medication_class=nsaid&gender=male&age_max=80", "min_cell_size=11"} {
		targets = append(targets, "/v1/analytics/outcomes?interval=week&"+filter, "/v1/analytics/population-health?"+filter)
	}
	return targets
}
