package api

import (
	"encoding/json"
	"net/http"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/pain"
)

func (a *API) getOutcomes(x *exchange) (answer, error) {
	p, err := x.analyticsParams(analytics.OutcomesNames)
	if err != nil {
		return answer{}, err
	}
	outcomes, err := a.Cohorts.Outcomes(x.ctx(), x.org, &p, x.now)
	if err != nil {
		return answer{}, err
	}
	return x.measured("outcomes", &p, outcomes)
}

func (a *API) getPopulationHealth(x *exchange) (answer, error) {
	p, err := x.analyticsParams(analytics.PopulationNames)
	if err != nil {
		return answer{}, err
	}
	population, err := a.Cohorts.Population(x.ctx(), x.org, &p, x.now)
	if err != nil {
		return answer{}, err
	}
	return x.measured("population_health", &population.Parameters, population)
}

// analyticsParams reads the parameters of a route. A parameter that is present
// must have a value: an empty filter would match everything.
func (x *exchange) analyticsParams(known []string) (analytics.Params, error) {
	q := x.readQuery(known...)
	var request analytics.Request
	for _, name := range known {
		switch text, given := q.text(name); {
		case given && text == "":
			q.fields.Add(name, text, name+" must not be empty; omit it to use the default.")
		case given:
			request.Set(name, text)
		}
	}
	p := request.Params(pain.DateOf(x.now), &q.fields)
	return p, q.err()
}

// measured returns measures over many patients. The audit entry records the
// parameters, since there is no single patient.
func (x *exchange) measured(what string, p *analytics.Params, measures any) (answer, error) {
	details, err := json.Marshal(struct {
		Analytics  string            `json:"analytics"`
		Parameters *analytics.Params `json:"parameters"`
	}{what, p})
	if err != nil {
		return answer{}, err
	}
	line := x.saw(audit.AnalyticsRead, "")
	line.Details = details
	out, err := x.encoded(http.StatusOK, measures)
	out.line = line
	return out, err
}
