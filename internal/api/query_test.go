package api

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
)

func TestQueryIsStrict(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		for _, q := range []struct{ query, parameter, value, says string }{
			{"/v1/patients?serach=a", "serach", "a", "did you mean search?"},
			{"/v1/patients?Limit=5", "Limit", "5", "did you mean limit?"},
			{"/v1/patients?offset=10", "offset", "10", "Supported parameters: page, limit, search, identifier, date_of_birth, sort."},
			{"/v1/patients?page=1&page=2", "page", "1,2", "more than once"},
			{"/v1/patients?page=0&page=x", "page", "0,x", "more than once"},
			{"/v1/patients?search=a&search=a", "search", "a,a", "more than once"},
			{"/v1/patients?search=%ff", "search", "\ufffd", "UTF-8"},
			{"/v1/patients?limit=%ff", "limit", "\ufffd", "UTF-8"},
			{"/v1/patients?search=%zz", "query", "search=%zz", "malformed"},
			{"/v1/patients?page=1;limit=2", "query", "page=1;limit=2", "malformed"},
			{"/v1/patients?=1", "", "1", "Unknown"},
			{"/v1/patients/" + id + "?fields=name", "fields", "name", "Unknown"},
			{"/v1/events?page=1", "page", "1", "Supported parameters: after, limit, wait."},
			{"/v1/events?wiat=1", "wiat", "1", "did you mean wait?"},
			{"/v1/audit?patientid=" + id, "patientid", id, "did you mean patient_id?"},
		} {
			r := c.get(q.query)
			r.wrong(q.parameter, q.value)
			if !strings.Contains(r.message(), q.says) {
				t.Errorf("%s: %q does not say %q", q.query, r.message(), q.says)
			}
		}
		c.post("/v1/patients?notify=1", fullPatient).wrong("notify", "1")
		c.send("PATCH", "/v1/patients/"+id+"?notify=1", "{}").wrong("notify", "1")
	})
}

func TestSeveralFaultsOfAQuery(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		first := string(c.get("/v1/patients?page=0&limit=x&color=red&search=a&search=b").body)
		for range 10 { // always in the same order
			r := c.get("/v1/patients?page=0&limit=x&color=red&search=a&search=b")
			details := r.fault(http.StatusBadRequest, fault.InvalidParameter)
			wantMembers(t, details, "parameter", "value", "errors")
			all := details["errors"].([]any)
			if len(all) != 4 {
				t.Fatalf("%d faults: %v", len(all), all)
			}
			wantMembers(t, all[0].(map[string]any), "parameter", "value", "message")
			if head := all[0].(map[string]any); head["parameter"] != details["parameter"] || head["value"] != details["value"] || head["message"] != r.message() {
				t.Fatalf("the first of %v is not %v", all, details)
			}
			if string(r.body) != first {
				t.Fatalf("%s, before %s", r.body, first)
			}
		}
	})
}

func TestNumbersInAQuery(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for parameter, values := range map[string][]string{
			"page":  {"", "0", "-1", "1.5", "1.0", "one", "2147483648", "99999999999999999999", "1e3", " 1", "+1", "0x1", "1_000", "١"},
			"limit": {"", "0", "-1", "1.5", "ten", "101", "99999999999999999999", "1e1", "10 ", "+10", "0x10"},
		} {
			for _, value := range values {
				c.get("/v1/patients?"+parameter+"="+escaped(value)).wrong(parameter, value)
			}
		}
		for _, query := range []string{"wait=31", "wait=-1", "wait=", "wait=soon", "limit=0", "limit=101"} {
			parameter, value, _ := strings.Cut(query, "=")
			c.get("/v1/events?"+query).wrong(parameter, value)
		}
		for _, query := range []string{"page=2147483647", "page=1&limit=1", "limit=100", "page=2147483647&limit=100"} {
			c.get("/v1/patients?" + query).is(http.StatusOK)
		}
	})
}

func TestSearchTermLength(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.create(strings.Repeat("ø", 200))
		if got := c.get("/v1/patients?search=" + escaped(" "+strings.Repeat("ø", 200)+" ")).pagination()[2]; got != 1 {
			t.Errorf("%d patients with the longest name", got)
		}
		long := strings.Repeat("ø", 201)
		c.get("/v1/patients?search="+escaped(long)).wrong("search", strings.Repeat("ø", 200)+"…")
		if got := c.get("/v1/patients?search=" + escaped("  ")).pagination()[2]; got != 1 {
			t.Errorf("an empty term found %d", got)
		}
		if got := c.get("/v1/patients?search=%00").pagination()[2]; got != 0 {
			t.Errorf("a zero byte found %d", got)
		}
	})
}
