package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// put creates or updates the patient with an identifier.
func (c *caller) put(identifier, body string, header ...string) *reply {
	c.tb.Helper()
	return c.send(http.MethodPut, "/v1/patients?identifier="+escaped(identifier), body, header...)
}

const fletcher = `{"name":"Joanne Fletcher","date_of_birth":"1971-03-08"}`

// with is a body of a patient with identifiers, given as SYSTEM|VALUE.
func with(name string, identifiers ...string) string {
	list := make([]map[string]string, 0, len(identifiers))
	for _, text := range identifiers {
		system, value, _ := strings.Cut(text, "|")
		list = append(list, map[string]string{"system": system, "value": value})
	}
	return quoteAny(map[string]any{"name": name, "date_of_birth": "1971-03-08", "identifiers": list})
}

// identifiers are those of a patient as SYSTEM|VALUE.
func (r *reply) identifiers() (list []string) {
	r.tb.Helper()
	shown, _ := r.json()["identifiers"].([]any)
	for _, one := range shown {
		one := one.(map[string]any)
		list = append(list, one["system"].(string)+"|"+one["value"].(string))
	}
	return list
}

func TestIdentifiersOfAPatient(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, auditor := n.caller("north"), n.auditor(access.AllScopes)
		made := c.post("/v1/patients", with("Joanne Fletcher", "mrn|104-2281", "lab|L-1")).is(http.StatusCreated)
		path := made.header.Get("Location")
		if got := made.identifiers(); !slices.Equal(got, []string{"mrn|104-2281", "lab|L-1"}) {
			t.Errorf("created with %v", got)
		}
		if read := c.get(path).is(http.StatusOK); string(read.body) != string(made.body) {
			t.Errorf("read %s, created %s", read.body, made.body)
		}
		if plain := c.post("/v1/patients", fletcher).is(http.StatusCreated); strings.Contains(string(plain.body), "identifiers") {
			t.Errorf("without identifiers: %s", plain.body)
		}
		if items := c.get("/v1/patients").data(); len(items[0]) != 4 {
			t.Errorf("a list shows %v", items[0])
		}
		south := n.caller("south")
		for _, query := range []string{"identifier=%7C104-2281", "identifier=mrn%7C104-2281", "search=104-2281", "sort=name", "sort=-created_at", "date_of_birth=1971-03-08"} {
			if r := south.get("/v1/patients?" + query); len(r.data()) != 0 || r.pagination()[2] != 0 {
				t.Errorf("another organisation, %s: %s", query, r.body)
			}
		}
		south.post("/v1/patients", with("Joanne Fletcher", "mrn|104-2281")).is(http.StatusCreated)
		taken := map[string]any{"patient_id": made.json()["id"], "identifier": map[string]any{"system": "lab", "value": "L-1"}}
		c.post("/v1/patients", with("Other", "x|1", "lab|L-1")).details(http.StatusConflict, fault.Conflict, taken)
		other := c.post("/v1/patients", with("Other", "x|1")).is(http.StatusCreated).header.Get("Location")
		c.send("PATCH", other, `{"identifiers":[{"system":"lab","value":"L-1"}]}`).details(http.StatusConflict, fault.Conflict, taken)
		c.post("/v1/patients", with("Third", "mrn|")).wrong("identifiers[0].value", "")

		changed := c.send("PATCH", path, `{"identifiers":[{"system":"mrn","value":"2"}]}`, "X-Request-Id", "changed").is(http.StatusOK)
		if got := changed.identifiers(); !slices.Equal(got, []string{"mrn|2"}) || changed.header.Get("ETag") != `"2"` {
			t.Errorf("changed to %v, %s", got, changed.header.Get("ETag"))
		}
		c.send("PATCH", other, `{"identifiers":[{"system":"lab","value":"L-1"}]}`).is(http.StatusOK) // it is free now
		for _, none := range []string{`{"identifiers":null}`, `{"identifiers":[]}`} {
			if r := c.send("PATCH", path, none).is(http.StatusOK); strings.Contains(string(r.body), "identifiers") {
				t.Errorf("%s left %s", none, r.body)
			}
		}
		kept := quoteAny(line(t, auditor.audit("&action=patient.update", 3), "changed"))
		if !strings.Contains(kept, "104-2281") {
			t.Errorf("the audit log does not have what was replaced: %s", kept)
		}
		for _, e := range c.get("/v1/events?wait=20&limit=100").data() {
			if text := quoteAny(e); strings.Contains(text, "104-2281") || strings.Contains(text, "L-1") {
				t.Errorf("an event has an identifier: %s", text)
			}
		}
	})
}

