package bench

import (
	"net/http"
	"time"
)

// analyticsPaths measure queries over all patients. The first response reads
// all series into memory; see [PathResult]. The uncached paths send a
// different query each time, so that no earlier result helps.
var analyticsPaths = []path{
	analyticsPath("outcomes", "outcomes, uncached", startDates, outcomesTarget),
	analyticsPath("population", "population, uncached", startDates, populationTarget),
	analyticsPath("analytics-filter", "both, with filters", startDates, filtered()...),
	analyticsPath("analytics-again", "both, cached", []string{""}, outcomesTarget, populationTarget),
}

const (
	outcomesTarget   = "/v1/analytics/outcomes?"
	populationTarget = "/v1/analytics/population-health?"
)

// analyticsPath requests the targets in turn, each with the next ending.
func analyticsPath(name, title string, endings []string, targets ...string) path {
	return path{name: name, title: title, method: http.MethodGet, expect: http.StatusOK, reads: true,
		target: func(b []byte, _ *stock, n int) []byte {
			return append(append(b, targets[n%len(targets)]...), endings[n%len(endings)]...)
		}}
}

// startDates are the starts of periods that all include the year of the
// records. Their number is prime, so that each target is combined with each of
// them.
var startDates = func() []string {
	list := make([]string, 347)
	for i := range list {
		list[i] = "start_date=" + time.Now().UTC().AddDate(-1, 0, -1-i).Format(time.DateOnly)
	}
	return list
}()

func filtered() (targets []string) {
	for _, filter := range []string{"gender=female", "age_min=40&age_max=64", "condition=M54", "medication_class=opioid", "medication_class=nsaid&gender=male&age_max=80", "min_cell_size=11"} {
		targets = append(targets, outcomesTarget+"interval=week&"+filter+"&", populationTarget+filter+"&")
	}
	return targets
}
