package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// table reads one table of a CSV file with several, by the names of its
// columns.
func tableOf(t *testing.T, file []byte, name string) (rows []map[string]string) {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var header []string
	for _, line := range lines {
		if line[0] != name {
			continue
		}
		if header == nil {
			header = line
			continue
		}
		row := map[string]string{}
		for i, column := range header {
			row[column] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// figure is one figure of a CSV file of analytics.
func figure(t *testing.T, file []byte, section, name string) map[string]string {
	t.Helper()
	for _, row := range tableOf(t, file, "Figures") {
		if row["section"] == section && row["figure"] == name {
			return row
		}
	}
	t.Fatalf("there is no figure %s %s", section, name)
	return nil
}

// number is a JSON number as tables print it.
func number(v any) string {
	f, ok := v.(float64)
	if !ok {
		return ""
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// at walks into a JSON value.
func at(v any, path ...string) any {
	for _, name := range path {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// The numbers of a report are those of the endpoint of the same name, in every
// format.
func TestReportNumbersAreTheAnalytics(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		ids, today := c.clinic()
		patient, end := ids[0], `"end_date":"`+today+`"`
		for _, tt := range []struct{ kind, parameters, path string }{
			{"outcomes", `{"follow_up":90,"interval":"month",` + end + `}`, "/v1/analytics/outcomes?follow_up=90&interval=month&end_date=" + today},
			{"population_health", `{"min_cell_size":2,` + end + `}`, "/v1/analytics/population-health?min_cell_size=2&end_date=" + today},
			{"patient_summary", `{"patient_id":"` + patient + `",` + end + `}`, "/v1/patients/" + patient + "/summary?as_of=" + today},
		} {
			report := c.download(`{"format":"json","type":"` + tt.kind + `","parameters":` + tt.parameters + `}`).json()
			want := c.get(tt.path).is(http.StatusOK).json()
			delete(report, "generated_at")
			delete(want, "generated_at")
			if quoteAny(report) != quoteAny(want) {
				t.Errorf("%s:\n%s\nwant\n%s", tt.kind, quoteAny(report), quoteAny(want))
			}
		}

		outcomes := c.get("/v1/analytics/outcomes?end_date=" + today).is(http.StatusOK).json()
		file := c.download(`{"format":"csv","type":"outcomes","parameters":{` + end + `}}`).body
		if got, want := figure(t, file, "cohort", "patients")["count"], number(at(outcomes, "cohort", "patients", "count")); got != want || want != "3" {
			t.Errorf("patients %s, want %s", got, want)
		}
		responders := figure(t, file, "response", "responder_50")
		for column, path := range map[string][]string{"count": {"count"}, "n": {"n"}, "value": {"proportion"}, "ci95_low": {"ci95", "low"}, "ci95_high": {"ci95", "high"}} {
			if got, want := responders[column], number(at(at(outcomes, "response", "responder_50"), path...)); got != want || want == "" {
				t.Errorf("responders: %s %q, want %q", column, got, want)
			}
		}
		if got, want := len(tableOf(t, file, "Trend")), len(at(outcomes, "trend", "buckets").([]any)); got != want || got < 12 {
			t.Errorf("%d buckets, want %d", got, want)
		}
		population := c.get("/v1/analytics/population-health?end_date=" + today).is(http.StatusOK).json()
		file = c.download(`{"format":"csv","type":"population_health","parameters":{` + end + `}}`).body
		if got, want := figure(t, file, "opioids", "ge_50")["count"], number(at(population, "opioids", "ge_50", "count")); got != want || want == "" {
			t.Errorf("at least 50: %q, want %q", got, want)
		}
	})
}

// A stewardship list says of each patient what the patient's own summary says,
// in every format.
func TestStewardshipIsWhatTheSummariesSay(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		ids, today := c.clinic()
		body := `{"type":"opioid_stewardship","parameters":{"end_date":"` + today + `"},"format":"`
		var list struct {
			Looked   int `json:"patients_looked_at"`
			Counts   map[string]any
			Patients []map[string]any
		}
		if err := json.Unmarshal(c.download(body+`json"}`).body, &list); err != nil {
			t.Fatal(err)
		}
		if list.Looked != 3 || len(list.Patients) != 2 || list.Patients[0]["patient_id"] != ids[0] || list.Patients[1]["patient_id"] != ids[1] {
			t.Fatalf("%+v", list)
		}
		for _, p := range list.Patients {
			s := c.get("/v1/patients/" + p["patient_id"].(string) + "/summary?as_of=" + today).is(http.StatusOK).json()
			mme := s["mme"].(map[string]any)
			flags := map[string]any{}
			for _, f := range s["flags"].([]any) {
				flags[at(f, "flag").(string)] = at(f, "active")
			}
			for column, want := range map[string]any{
				"mme": mme["current"], "mme_band": mme["current_band"], "mme_peak": mme["peak"], "mme_average": mme["average"], "incomplete": mme["incomplete"],
				"ge_50": flags["ge_50"], "ge_90": flags["ge_90"], "opioid_benzo_overlap": flags["opioid_benzo_overlap"], "naloxone_gap": flags["naloxone_gap"],
				"out_of_guideline_scope": flags["out_of_guideline_scope"],
			} {
				if p[column] != want {
					t.Errorf("%s: %s is %v, in the summary %v", p["name"], column, p[column], want)
				}
			}
		}
		// Methadone 5 mg TID (70.5) and oxycodone 10 mg, 90 in 30 days (45).
		first := list.Patients[0]
		for column, want := range map[string]any{
			"mme": 115.5, "mme_band": ">=90", "current": true, "prescribers": float64(2), "pharmacies": float64(1), "uds_within_12_months": true, "unexpected_uds": true,
			"peg_within_12_months": true, "overlap_days": float64(11),
		} {
			if first[column] != want {
				t.Errorf("%s is %v, want %v", column, first[column], want)
			}
		}
		if second := list.Patients[1]; second["uds_within_12_months"] != false || second["last_uds"] == nil || second["unexpected_uds"] != false || second["last_peg"] != nil {
			t.Errorf("%v", second)
		}
		if fmt.Sprint(list.Counts["listed"], list.Counts["ge_90"], list.Counts["opioid_benzo_overlap"], list.Counts["no_uds_12_months"], list.Counts["no_peg_12_months"]) != "2 1 1 1 1" {
			t.Errorf("%v", list.Counts)
		}
		lines, err := csv.NewReader(bytes.NewReader(c.download(body + `csv"}`).body)).ReadAll()
		if err != nil || len(lines) != 3 {
			t.Fatalf("%v, %v", lines, err)
		}
		book, err := excelize.OpenReader(bytes.NewReader(c.download(body + `xlsx"}`).body))
		if err != nil {
			t.Fatal(err)
		}
		defer book.Close()
		cells, err := book.GetRows("Patients")
		if err != nil || len(cells) != 3 {
			t.Fatalf("%v, %v", cells, err)
		}
		for row, p := range list.Patients {
			for column, name := range lines[0] {
				want := fmt.Sprint(p[name])
				switch v := p[name].(type) {
				case nil:
					want = ""
				case float64:
					want = number(v)
				case []any:
					want = strings.ReplaceAll(strings.Trim(fmt.Sprint(v), "[]"), " ", "; ")
				}
				if got := lines[row+1][column]; strings.TrimPrefix(got, "'") != want {
					t.Errorf("csv: %s of row %d is %q, want %q", name, row, got, want)
				}
				got := ""
				if column < len(cells[row+1]) {
					got = cells[row+1][column]
				}
				if !strings.EqualFold(got, want) {
					t.Errorf("xlsx: %s of row %d is %q, want %q", name, row, got, want)
				}
			}
		}
		if got := lines[2][1]; got != `'=cmd|' /C calc'!A0` {
			t.Errorf("a name that looks like a formula is %q", got)
		}
		for query, want := range map[string]int{`"age_min":18`: 2, `"age_max":17`: 0, `"gender":"unknown"`: 2, `"gender":"male"`: 0, `"condition":"M54"`: 0, `"end_date":"2020-01-01"`: 0} {
			lines, err := csv.NewReader(bytes.NewReader(c.download(`{"type":"opioid_stewardship","format":"csv","parameters":{` + query + `}}`).body)).ReadAll()
			if err != nil || len(lines) != want+1 {
				t.Errorf("%s: %d lines, %v", query, len(lines), err)
			}
		}
	})
}

// Asked for again with the parameters of the answer, a report has the same
// bytes, whenever that is.
func TestSameMomentSameBytes(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		ids, _ := c.clinic()
		patient := ids[0]
		for _, kind := range []string{"patient_summary", "outcomes", "population_health", "opioid_stewardship"} {
			for _, format := range []string{"pdf", "csv", "json", "xlsx"} {
				parameters := `{}`
				if kind == "patient_summary" {
					parameters = `{"patient_id":"` + patient + `"}`
				}
				body := `{"type":"` + kind + `","format":"` + format + `","parameters":`
				first := c.report(body + parameters + `}`)
				rep := c.get("/v1/reports/" + first).is(http.StatusOK).json()
				n.clock.forward(61_000_000_000)
				again := c.report(body + quoteAny(rep["parameters"]) + `}`)
				if a, b := c.get(downloadOf(first)).is(http.StatusOK).body, c.get(downloadOf(again)).is(http.StatusOK).body; !bytes.Equal(a, b) || len(a) == 0 {
					t.Errorf("%s as %s: %d and %d bytes differ", kind, format, len(a), len(b))
				}
			}
		}
	})
}
