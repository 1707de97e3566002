package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
)

// values has a value of each type, and what the service derives of it.
var values = map[string]struct{ value, derived string }{
	"pain_scores":       {`{"scale":"fps_r","score":8,"aspect":"worst","recall":"24h","body_site":"knee","laterality":"left","quality":["burning","dull"],"breakthrough":{"episodes_24h":2,"peak":9,"duration_min":30,"trigger":"incident"},"context":"movement"}`, `"severity":"severe"`},
	"medications":       {`{"name":"oxycodone","rxnorm_code":"7804","strength":10,"strength_unit":"mg","quantity":60,"days_supply":30,"frequency":"BID","route":"oral","status":"active"}`, `"mme_per_day":30`},
	"assessments":       {`{"instrument":"peg","items":{"1":6,"2":7,"3":5}}`, `"score":6`},
	"procedures":        {`{"procedure_type":"nerve_block","body_site":"lower back","pre_score":8,"post_score":3,"relief_percent":60}`, ``},
	"functional_status": {`{"measure":"tug_s","value":12.5,"unit":"s"}`, ``},
	"sleep":             {`{"hours":5.5,"quality":4,"awakenings":3,"pain_interference":7}`, ``},
	"mood":              {`{"score":6}`, ``},
	"activity":          {`{"steps":4200,"active_minutes":35}`, ``},
	"adverse_events":    {`{"event":"constipation","grade":2,"serious":false,"suspected_drug":"oxycodone"}`, ``},
	"vitals":            {`{"systolic":128,"diastolic":82,"heart_rate":71,"weight_kg":80.5}`, ``},
	"labs":              {`{"analyte":"oxycodone","method":"lcms","result":"negative","expected":"positive"}`, `"consistent":false`},
	"notes":             {`{"text":"Line one.\nLine two.","note_type":"progress"}`, ``},
}

func compile(t *testing.T, schema json.RawMessage) *jsonschema.Schema {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("value.json", parsed); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("value.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// The schemas that the service publishes hold for what it takes and answers.
func TestValuesAreAsTheirSchemasSay(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		published := c.get("/v1/reference/data-types").data()
		if len(published) != len(pain.DataTypes()) || len(values) != len(published) {
			t.Fatalf("%d types are published, %d tested, of %d", len(published), len(values), len(pain.DataTypes()))
		}
		for i, info := range pain.DataTypes() {
			schema, _ := json.Marshal(published[i]["schema"])
			stored, _ := json.Marshal(published[i]["stored_schema"])
			if published[i]["name"] != info.Name || published[i]["about"] == "" {
				t.Errorf("type %d is published as %v", i, published[i]["name"])
			}
			sent := values[info.Name]
			check(t, info.Name+" as sent", compile(t, schema), sent.value)
			answered := c.add(id, `{"data_type":"`+info.Name+`","value":`+sent.value+`}`).is(http.StatusCreated)
			value := quoteAny(answered.json()["value"])
			check(t, info.Name+" as answered", compile(t, stored), value)
			if !bytes.Contains([]byte(value), []byte(sent.derived)) {
				t.Errorf("%s lacks %s", value, sent.derived)
			}
			read := c.get(answered.header.Get("Location")).is(http.StatusOK)
			if string(read.body) != string(answered.body) {
				t.Errorf("answered %s, kept %s", answered.body, read.body)
			}
		}
	})
}

func check(t *testing.T, what string, schema *jsonschema.Schema, value string) {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(value)))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(parsed); err != nil {
		t.Errorf("%s: %v: %s", what, err, value)
	}
}

func TestReferenceTables(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		find := func(table, name string) map[string]any {
			for _, row := range c.get("/v1/reference/" + table).data() {
				if row["name"] == name {
					return row
				}
			}
			t.Fatalf("%s lacks %s", table, name)
			return nil
		}
		if peg := find("instruments", "peg"); peg["items"] != 3.0 || peg["score_max"] != 10.0 || peg["total_only"] != false || peg["licence"] == "" {
			t.Errorf("%v", peg)
		}
		if oxycodone := find("medications", "oxycodone"); oxycodone["mme_factor"] != 1.5 || oxycodone["class"] != "opioid" || oxycodone["rxnorm"] != "7804" {
			t.Errorf("%v", oxycodone)
		}
		if _, has := find("medications", "buprenorphine")["mme_factor"]; has {
			t.Error("buprenorphine has a factor")
		}
		for _, table := range []string{"data-types", "instruments", "medications"} {
			c.get("/v1/reference/"+table+"?page=1").wrong("page", "1")
			c.post("/v1/reference/"+table, `{}`).is(http.StatusMethodNotAllowed)
			n.send("GET", "/v1/reference/"+table, "").is(http.StatusUnauthorized)
		}
		c.get("/v1/reference").is(http.StatusNotFound)
	})
}

// Text is stored exactly or rejected; both engines handle it.
func TestOddText(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		for text, good := range map[string]bool{
			"Ærø 痛み 🤕": true, `back\slash "quoted" $1 ?1 '`: true, "e\u0301": true, "</script>&": true,
			"a\x00b": false, "\u2028": false, "a\x1bb": false,
		} {
			for _, member := range []string{"notes", "author", "encounter_id"} {
				r := c.add(id, `{"data_type":"notes","value":{"text":`+quote(text)+`},"`+member+`":`+quote(text)+`}`)
				if !good {
					r.fault(http.StatusBadRequest, fault.InvalidParameter)
					continue
				}
				read := c.get(r.is(http.StatusCreated).header.Get("Location")).is(http.StatusOK).json()
				if read[member] != text || read["value"].(map[string]any)["text"] != text {
					t.Errorf("%q became %q and %q", text, read[member], read["value"])
				}
			}
		}
	})
}
