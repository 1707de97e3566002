package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// statuses counts the reports of a list by status.
func (r *reply) statuses() map[string]int {
	r.tb.Helper()
	counted := map[string]int{}
	for _, rep := range r.data() {
		counted[rep["status"].(string)]++
	}
	return counted
}

func TestSpec3_ReportsGoThroughTheirStates(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.callerOf("north", access.Enterprise, access.AllScopes) // it asks often
		release := n.gate.hold(t)
		var ids []string
		for range 3 { // a node makes two at a time
			ids = append(ids, c.ask(`{"type":"outcomes","format":"json"}`))
		}
		eventually(t, "two are being made", func() bool {
			return maps.Equal(c.get("/v1/reports").statuses(), map[string]int{"processing": 2, "pending": 1})
		})
		for status, want := range map[string]int{"pending": 1, "processing": 2, "completed": 0} {
			if got := c.get("/v1/reports?status=" + status).pagination()[2]; got != want {
				t.Errorf("%d are %s, want %d", got, status, want)
			}
		}
		release()
		for _, id := range ids {
			rep := c.becomes(id, "completed")
			if rep["progress"] != float64(100) || rep["error"] != "" || rep["download_url"] != downloadOf(id) {
				t.Errorf("%v", rep)
			}
			c.get(downloadOf(id)).is(http.StatusOK)
		}
		n.gate.breakWith(errBroken)
		if rep := c.becomes(c.ask(`{"type":"outcomes"}`), "failed"); rep["error"] == "" || rep["download_url"] != "" || rep["completed_at"] == nil || strings.Contains(rep["error"].(string), "broken") {
			t.Errorf("%v", rep)
		}
		n.clock.forward(30 * 24 * time.Hour)
		c.token = c.issue("")
		eventually(t, "the files expire", func() bool { return c.get("/v1/reports?status=expired").pagination()[2] == 3 })
	})
}

func TestSpec4_8_ListsReportsWithTheirStatus(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		if r := c.get("/v1/reports"); len(r.data()) != 0 || r.pagination() != [3]int{1, 50, 0} {
			t.Errorf("%s", r.body)
		}
		var ids []string
		for i := range 5 {
			ids = append(ids, c.report(`{"format":"csv","type":"`+[]string{"outcomes", "opioid_stewardship"}[i%2]+`"}`))
		}
		r := c.get("/v1/reports?page=2&limit=2")
		if got := r.ids(); !slices.Equal(got, ids[2:4]) || r.pagination() != [3]int{2, 2, 5} {
			t.Errorf("%v %v", got, r.pagination())
		}
		want := `</v1/reports?page=1&limit=2>; rel="first", </v1/reports?page=1&limit=2>; rel="prev", </v1/reports?page=3&limit=2>; rel="next", </v1/reports?page=3&limit=2>; rel="last"`
		if got := r.header.Get("Link"); got != want {
			t.Errorf("Link %s", got)
		}
		if r := c.get("/v1/reports?type=opioid_stewardship&status=completed"); !slices.Equal(r.ids(), []string{ids[1], ids[3]}) || r.pagination()[2] != 2 || !strings.Contains(r.header.Get("Link"), "type=opioid_stewardship") {
			t.Errorf("%s", r.body)
		}
		if r := c.get("/v1/reports?page=9"); len(r.data()) != 0 || r.pagination() != [3]int{9, 50, 5} {
			t.Errorf("%s", r.body)
		}
		for query, value := range map[string]string{"status": "done", "type": "gossip", "page": "0", "limit": "101", "colour": "red"} {
			c.get("/v1/reports?"+query+"="+value).wrong(query, value)
		}
	})
}

