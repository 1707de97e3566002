package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

func cohortBody(name string, patients ...string) string {
	return `{"name":` + quote(name) + `,"patients":["` + strings.Join(patients, `","`) + `"]}`
}

// cohort creates a cohort of patients and gives its identifier.
func (c *caller) cohort(name string, patients ...string) string {
	c.tb.Helper()
	return c.post(cohortsPath, cohortBody(name, patients...)).is(http.StatusCreated).json()["id"].(string)
}

func TestCohorts(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, south := n.callerOf("north", access.Enterprise, access.AllScopes), n.caller("south")
		a, b, d, e := c.create("A"), c.create("B"), c.create("D"), c.create("E")
		stranger := south.create("S")
		r := c.post(cohortsPath, cohortBody("Spring", d, a, b), "Idempotency-Key", "k").is(http.StatusCreated)
		id := r.json()["id"].(string)
		path := cohortsPath + "/" + id
		if got := c.post(cohortsPath, cohortBody("Spring", d, a, b), "Idempotency-Key", "k").is(http.StatusCreated); string(got.body) != string(r.body) || r.header.Get("Location") != path {
			t.Errorf("again: %s at %s", got.body, r.header.Get("Location"))
		}
		members := func() string { return fmt.Sprint(c.get(path).is(http.StatusOK).json()["patients"]) }
		if got, want := members(), fmt.Sprint([]string{a, b, d}); got != want {
			t.Errorf("%s instead of %s", got, want)
		}
		women := c.post(cohortsPath, `{"name":"Women","filters":{"gender":"Female","age_min":18}}`).is(http.StatusCreated)
		if got := fmt.Sprint(women.json()["filters"]); got != fmt.Sprint(map[string]any{"gender": "female", "age_min": 18.0}) {
			t.Errorf("filters %s", got)
		}
		if list := c.get(cohortsPath + "?limit=1&page=2"); list.pagination()[2] != 2 || list.data()[0]["name"] != "Women" || list.data()[0]["patient_count"] != nil {
			t.Errorf("%s", list.body)
		}
		for body, field := range map[string]string{
			`{"patients":["` + a + `"]}`: "name",
			`{"name":"x"}`:               "patients",
			`{"name":"x","patients":["` + a + `"],"filters":{"gender":"male"}}`: "filters",
			cohortBody("x", a, b, a):                              "patients[2]",
			cohortBody("x", a, stranger):                          "patients[1]",
			cohortBody("x", "pat_"):                               "patients[0]",
			`{"name":"x","patients":[]}`:                          "patients",
			`{"name":"x","filters":{}}`:                           "filters",
			`{"name":"x","filters":{"gender":"male","colour":1}}`: "filters.colour",
			`{"name":"x","filters":{"age_min":-1}}`:               "filters.age_min",
			`{"name":"","patients":["` + a + `"]}`:                "name",
		} {
			if details := c.post(cohortsPath, body).fault(http.StatusBadRequest, fault.InvalidParameter); details["parameter"] != field {
				t.Errorf("%s: %v", body, details)
			}
		}
		// Of another organisation, there is none.
		south.get(path).fault(http.StatusNotFound, fault.NotFound)
		south.send("DELETE", path, "").fault(http.StatusNotFound, fault.NotFound)

		// A merged patient's place is taken, once; an erased one disappears.
		c.post("/v1/patients/"+a+"/merge", `{"into":"`+e+`"}`).is(http.StatusOK)
		if got, want := members(), fmt.Sprint([]string{b, d, e}); got != want {
			t.Errorf("merged: %s instead of %s", got, want)
		}
		c.post("/v1/patients/"+b+"/merge", `{"into":"`+d+`"}`).is(http.StatusOK)
		c.send("DELETE", "/v1/patients/"+e, `{"reason":"asked"}`).is(http.StatusNoContent)
		if got, want := members(), fmt.Sprint([]string{d}); got != want || c.get(path).json()["patient_count"] != 1.0 {
			t.Errorf("%s instead of %s: %s", got, want, c.get(path).body)
		}
		c.post(cohortsPath, cohortBody("x", a)).wrong("patients[0]", a)
		if problems, err := n.store.System().CheckTables(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("%v %v", problems, err)
		}
		c.send("DELETE", path, "").is(http.StatusNoContent)
		c.get(path).fault(http.StatusNotFound, fault.NotFound)
		for _, action := range []string{"cohort.create", "cohort.read", "cohort.delete"} {
			if lines := c.audit("&action="+action, 1); lines[0]["resource"] == nil {
				t.Errorf("%s: %v", action, lines)
			}
		}
	})
}