func TestPutCreatesOrUpdates(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, auditor := n.caller("north"), n.auditor(access.AllScopes)
		made := c.put("mrn|1", fletcher).is(http.StatusCreated)
		path := made.header.Get("Location")
		if got := made.identifiers(); !slices.Equal(got, []string{"mrn|1"}) || path != "/v1/patients/"+made.json()["id"].(string) {
			t.Errorf("created %s at %s", made.body, path)
		}
		for range 2 {
			if again := c.put(" mrn | 1 ", fletcher).is(http.StatusOK); string(again.body) != string(made.body) || again.header.Get("ETag") != `"1"` || again.header.Get("Location") != path {
				t.Errorf("again: %s, %v", again.body, again.header)
			}
		}
		c.send("PATCH", path, `{"gender":"female","identifiers":[{"system":"lab","value":"7"},{"system":"mrn","value":"1"}]}`).is(http.StatusOK)
		updated := c.put("mrn|1", `{"name":"Jo Fletcher","date_of_birth":"1971-03-08"}`, "X-Request-Id", "put").is(http.StatusOK)
		if got := updated.json(); got["name"] != "Jo Fletcher" || got["gender"] != "" || updated.header.Get("ETag") != `"3"` || !slices.Equal(updated.identifiers(), []string{"lab|7", "mrn|1"}) {
			t.Errorf("updated to %s", updated.body)
		}
		if got := c.put("lab|7", with("Jo Fletcher", "mrn|1")).is(http.StatusOK).identifiers(); !slices.Equal(got, []string{"mrn|1", "lab|7"}) {
			t.Errorf("with a list: %v", got)
		}
		if total := c.total(); total != 1 {
			t.Errorf("%d patients", total)
		}
		id := strings.TrimPrefix(path, "/v1/patients/")
		c.put("mrn|2", with("Else", "lab|7")).details(http.StatusConflict, fault.Conflict,
			map[string]any{"patient_id": id, "identifier": map[string]any{"system": "lab", "value": "7"}})
		c.put("mrn|2", fletcher).is(http.StatusCreated)
		c.put("mrn|2", with("Else", "lab|7")).fault(http.StatusConflict, fault.Conflict)

		c.put("mrn|1", fletcher, "If-Match", `"1"`).fault(http.StatusPreconditionFailed, fault.PreconditionFailed)
		c.put("mrn|1", fletcher, "If-Match", c.get(path).header.Get("ETag")).is(http.StatusOK)
		c.put("mrn|3", fletcher, "If-Match", "*").fault(http.StatusPreconditionFailed, fault.PreconditionFailed)

		c.put("mrn", fletcher).wrong("identifier", "mrn")
		c.put("|1", fletcher).wrong("identifier", "|1")
		c.put("mrn|9", `{"name":"X"}`).wrong("date_of_birth", nil)
		c.put("mrn|9", `{"name":"\u200b","date_of_birth":"1971-03-08"}`).wrong("name", "\u200b")
		c.send("PUT", "/v1/patients", fletcher).wrong("identifier", nil)
		c.send("PUT", "/v1/patients?identifer=mrn%7C1", fletcher).fault(http.StatusBadRequest, fault.InvalidParameter)
		n.caller("north", access.PatientsRead).put("mrn|9", fletcher).is(http.StatusForbidden)

		var types []string
		eventually(t, "the events", func() bool {
			types = nil
			for _, e := range c.get("/v1/events?limit=100").data() {
				types = append(types, e["type"].(string))
			}
			return len(types) >= 6
		})
		want := []string{"patient.created", "patient.updated", "patient.updated", "patient.updated", "patient.created", "patient.updated"}
		if !slices.Equal(types, want) {
			t.Errorf("events %v, want %v", types, want)
		}
		line(t, auditor.audit("&action=patient.update", 4), "put")
	})
}

func TestPutsAtOnceMakeOnePatient(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		nodes := []*caller{c, c.at(n.another())}
		replies := parallel(64, func(i int) *reply { return nodes[i%2].put("mrn|1", fletcher) })
		if got := statuses(replies); got[http.StatusCreated] != 1 || got[http.StatusOK] != 63 {
			t.Errorf("statuses %v", got)
		}
		for _, r := range replies {
			if string(r.body) != string(replies[0].body) {
				t.Errorf("%s and %s", r.body, replies[0].body)
			}
		}
		if total := c.total(); total != 1 {
			t.Errorf("%d patients", total)
		}
	})
}

func TestPutWithAnIdempotencyKey(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		first := c.put("mrn|1", fletcher, "Idempotency-Key", "k").is(http.StatusCreated)
		again := c.put("mrn|1", fletcher, "Idempotency-Key", "k").is(http.StatusCreated)
		if again.header.Get("Idempotency-Replayed") != "true" || string(again.body) != string(first.body) {
			t.Errorf("replayed %v: %s", again.header, again.body)
		}
		c.put("mrn|2", fletcher, "Idempotency-Key", "k").fault(http.StatusUnprocessableEntity, fault.IdempotencyKeyReused)
		c.put("mrn|1", fletcher+" ", "Idempotency-Key", "k").fault(http.StatusUnprocessableEntity, fault.IdempotencyKeyReused)
		c.once("k", fletcher).is(http.StatusCreated) // another method
		if total := c.total(); total != 2 {
			t.Errorf("%d patients", total)
		}
	})
}

