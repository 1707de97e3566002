package api

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

func aliasBody(name, code string) string {
	return `{"name":` + quote(name) + `,"rxnorm_code":` + quote(code) + `}`
}

// alias adds an alias and gives its identifier.
func (c *caller) alias(name, code string) string {
	c.tb.Helper()
	return c.post(aliasesPath, aliasBody(name, code)).is(http.StatusCreated).json()["id"].(string)
}

// rederive derives again what is stored, as the worker does.
func (n *node) rederive() {
	n.tb.Helper()
	if err := n.store.System().Rederive(n.tb.Context()); err != nil {
		n.tb.Fatal(err)
	}
}

func TestAliases(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		r := c.post(aliasesPath, aliasBody("OxyIR House-Stock", "1049621"), "Idempotency-Key", "k").is(http.StatusCreated)
		id := r.json()["id"].(string)
		want := map[string]any{"id": id, "name": "OxyIR House-Stock", "rxnorm_code": "1049621", "drug_class": "opioid", "ingredients": []any{"oxycodone"},
			"product": "oxycodone hydrochloride 5 MG Oral Tablet", "created_by": c.client.ID.String(), "created_at": r.json()["created_at"]}
		if got := r.json(); fmt.Sprint(got) != fmt.Sprint(want) || r.header.Get("Location") != aliasesPath+"/"+id {
			t.Errorf("%v at %s", got, r.header.Get("Location"))
		}
		if again := c.post(aliasesPath, aliasBody("OxyIR House-Stock", "1049621"), "Idempotency-Key", "k").is(http.StatusCreated); string(again.body) != string(r.body) {
			t.Errorf("again: %s", again.body)
		}
		if got := c.get(aliasesPath + "/" + id).is(http.StatusOK); string(got.body) != string(r.body) {
			t.Errorf("%s", got.body)
		}
		// The same name in other letters is taken.
		c.post(aliasesPath, aliasBody(" oxyir  house stock", "7804")).details(http.StatusConflict, fault.Conflict, map[string]any{"id": id, "name": "OxyIR House-Stock"})
		other := c.alias("calm mix", "6470")
		c.send("PATCH", aliasesPath+"/"+other, `{"name":"oxyir house stock","rxnorm_code":"7804"}`).is(http.StatusConflict)
		if list := c.get(aliasesPath + "?limit=1"); list.pagination()[2] != 2 || len(list.data()) != 1 || list.data()[0]["name"] != "calm mix" || list.header.Get("Link") == "" {
			t.Errorf("%s", list.body)
		}
		for body, field := range map[string]string{
			aliasBody("ibuprofen", "7804"):              "name",
			aliasBody("no oxycodone", "7804"):           "name",
			aliasBody("blue pills", "99999999"):         "rxnorm_code",
			`{"name":"blue pills"}`:                     "rxnorm_code",
			`{"rxnorm_code":"7804"}`:                    "name",
			`{"name":7,"rxnorm_code":"7804"}`:           "name",
			aliasBody(strings.Repeat("x", 201), "7804"): "name",
		} {
			if got := c.post(aliasesPath, body).fault(http.StatusBadRequest, fault.InvalidParameter)["parameter"]; got != field {
				t.Errorf("%s: %v", body, got)
			}
		}

		patched := c.send("PATCH", aliasesPath+"/"+other, `{"rxnorm_code":"3322"}`).is(http.StatusOK)
		if patched.json()["ingredients"].([]any)[0] != "diazepam" || patched.json()["name"] != "calm mix" {
			t.Errorf("%s", patched.body)
		}
		c.send("PATCH", aliasesPath+"/"+other, `{"rxnorm_code":"3322"}`).is(http.StatusOK) // changes nothing
		c.send("PATCH", aliasesPath+"/"+other, `{"name":"ibuprofen"}`).is(http.StatusBadRequest)
		c.send("PATCH", aliasesPath+"/"+other, `{"name":null}`).is(http.StatusBadRequest)
		c.send("DELETE", aliasesPath+"/"+other, "").is(http.StatusNoContent)
		for _, gone := range []string{other, "als_01kf0k8y20h9gkqy2t4w1x7m3c", "x"} {
			for _, method := range []string{"GET", "PATCH", "DELETE"} {
				body := ""
				if method == "PATCH" {
					body = `{"rxnorm_code":"7804"}`
				}
				c.send(method, aliasesPath+"/"+gone, body).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "alias", "id": gone})
			}
		}

		// What was done is in the audit log, with the values.
		for action, count := range map[string]int{"alias.create": 2, "alias.update": 1, "alias.delete": 1} {
			lines := c.get("/v1/audit?action=" + action).data()
			if len(lines) != count {
				t.Errorf("%d lines of %s", len(lines), action)
				continue
			}
			if got := fmt.Sprint(lines[0]["details"]); !strings.Contains(got, "rxnorm_code") {
				t.Errorf("%s: %s", action, got)
			}
		}
	})
}

