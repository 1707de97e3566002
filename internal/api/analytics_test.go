package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
)

const (
	outcomesPath   = "/v1/analytics/outcomes"
	populationPath = "/v1/analytics/population-health"
)

var analyticsRoutes = []string{outcomesPath, populationPath}

// dig walks into an answer by names.
func (r *reply) dig(names ...string) any {
	r.tb.Helper()
	var value any = r.is(http.StatusOK).json()
	for _, name := range names {
		object, ok := value.(map[string]any)
		if !ok {
			r.tb.Fatalf("%s: nothing at %v: %s", r.what, names, r.body)
		}
		value = object[name]
	}
	return value
}

// counts expects the number of patients that both routes count, with a query.
func (c *caller) counts(query string, want float64) {
	c.tb.Helper()
	for _, route := range analyticsRoutes {
		if got := c.get(route+query).dig("cohort", "patients", "count"); got != want {
			c.tb.Errorf("%s%s: %v patients, want %v", route, query, got, want)
		}
	}
}

// course adds a year of falling pain, a medicine and other measurements for a
// patient.
func (c *caller) course(patient, medicine string, begin time.Time) {
	c.tb.Helper()
	at := func(day int) string { return begin.AddDate(0, 0, day).Format("2006-01-02") }
	c.records(patient,
		at(0)+` pain_scores {"score":8,"aspect":"average"}`,
		at(30)+` pain_scores {"score":6,"aspect":"average"}`,
		at(90)+` pain_scores {"score":4,"aspect":"average"}`,
		at(1)+` assessments {"instrument":"peg","items":{"1":8,"2":7,"3":6}}`,
		at(91)+` assessments {"instrument":"peg","items":{"1":4,"2":4,"3":4}}`,
		at(10)+` medications {"name":"`+medicine+`","dose":10,"dose_unit":"mg","frequency":"BID","days_supply":30}`,
		at(20)+` procedures {"procedure_type":"nerve_block","pre_score":7,"post_score":5}`,
	)
}

// person makes a patient with more than a name.
func (c *caller) person(gender, born, code string) string {
	c.tb.Helper()
	return c.post("/v1/patients", `{"name":"Arlo Finch","date_of_birth":"`+born+`","gender":"`+gender+`","medical_history":[{"condition":"x","icd10_code":"`+code+`"}]}`).
		is(http.StatusCreated).json()["id"].(string)
}

func daysAgo(n int) time.Time { return time.Now().UTC().AddDate(0, 0, -n) }

func TestAnalyticsDefaults(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		before := pain.DateOf(n.clock.now())
		for _, route := range analyticsRoutes {
			r := c.get(route)
			parameters := r.dig("parameters").(map[string]any)
			end := parameters["end_date"].(string)
			if end != before.String() && end != pain.DateOf(n.clock.now()).String() {
				t.Errorf("%s ends on %v", route, end)
			}
			day, err := pain.ParseDate(end)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]any{"start_date": pain.DateOfDay(day.DayNumber() - 364).String(), "end_date": end, "as_of": end, "interval": "month", "follow_up": 90.0,
				"gender": nil, "age_min": nil, "age_max": nil, "condition": nil, "medication_class": nil, "min_cell_size": 0.0}
			for name, value := range parameters {
				if want[name] != value {
					t.Errorf("%s: %s is %v, want %v", route, name, value, want[name])
				}
			}
			if at := r.dig("generated_at").(string); !timeForm.MatchString(at) {
				t.Errorf("generated_at %q", at)
			}
		}
	})
}

