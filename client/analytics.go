package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// AnalyticsQuery selects the period, the measures and the patients. Zero
// fields use the service's defaults: all patients over the last 365 days, by
// month, with follow-up after 90 days.
type AnalyticsQuery struct {
	StartDate string // YYYY-MM-DD, inclusive
	EndDate   string // YYYY-MM-DD, inclusive
	Interval  string // day, week or month; outcomes only
	FollowUp  int    // 30, 90, 180 or 365 days; outcomes only

	Gender          string // female, male, other or unknown
	AgeMin          *int   // at the end of the period
	AgeMax          *int
	Condition       string // prefix of an ICD-10 code
	MedicationClass string // taken in the period
	// MinCellSize suppresses counts of patients below this size.
	MinCellSize int

	// Standard is the population to which population health rates are
	// standardised: age_gender, age, gender, or explicit weights such as
	// female/18-29:120,male/18-29:115.
	Standard string
	Adjust   string // case_mix; outcomes only
	// CompareStartDate and CompareEndDate are the first and last day of an
	// earlier period to compare with, as YYYY-MM-DD.
	CompareStartDate string
	CompareEndDate   string
}

// AnalyticsParameters are the parameters that were applied to a response.
type AnalyticsParameters struct {
	StartDate       string  `json:"start_date"`
	EndDate         string  `json:"end_date"`
	AsOf            string  `json:"as_of"`               // last day of data included
	Interval        string  `json:"interval,omitempty"`  // outcomes only
	FollowUp        int     `json:"follow_up,omitempty"` // outcomes only
	Gender          *string `json:"gender"`
	AgeMin          *int    `json:"age_min"`
	AgeMax          *int    `json:"age_max"`
	Condition       *string `json:"condition"`
	MedicationClass *string `json:"medication_class"`
	MinCellSize     int     `json:"min_cell_size"`

	Standard         string `json:"standard,omitempty"` // population health only
	Adjust           string `json:"adjust,omitempty"`   // outcomes only
	CompareStartDate string `json:"compare_start_date,omitempty"`
	CompareEndDate   string `json:"compare_end_date,omitempty"`
}

func (q *AnalyticsQuery) values() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{
		"start_date": q.StartDate, "end_date": q.EndDate, "interval": q.Interval, "gender": q.Gender, "condition": q.Condition, "medication_class": q.MedicationClass,
		"standard": q.Standard, "adjust": q.Adjust, "compare_start_date": q.CompareStartDate, "compare_end_date": q.CompareEndDate,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	setNumber(values, "follow_up", q.FollowUp)
	setNumber(values, "min_cell_size", q.MinCellSize)
	for name, age := range map[string]*int{"age_min": q.AgeMin, "age_max": q.AgeMax} {
		if age != nil {
			values.Set(name, strconv.Itoa(*age))
		}
	}
	return values
}

// Outcomes returns the treatment outcomes of the organisation's patients. It
// needs the scope analytics:read.
func (c *Client) Outcomes(ctx context.Context, query AnalyticsQuery) (*Outcomes, error) {
	return measured[Outcomes](ctx, c, "get outcomes", "outcomes", query)
}

// PopulationHealth returns the current state of the organisation's patients.
// It needs the scope analytics:read.
func (c *Client) PopulationHealth(ctx context.Context, query AnalyticsQuery) (*PopulationHealth, error) {
	return measured[PopulationHealth](ctx, c, "get population health", "population-health", query)
}

func measured[T any](ctx context.Context, c *Client, op, name string, query AnalyticsQuery) (*T, error) {
	var measures T
	call := &call{op: op, method: http.MethodGet, path: []string{"v1", "analytics", name}, query: query.values()}
	if _, err := c.do(ctx, call, &measures); err != nil {
		return nil, err
	}
	return &measures, nil
}