func TestListOfPatientsByConditions(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.post("/v1/patients", with("Joanne Fletcher", "mrn|104-2281", "lab|7")).is(http.StatusCreated)
		c.post("/v1/patients", with("ada\u200b Nowak", "lab|104-2281")).is(http.StatusCreated)
		c.post("/v1/patients", `{"name":"Émile Fletcher","date_of_birth":"1971-03-09"}`).is(http.StatusCreated)
		for _, ask := range []struct {
			query string
			want  string
		}{
			{"", "ada\u200b,Émile,Joanne"},
			{"identifier=mrn|104-2281", "Joanne"},
			{"identifier=|104-2281", "ada\u200b,Joanne"},
			{"identifier=|104-2281&search=nowak", "ada\u200b"},
			{"identifier=|104-2281&date_of_birth=1971-03-09", ""},
			{"identifier=mrn|104", ""},
			{"identifier=MRN|104-2281", ""},
			{"search=104-2", "ada\u200b,Joanne"},
			{"search=4-2281", ""},
			{"search=7", "Joanne"},
			{"search=Fletcher+Joanne", "Joanne"},
			{"search=Fl\u00adetcher+\ufeffjo", "Joanne"},
			{"search=ada+nowak", "ada\u200b"},
			{"search=\u200b", "ada\u200b,Émile,Joanne"},
			{"search=fletcher&date_of_birth=1971-03-09", "Émile"},
			{"date_of_birth=1971-03-08", "ada\u200b,Joanne"},
			{"date_of_birth=1971-03-10", ""},
		} {
			var want []string
			if ask.want != "" {
				want = strings.Split(ask.want, ",")
			}
			escape := strings.NewReplacer("|", "%7C", "\u200b", "%E2%80%8B", "\u00ad", "%C2%AD", "\ufeff", "%EF%BB%BF")
			for _, sort := range []string{"name", "-name"} {
				r := c.get("/v1/patients?" + escape.Replace(ask.query) + "&sort=" + sort)
				var got []string
				for _, name := range r.names() {
					given, _, _ := strings.Cut(name, " ")
					got = append(got, given)
				}
				if !slices.Equal(got, want) || r.pagination()[2] != len(want) {
					t.Errorf("%s: %q of %d, want %q", r.what, got, r.pagination()[2], want)
				}
				slices.Reverse(want)
			}
		}
		if got := c.get("/v1/patients?sort=name").names(); !slices.Equal(got, []string{"ada\u200b Nowak", "Émile Fletcher", "Joanne Fletcher"}) {
			t.Errorf("by name: %q", got)
		}
		if got := c.get("/v1/patients?sort=-created_at&identifier=%7C104-2281").names(); !slices.Equal(got, []string{"ada\u200b Nowak", "Joanne Fletcher"}) {
			t.Errorf("latest first of those with a number: %q", got)
		}
		if got := c.get("/v1/patients?sort=-created_at&limit=2").names(); !slices.Equal(got, []string{"Émile Fletcher", "ada\u200b Nowak"}) {
			t.Errorf("latest first: %q", got)
		}
		links := c.get("/v1/patients?sort=-name&limit=1&date_of_birth=1971-03-08&identifier=%7C104-2281").links()
		if want := "/v1/patients?page=2&limit=1&date_of_birth=1971-03-08&identifier=%7C104-2281&sort=-name"; links["next"] != want {
			t.Errorf("links to %s, want %s", links["next"], want)
		}
		for query, parameter := range map[string]string{
			"identifier=mrn": "identifier", "identifier=": "identifier", "identifier=mrn%7C": "identifier", "identifier=a%7Cb%0Ac": "identifier",
			"date_of_birth=8.3.1971": "date_of_birth", "date_of_birth=1971-02-30": "date_of_birth", "date_of_birth=": "date_of_birth",
			"sort=Name": "sort", "sort=": "sort", "sort=name,created_at": "sort", "sort=name&sort=name": "sort",
		} {
			r := c.get("/v1/patients?" + query)
			if got := r.fault(http.StatusBadRequest, fault.InvalidParameter); got["parameter"] != parameter || !strings.Contains(r.message(), parameter) {
				t.Errorf("%s: %v %s", query, got, r.message())
			}
		}
	})
}

// A page in every order is in the audit log with the patients that it shows.
func TestAuditOfLists(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, auditor := n.caller("north"), n.auditor(access.AllScopes)
		id := c.post("/v1/patients", with("Joanne Fletcher", "mrn|1")).is(http.StatusCreated).json()["id"].(string)
		c.create("Bo Seng")
		queries := map[string]string{"latest": "sort=-created_at", "named": "sort=name", "found": "identifier=mrn%7C1", "born": "date_of_birth=1971-03-08"}
		for name, query := range queries {
			c.get("/v1/patients?"+query, "X-Request-Id", name).is(http.StatusOK)
		}
		lines := append(auditor.audit("&action=patient.list", 2), auditor.audit("&action=patient.search", 2)...)
		for name, want := range map[string]string{
			"latest": `{"count":2,"first_number":1,"last_number":2}`,
			"named":  id, "found": fmt.Sprintf(`{"count":1,"patients":[%q]}`, id), "born": fmt.Sprintf(`{"count":1,"patients":[%q]}`, id),
		} {
			if got := quoteAny(line(t, lines, name)["details"]); !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	})
}