// population returns how many patients have an opioid today, and for how many
// that is unknown.
func population(c *caller) (exposed, undetermined any) {
	c.tb.Helper()
	r := c.get("/v1/analytics/population-health?min_cell_size=1").is(http.StatusOK)
	return r.dig("opioids", "opioid_exposure", "count"), r.dig("opioids", "opioid_exposure", "undetermined")
}

func TestAliasScopes(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.alias("blue pills", "7804")
		reader, writer := n.caller("north", access.ClinicalDataRead), n.caller("north", access.ClinicalDataWrite)
		neither := n.caller("north", access.AllScopes&^(access.ClinicalDataRead|access.ClinicalDataWrite))
		for _, q := range []struct{ method, path, body string }{
			{"GET", aliasesPath, ""}, {"POST", aliasesPath, aliasBody("red pills", "7804")}, {"GET", aliasesPath + "/" + id, ""},
			{"PATCH", aliasesPath + "/" + id, `{"name":"white pills"}`}, {"DELETE", aliasesPath + "/" + id, ""},
		} {
			may, mayNot, scope := reader, writer, "clinical_data:read"
			if q.method != "GET" {
				may, mayNot, scope = writer, reader, "clinical_data:write"
			}
			for _, c := range []*caller{mayNot, neither} {
				if got := c.send(q.method, q.path, q.body).fault(http.StatusForbidden, fault.Forbidden)["required_scope"]; got != scope {
					t.Errorf("%s %s: required %v", q.method, q.path, got)
				}
			}
			if r := may.send(q.method, q.path, q.body); r.status/100 != 2 {
				t.Errorf("%s %s: %d %s", q.method, q.path, r.status, r.body)
			}
		}
	})
}

// Of many who add the same name, in other letters each, one does.
func TestAliasesOfOneName(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for round := range 5 {
			statuses := make([]int, 6)
			var group sync.WaitGroup
			for i := range statuses {
				group.Go(func() {
					name := []string{"blue pills", "BLUE PILLS", "blue-pills", "Blue (pills)", "blue  pills", "blue.pills "}[i]
					statuses[i] = c.post(aliasesPath, aliasBody(fmt.Sprint(name, " ", round), "7804")).status
				})
			}
			group.Wait()
			made := 0
			for _, status := range statuses {
				if status == http.StatusCreated {
					made++
				} else if status != http.StatusConflict {
					t.Errorf("status %d", status)
				}
			}
			if made != 1 {
				t.Errorf("%d aliases of one name: %v", made, statuses)
			}
		}
	})
}

// stock is a month's supply of a medicine that only its alias makes known: 180
// tablets in 30 days, 6 a day. Of oxycodone 10 mg that is 60 mg a day, and 90
// MME by the factor 1.5.
const stock = `{"data_type":"medications","recorded_at":%q,"value":{"name":"House Stock no. 4","quantity":180,"days_supply":30}}`