func TestSpec4_9_GeneratesAReport(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		patient := c.create("Arlo Finch")
		r := c.post("/v1/reports", `{"type":"patient_summary","parameters":{"patient_id":"`+patient+`"}}`).is(http.StatusCreated)
		rep := r.json()
		id := rep["id"].(string)
		if r.header.Get("Location") != "/v1/reports/"+id {
			t.Errorf("Location %s", r.header.Get("Location"))
		}
		members := strings.Split("completed_at created_at download_url error expires_at format id parameters progress sha256 size_bytes started_at status title type", " ")
		if got := slices.Sorted(maps.Keys(rep)); !slices.Equal(got, members) {
			t.Errorf("members %v", got)
		}
		if rep["type"] != "patient_summary" || rep["format"] != "pdf" || rep["title"] != "Patient summary" || rep["status"] != "pending" || rep["progress"] != float64(0) ||
			rep["started_at"] != nil || rep["completed_at"] != nil || rep["expires_at"] != nil || rep["size_bytes"] != nil || rep["sha256"] != "" || rep["error"] != "" || rep["download_url"] != "" {
			t.Errorf("%s", r.body)
		}
		created, err := time.Parse(time.RFC3339, rep["created_at"].(string))
		if err != nil {
			t.Fatal(err)
		}
		in := rep["parameters"].(map[string]any)
		if in["patient_id"] != patient || in["end_date"] != created.Format(time.DateOnly) || in["start_date"] != created.AddDate(0, 0, -364).Format(time.DateOnly) || in["as_of"] != rep["created_at"] {
			t.Errorf("parameters %v", in)
		}
		done := c.becomes(id, "completed")
		file := c.get(downloadOf(id)).is(http.StatusOK)
		sum := sha256.Sum256(file.body)
		if done["sha256"] != hex.EncodeToString(sum[:]) || done["size_bytes"] != float64(len(file.body)) {
			t.Errorf("%v of %d bytes", done, len(file.body))
		}
		completed, err := time.Parse(time.RFC3339, done["completed_at"].(string))
		expires, err2 := time.Parse(time.RFC3339, done["expires_at"].(string))
		if err != nil || err2 != nil || expires.Sub(completed) != 30*24*time.Hour {
			t.Errorf("%v", done)
		}
		titled := c.post("/v1/reports", `{"type":"outcomes","format":"csv","title":"  Our year ","parameters":null}`).is(http.StatusCreated).json()
		if titled["title"] != "Our year" || quoteAny(titled["parameters"].(map[string]any)["follow_up"]) != "90" || titled["parameters"].(map[string]any)["interval"] != "month" {
			t.Errorf("%v", titled)
		}
	})
}

// Errors are reported at creation, with the path of the parameter.
func TestSpec4_9_RefusesBadParameters(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, south := n.caller("north"), n.caller("south")
		foreign := south.create("Cleo Wren")
		with := func(kind, parameters string) string {
			return `{"type":"` + kind + `","parameters":{` + parameters + `}}`
		}
		for _, tt := range []struct {
			body, parameter string
			value           any
		}{
			{`{}`, "type", nil},
			{`{"type":"gossip"}`, "type", "gossip"},
			{`{"type":7}`, "type", float64(7)},
			{`{"type":"outcomes","format":"docx"}`, "format", "docx"},
			{`{"type":"outcomes","titel":"x"}`, "titel", "x"},
			{`{"type":"outcomes","title":"a\u0000b"}`, "title", "a\x00b"},
			{`{"type":"outcomes","title":"` + strings.Repeat("x", 201) + `"}`, "title", strings.Repeat("x", 200) + "…"},
			{`{"type":"outcomes","parameters":7}`, "parameters", float64(7)},
			{`{"type":"patient_summary"}`, "parameters.patient_id", nil},
			{with("patient_summary", `"patient_id":"x"`), "parameters.patient_id", "x"},
			{with("patient_summary", `"patient_id":"pat_01kf0k8y20a14c3emmv2g2jemj"`), "parameters.patient_id", "pat_01kf0k8y20a14c3emmv2g2jemj"},
			{with("patient_summary", `"patient_id":"`+foreign+`"`), "parameters.patient_id", foreign},
			{with("outcomes", `"patient_id":"`+foreign+`"`), "parameters.patient_id", foreign},
			{with("outcomes", `"start_date":"2024-02-30"`), "parameters.start_date", "2024-02-30"},
			{with("outcomes", `"start_date":"2024-03-02","end_date":"2024-03-01"`), "parameters.start_date", "2024-03-02"},
			{with("population_health", `"start_date":"1800-01-01","end_date":"2024-03-01"`), "parameters.start_date", "1800-01-01"},
			{with("opioid_stewardship", `"start_date":"1800-01-01"`), "parameters.start_date", "1800-01-01"},
			{with("outcomes", `"follow_up":45`), "parameters.follow_up", float64(45)},
			{with("outcomes", `"follow_up":"90"`), "parameters.follow_up", "90"},
			{with("outcomes", `"interval":"year"`), "parameters.interval", "year"},
			{with("outcomes", `"age_min":-1`), "parameters.age_min", float64(-1)},
			{with("outcomes", `"age_min":1.5`), "parameters.age_min", 1.5},
			{with("outcomes", `"age_min":60,"age_max":50`), "parameters.age_min", float64(60)},
			{with("outcomes", `"condition":"back"`), "parameters.condition", "back"},
			{with("outcomes", `"medication_class":"sweets"`), "parameters.medication_class", "sweets"},
			{with("outcomes", `"color":"red"`), "parameters.color", "red"},
			{with("opioid_stewardship", `"min_cell_size":11`), "parameters.min_cell_size", float64(11)},
			{with("outcomes", `"as_of":"yesterday"`), "parameters.as_of", "yesterday"},
			{with("outcomes", `"as_of":"2999-01-01"`), "parameters.as_of", "2999-01-01"},
		} {
			r := c.post("/v1/reports", tt.body)
			r.wrong(tt.parameter, tt.value)
			if strings.Contains(tt.parameter, "_date") && strings.Contains(tt.body, "-30") && !strings.Contains(r.message(), "YYYY-MM-DD") {
				t.Errorf("%s: %s", tt.body, r.message())
			}
		}
		both := c.post("/v1/reports", `{"type":"outcomes","format":"x","parameters":{"age_min":-1}}`).fault(http.StatusBadRequest, fault.InvalidParameter)
		if both["parameter"] != "format" || len(both["errors"].([]any)) != 2 {
			t.Errorf("%v", both)
		}
		c.post("/v1/reports", `{"type":`).fault(http.StatusBadRequest, fault.InvalidBody)
		if got := c.get("/v1/reports").pagination()[2]; got != 0 {
			t.Errorf("%d reports were made", got)
		}
	})
}