func TestAnalyticsParametersInForce(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		got := n.caller("north").get(outcomesPath + "?start_date=2024-01-01&end_date=2024-12-31&interval=week&follow_up=180&gender=Female&age_min=18&age_max=64&condition=m54.5&medication_class=opioid&min_cell_size=11&adjust=case_mix&compare_end_date=2023-06-30").dig("parameters")
		want := map[string]any{"start_date": "2024-01-01", "end_date": "2024-12-31", "as_of": "2024-12-31", "interval": "week", "follow_up": 180.0,
			"gender": "female", "age_min": 18.0, "age_max": 64.0, "condition": "M54.5", "medication_class": "opioid", "min_cell_size": 11.0,
			"adjust": "case_mix", "compare_start_date": "2022-06-30", "compare_end_date": "2023-06-30"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		// Population health only echoes the parameters that apply to it.
		got = n.caller("north").get(populationPath + "?start_date=2024-01-01&end_date=2024-12-31&gender=Female&standard=65+:2,%3C18:1&compare_start_date=2023-01-01").dig("parameters")
		want = map[string]any{"start_date": "2024-01-01", "end_date": "2024-12-31", "as_of": "2024-12-31",
			"gender": "female", "age_min": nil, "age_max": nil, "condition": nil, "medication_class": nil, "min_cell_size": 0.0,
			"standard": "65 :2,<18:1", "compare_start_date": "2023-01-01", "compare_end_date": "2023-12-31"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

func TestAnalyticsRefuse(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, test := range []struct{ parameter, value string }{
			{"start_date", "2024-02-30"}, {"start_date", "yesterday"}, {"end_date", "2024-1-1"}, {"start_date", ""}, {"end_date", ""},
			{"interval", "year"}, {"interval", "Month"}, {"follow_up", "91"}, {"follow_up", "90.0"}, {"gender", "woman"}, {"gender", ""},
			{"age_min", "-1"}, {"age_min", "151"}, {"age_max", "x"}, {"age_max", "1e1"}, {"age_max", "+5"}, {"condition", "54"}, {"condition", "M54.12345"}, {"condition", "%"}, {"condition", ""},
			{"medication_class", "opioids"}, {"medication_class", "Opioid"}, {"min_cell_size", "-1"}, {"min_cell_size", "1001"}, {"min_cell_size", "ten"},
			{"patient_id", "pat_1"}, {"limit", "5"}, {"Gender", "female"},
			{"compare_start_date", "2024-02-30"}, {"compare_end_date", "then"}, {"compare_end_date", ""}, {"compare_start_date", "1800-01-01"}, {"adjust", "age"}, {"adjust", ""},
			{"standard", "women"}, {"standard", ""}, {"standard", "female:x"}, {"standard", "female:1,18-29:2"}, {"standard", "<18:0"},
		} {
			for _, route := range analyticsRoutes {
				query := "?" + test.parameter + "=" + strings.NewReplacer("%", "%25", "+", "%2B").Replace(test.value)
				c.get(route+query).wrong(test.parameter, test.value)
			}
		}
		for _, route := range analyticsRoutes {
			if text := c.get(route + "?start_date=x").message(); !strings.Contains(text, "YYYY-MM-DD") {
				t.Errorf("the message is %q", text)
			}
			c.get(route+"?start_date=2024-02-01&end_date=2024-01-31").wrong("start_date", "2024-02-01")
			c.get(route+"?start_date=1900-01-01&end_date=2024-01-31").wrong("start_date", "1900-01-01")
			c.get(route+"?age_min=60&age_max=40").wrong("age_min", "60")
			c.get(route+"?gender=female&gender=male").wrong("gender", "female,male")
			c.get(route + "?start_date=2024-01-31&end_date=2024-01-31").is(http.StatusOK)
		}
		c.get(outcomesPath+"?interval=day&start_date=2000-01-01&end_date=2024-01-31").wrong("interval", "day")
		// What means nothing to a route is refused, not ignored.
		c.get(populationPath+"?interval=week").wrong("interval", "week")
		c.get(populationPath+"?follow_up=90").wrong("follow_up", "90")
		c.get(populationPath+"?adjust=case_mix").wrong("adjust", "case_mix")
		c.get(outcomesPath+"?standard=age").wrong("standard", "age")
		for _, route := range analyticsRoutes {
			c.get(route+"?start_date=2024-01-01&compare_end_date=2024-01-01").wrong("compare_end_date", "2024-01-01")
			c.get(route+"?start_date=2024-01-01&compare_start_date=2023-02-01&compare_end_date=2023-01-31").wrong("compare_start_date", "2023-02-01")
		}
	})
}

func TestAnalyticsFilters(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		begin := daysAgo(100)
		born := func(age, days int) string { return time.Now().UTC().AddDate(-age, 0, days).Format("2006-01-02") }
		for _, p := range []struct{ gender, born, code, medicine string }{
			{"F", born(30, -1), "M54.50", "oxycodone"},
			{"male", born(30, 2), "M54.16", "ibuprofen"}, // 29 years old
			{"they", born(70, -1), "C50.911", "gabapentin"},
			{"", born(10, -1), "G89.4", "morphine"},
		} {
			c.course(c.person(p.gender, p.born, p.code), p.medicine, begin)
		}
		day := func(n int) string { return begin.AddDate(0, 0, n).Format("2006-01-02") }
		for query, want := range map[string]float64{
			"": 4, "?gender=female": 1, "?gender=male": 1, "?gender=other": 1, "?gender=unknown": 1,
			"?age_min=30": 2, "?age_max=29": 2, "?age_min=30&age_max=30": 1, "?age_min=71": 0,
			"?condition=M54": 2, "?condition=M54.5": 1, "?condition=C": 1, "?condition=M54.50": 1, "?condition=Z": 0,
			"?medication_class=opioid": 2, "?medication_class=nsaid": 1, "?medication_class=benzodiazepine": 0, "?medication_class=opioid&gender=female": 1,
			// Taken from ten days after the beginning, for thirty days.
			"?medication_class=opioid&end_date=" + day(9):    0,
			"?medication_class=opioid&end_date=" + day(10):   2,
			"?medication_class=opioid&start_date=" + day(39): 2,
			"?medication_class=opioid&start_date=" + day(40): 0,
		} {
			c.counts(query, want)
		}
	})
}