// Stored data, and everything derived from it, follows an alias that is added,
// changed and removed; 1049683 is oxycodone 10 mg tablets.
func TestAliasesChangeWhatIsStored(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, stranger := n.caller("north"), n.caller("south")
		now := n.clock.now().UTC().Format("2006-01-02T15:04:05Z")
		taken := fmt.Sprintf(stock, now)
		id, theirs := c.create("Arlo Finch"), stranger.create("Wren Sparrow")
		record := c.add(id, taken).is(http.StatusCreated).json()["id"].(string)
		stranger.add(theirs, taken).is(http.StatusCreated)

		derived := func(c *caller, patient string) map[string]any {
			t.Helper()
			return c.get(dataOf(patient) + "?data_type=medications").data()[0]["value"].(map[string]any)["derived"].(map[string]any)
		}
		// unknown checks everything derived from an unclassified medicine.
		unknown := func(c *caller, patient string, patients float64) {
			t.Helper()
			if d := derived(c, patient); d["drug_class"] != "unclassified" || d["basis"] != "none" || d["alias_code"] != nil {
				t.Errorf("derived %v", d)
			}
			if s := c.summary(patient, ""); !s.MME.Incomplete || s.MME.Current != nil {
				t.Errorf("the summary is complete: %+v", s.MME)
			}
			if exposed, undetermined := population(c); exposed != 0.0 || undetermined != patients {
				t.Errorf("%v patients with opioids, %v undetermined", exposed, undetermined)
			}
		}
		unknown(c, id, 1)

		alias := c.alias("house stock, no 4", "1049683")
		n.rederive()
		d := derived(c, id)
		if d["drug_class"] != "opioid" || d["basis"] != "alias" || d["alias_code"] != "1049683" || d["mme_per_day"] != 90.0 || fmt.Sprint(d["ingredients"]) != "[oxycodone]" {
			t.Errorf("derived %v", d)
		}
		s := c.summary(id, "")
		if s.MME.Incomplete || s.MME.Current == nil || *s.MME.Current != 90 {
			t.Errorf("summary %+v", s.MME)
		}
		if exposed, undetermined := population(c); exposed != 1.0 || undetermined != 0.0 {
			t.Errorf("%v patients with opioids, %v undetermined", exposed, undetermined)
		}
		if alerts, _ := c.alerts("", 1); len(alerts) != 1 || alerts[0] != "high_dose_opioid critical 90 "+id {
			t.Errorf("alerts %q", alerts)
		}
		if lines := c.get("/v1/audit?action=clinical_data.derive&patient_id=" + id).data(); len(lines) != 1 || lines[0]["client_id"] != "service" || !strings.Contains(fmt.Sprint(lines[0]["details"]), "medications:1") {
			t.Errorf("audit %v", lines)
		}
		look := func(c *caller) map[string]any {
			return c.get("/v1/reference/medications/lookup?name=House+stock+No.4").is(http.StatusOK).json()["data"].(map[string]any)
		}
		if got := look(c); got["basis"] != "alias" || got["alias_code"] != "1049683" || got["class"] != "opioid" || !strings.Contains(fmt.Sprint(got["why"]), "By an alias") {
			t.Errorf("lookup %v", got)
		}

		// New records, batches and corrections use it at once.
		fresh := c.create("Mila Reed")
		c.add(fresh, batchOf(`{"data_type":"pain_scores","value":4}`, taken)).is(http.StatusCreated)
		if d := derived(c, fresh); d["basis"] != "alias" || d["mme_per_day"] != 90.0 {
			t.Errorf("a batch gives %v", d)
		}
		corrected := c.post(correctionsOf(id, record), `{"value":{"name":"HOUSE STOCK NO 4","quantity":60,"days_supply":30}}`).is(http.StatusCreated)
		if !strings.Contains(string(corrected.body), `"basis":"alias"`) || !strings.Contains(string(corrected.body), `"mme_per_day":30,`) {
			t.Errorf("a correction gives %s", corrected.body)
		}

		// Another organisation has nothing of it.
		unknown(stranger, theirs, 1)
		if got := look(stranger); got["class"] != "unclassified" || got["alias_code"] != nil {
			t.Errorf("lookup of another organisation: %v", got)
		}
		if lines := stranger.get("/v1/audit?action=clinical_data.derive").data(); len(lines) != 0 {
			t.Errorf("their audit log has %v", lines)
		}

		// Another code, then none: 7804 alone has no strength.
		c.send("PATCH", aliasesPath+"/"+alias, `{"rxnorm_code":"7804"}`).is(http.StatusOK)
		n.rederive()
		if d := derived(c, fresh); d["basis"] != "alias" || d["mme_per_day"] != nil || d["mme_excluded_reason"] == nil {
			t.Errorf("by its ingredient: %v", d)
		}
		c.send("DELETE", aliasesPath+"/"+alias, "").is(http.StatusNoContent)
		n.rederive()
		unknown(c, id, 2)
		if problems, _, err := n.store.System().CheckDerived(t.Context(), false, func(string, int64, int64) {}); err != nil || len(problems) > 0 {
			t.Errorf("%q, %v", problems, err)
		}
	})
}

func init() {
	const one = aliasesPath + "/{id}"
	of := func(south *caller, route string) (id string, north *caller) {
		north = south.caller("north of " + route)
		return north.alias("blue pills", "1049621"), north
	}
	maps.Copy(strangers, map[string]func(t *testing.T, south *caller, id string){
		"GET " + aliasesPath: func(t *testing.T, south *caller, _ string) {
			of(south, "GET "+aliasesPath)
			if r := south.get(aliasesPath); len(r.data()) != 0 || r.pagination()[2] != 0 {
				t.Errorf("%s", r.body)
			}
		},
		"POST " + aliasesPath: func(t *testing.T, south *caller, _ string) {
			theirs, north := of(south, "POST "+aliasesPath)
			if own := south.alias("Blue Pills", "7804"); own == theirs {
				t.Errorf("%s is of both", own)
			}
			if got := north.get(aliasesPath + "/" + theirs).json()["rxnorm_code"]; got != "1049621" {
				t.Errorf("theirs became %v", got)
			}
		},
	})
	for route, body := range map[string]string{"GET " + one: "", "PATCH " + one: `{"rxnorm_code":"7804"}`, "DELETE " + one: ""} {
		strangers[route] = func(t *testing.T, south *caller, _ string) {
			id, north := of(south, route)
			before := north.get(aliasesPath + "/" + id).is(http.StatusOK)
			method, _, _ := strings.Cut(route, " ")
			south.send(method, aliasesPath+"/"+id, body).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "alias", "id": id})
			if after := north.get(aliasesPath + "/" + id).is(http.StatusOK); string(after.body) != string(before.body) {
				t.Errorf("%s: the alias became %s", route, after.body)
			}
		}
	}
}