func TestSpec4_10_DownloadsTheReport(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		ids, _ := c.clinic()
		for format, want := range map[string]struct{ media, magic string }{
			"pdf":  {"application/pdf", "%PDF-"},
			"csv":  {"text/csv; charset=utf-8; header=present", "About,"},
			"json": {"application/json", "{"},
			"xlsx": {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "PK"},
		} {
			r := c.download(`{"type":"patient_summary","title":"Arlo Finch","format":"` + format + `","parameters":{"as_of":"2024-06-30","patient_id":"` + ids[0] + `"}}`)
			if got := r.header.Get("Content-Type"); got != want.media || !bytes.HasPrefix(r.body, []byte(want.magic)) {
				t.Errorf("%s: %s, %.20q", format, got, r.body)
			}
			// The file name reveals nothing about the patient.
			if got := r.header.Get("Content-Disposition"); got != `attachment; filename="patient-summary-2024-06-30.`+format+`"` {
				t.Errorf("%s: %s", format, got)
			}
			sum := sha256.Sum256(r.body)
			if r.header.Get("ETag") != `"`+hex.EncodeToString(sum[:])+`"` || r.header.Get("Accept-Ranges") != "bytes" || r.number("Content-Length") != int64(len(r.body)) {
				t.Errorf("%s: %v", format, r.header)
			}
		}
	})
}

func TestSpec4_10_NotYetGenerated(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		release := n.gate.hold(t)
		coming := c.ask(`{"type":"outcomes","format":"json"}`)
		c.becomes(coming, "processing")
		r := c.get(downloadOf(coming))
		r.details(http.StatusConflict, fault.ReportNotReady, map[string]any{"status": "processing"})
		if r.number("Retry-After") < 1 {
			t.Errorf("%v", r.header)
		}
		release()
		c.becomes(coming, "completed")
		n.gate.breakWith(errBroken)
		failing := c.ask(`{"type":"outcomes"}`)
		c.becomes(failing, "failed")
		r = c.get(downloadOf(failing))
		r.details(http.StatusConflict, fault.ReportFailed, map[string]any{"status": "failed"})
		if r.header.Get("Retry-After") != "" {
			t.Error("a failed report does not come")
		}
		// At the end of the retention it is gone at once, noticed or not.
		n.clock.forward(30*24*time.Hour + time.Minute)
		c.token = c.issue("")
		c.get(downloadOf(coming)).fault(http.StatusGone, fault.ReportExpired)
		if rep := c.get("/v1/reports/" + coming).is(http.StatusOK).json(); rep["status"] != "expired" || rep["download_url"] != "" {
			t.Errorf("%v", rep)
		}
		for _, unknown := range []string{"rep_01kf0k8y20a14c3emmv2g2jemj", "x", "pat_01kf0k8y20a14c3emmv2g2jemj"} {
			c.get(downloadOf(unknown)).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "report", "id": unknown})
		}
		c.get(downloadOf(coming)+"?format=pdf").wrong("format", "pdf")
	})
}
