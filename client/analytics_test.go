package client_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
)

func TestAnalyticsQuery(t *testing.T) {
	zero, old := 0, 64
	for _, tt := range []struct {
		query client.AnalyticsQuery
		want  string
	}{
		{client.AnalyticsQuery{}, ""},
		{client.AnalyticsQuery{StartDate: "2025-01-01", EndDate: "2025-12-31", Interval: "week", FollowUp: 180, Gender: "female", AgeMin: &zero, AgeMax: &old, Condition: "M54.5",
			MedicationClass: "opioid", MinCellSize: 11,
			Standard: "female:1,65+:2", Adjust: "case_mix", CompareStartDate: "2023-01-01", CompareEndDate: "2024-12-31"},
			"?adjust=case_mix&age_max=64&age_min=0&compare_end_date=2024-12-31&compare_start_date=2023-01-01&condition=M54.5&end_date=2025-12-31&follow_up=180&gender=female&interval=week&medication_class=opioid&min_cell_size=11&standard=female%3A1%2C65%2B%3A2&start_date=2025-01-01"},
	} {
		var asked []string
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Method+" "+r.RequestURI)
			_, _ = io.WriteString(w, `{"generated_at":"2026-01-15T10:30:00Z","parameters":{"gender":"female","age_min":0},"cohort":{"patients":{"count":null,"suppressed":true}},"added_later":1}`)
		})
		outcomes, err := c.Outcomes(t.Context(), tt.query)
		if err != nil || !outcomes.GeneratedAt.Equal(time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)) || *outcomes.Parameters.Gender != "female" || !outcomes.Cohort.Patients.Suppressed {
			t.Errorf("%+v, %v", outcomes, err)
		}
		population, err := c.PopulationHealth(t.Context(), tt.query)
		if err != nil || *population.Parameters.AgeMin != 0 || population.Cohort.Patients.Count != nil {
			t.Errorf("%+v, %v", population, err)
		}
		for i, name := range []string{"outcomes", "population-health"} {
			if want := "GET /v1/analytics/" + name + tt.want; asked[i] != want {
				t.Errorf("asked for %s, want %s", asked[i], want)
			}
		}
	}
}

func TestRefusedAnalytics(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusBadRequest, client.CodeInvalidParameter, map[string]any{"parameter": "gender", "value": "x"})
	})
	if outcomes, err := c.Outcomes(t.Context(), client.AnalyticsQuery{Gender: "x"}); !client.IsCode(err, client.CodeInvalidParameter) || outcomes != nil {
		t.Errorf("%v, %v", outcomes, err)
	}
}