// Every write that was acknowledged is in the next answer of any node.
func TestAnalyticsIncludeEveryWrite(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		here := n.caller("north")
		there := here.at(n.another())
		both := func(what string, path []string, want any) {
			t.Helper()
			for _, c := range []*caller{here, there} {
				if got := c.get(outcomesPath).dig(path...); got != want {
					t.Errorf("%s: %v is %v, want %v", what, path, got, want)
				}
			}
		}
		patients, scores, mean := []string{"cohort", "patients", "count"}, []string{"cohort", "with_scores", "count"}, []string{"baseline", "mean"}
		both("nobody", patients, 0.0)
		patient := here.create("Arlo Finch")
		both("a patient", patients, 1.0)
		both("no score", mean, nil)
		record := there.score(patient, 7)
		both("a score", mean, 7.0)
		there.counts("?gender=female", 0)
		here.send("PATCH", "/v1/patients/"+patient, `{"gender":"female"}`).is(http.StatusOK)
		there.counts("?gender=female", 1)
		here.post(correctionsOf(patient, record), `{"value":3}`).is(http.StatusCreated)
		both("corrected", mean, 3.0)
		late := there.add(patient, `{"data_type":"pain_scores","value":9,"recorded_at":"`+daysAgo(30).Format(time.RFC3339)+`"}`).is(http.StatusCreated).json()["id"].(string)
		both("an earlier score, later", mean, 9.0)
		here.post(correctionsOf(patient, late), `{"entered_in_error":true,"reason":"x"}`).is(http.StatusCreated)
		both("taken back", mean, 3.0)
		both("one has scores", scores, 1.0)
	})
}

func TestAnalyticsNeedTheScope(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		without := n.caller("north", access.AllScopes&^access.AnalyticsRead)
		with := n.caller("north", access.AnalyticsRead)
		for _, route := range analyticsRoutes {
			n.send("GET", route, "").is(http.StatusUnauthorized)
			if got := without.get(route+"?gender=x").fault(http.StatusForbidden, fault.Forbidden)["required_scope"]; got != "analytics:read" {
				t.Errorf("%s needs %v", route, got)
			}
			with.get(route).is(http.StatusOK)
			with.post(route, `{}`).is(http.StatusMethodNotAllowed)
			with.send("HEAD", route, "").is(http.StatusOK)
		}
	})
}

// The audit entry has the parameters, and names no patient.
func TestAnalyticsLeaveAnAuditLine(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, auditor := n.caller("north"), n.auditor(access.AllScopes)
		c.create("Arlo Finch")
		c.get(outcomesPath+"?gender=female&start_date=2024-01-01&end_date=2024-12-31", "X-Request-Id", "outcomes").is(http.StatusOK)
		c.get(populationPath+"?gender=x", "X-Request-Id", "refused").is(http.StatusBadRequest)
		c.get(populationPath, "X-Request-Id", "population").is(http.StatusOK)
		lines := auditor.audit("&action=analytics.read", 2)
		if len(lines) != 2 {
			t.Errorf("%d lines: %v", len(lines), lines)
		}
		for _, want := range []struct {
			request, analytics string
			gender             any
		}{{"outcomes", "outcomes", "female"}, {"population", "population_health", nil}} {
			got := line(t, lines, want.request)
			details := got["details"].(map[string]any)
			if details["analytics"] != want.analytics || details["parameters"].(map[string]any)["gender"] != want.gender || got["resource"] != nil || len(details) != 2 {
				t.Errorf("%v", got)
			}
		}
	})
}

func TestAnalyticsHideSmallNumbers(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for i := range 13 {
			gender := "female"
			if i < 2 {
				gender = "male"
			}
			c.course(c.person(gender, "1980-01-01", "M54.50"), "oxycodone", daysAgo(100))
		}
		shown := func(query string) string {
			return fmt.Sprint(c.get(populationPath+query).dig("genders", "groups"))
		}
		if open, hidden := shown(""), shown("?min_cell_size=11"); !strings.Contains(open, "count:2 ") || strings.Contains(hidden, "count:2 ") || !strings.Contains(hidden, "suppressed:true") {
			t.Errorf("%s\nbecame %s", open, hidden)
		}
	})
}

// The Go client has a field for every field of a response.
func TestClientKnowsTheAnalytics(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, medicine := range []string{"oxycodone", "ibuprofen"} {
			c.course(c.person("female", "1980-01-01", "M54.50"), medicine, daysAgo(100))
		}
		for route, into := range map[string]any{
			outcomesPath: &client.Outcomes{}, populationPath: &client.PopulationHealth{},
			outcomesPath + "?follow_up=30&adjust=case_mix&compare_start_date=2020-01-01":        &client.Outcomes{},
			populationPath + "?standard=female/30-44:1,male/65:2&compare_start_date=2020-01-01": &client.PopulationHealth{},
		} {
			r := c.get(route)
			if err := json.Unmarshal(r.is(http.StatusOK).body, into); err != nil {
				t.Fatal(err)
			}
			var again map[string]any
			if err := json.Unmarshal([]byte(quoteAny(into)), &again); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(again, r.json()) {
				t.Errorf("%s\nbecame %s", r.body, quoteAny(again))
			}
		}
	})
}
