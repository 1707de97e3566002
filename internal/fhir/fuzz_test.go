package fhir

import (
	"encoding/json"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// FuzzRead reads anything: every refusal says what and where, and what is
// accepted is JSON that package pain can read.
func FuzzRead(f *testing.F) {
	f.Add([]byte(goodObservation))
	for _, c := range received {
		f.Add([]byte(c.body))
	}
	c := syntheticChart(f, 2)
	seen := map[string]bool{}
	for _, r := range c.resources(f) {
		if !seen[r.Type] {
			seen[r.Type] = true
			f.Add(r.JSON)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d, issues := Mapping{}.Read(body)
		if (d == nil) != failed(issues) {
			t.Fatalf("a draft %v with issues %v", d, issues)
		}
		for _, issue := range issues {
			if issue.Code == "" || !strings.HasSuffix(issue.Text, ".") || issue.Expression == "" && issue.Code != Structure && issue.Code != TooLong {
				t.Fatalf("an issue that says too little: %+v", issue)
			}
		}
		if d == nil {
			return
		}
		for _, draft := range []json.RawMessage{d.Patient, d.History, d.Record} {
			if draft == nil {
				continue
			}
			o, err := strictjson.Parse(draft)
			if err != nil {
				t.Fatalf("%v in %s", err, draft)
			}
			if d.Record != nil {
				fuzzRecord(t, d, o, body)
			}
		}
	})
}

// fuzzRecord makes the record of a draft and maps it out again.
func fuzzRecord(t *testing.T, d *Draft, o *strictjson.Object, body []byte) {
	var fields fault.Fields
	rec := pain.NewRecord(o, &fields, testIntake())
	for _, field := range fields.All() {
		if !strings.HasPrefix(d.Path(field.Parameter), d.Type) {
			t.Fatalf("%s is at %q", field.Parameter, d.Path(field.Parameter))
		}
	}
	if !fields.OK() {
		return
	}
	list, err := Mapping{}.Record(&rec, Version{Root: rec.ID, Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if _, issues := (Mapping{}).Read(r.JSON); len(issues) > 0 {
			t.Fatalf("%v in %s", issues, r.JSON)
		}
		if r.Type == d.Type {
			Restore(r.JSON, Keep(body, r.JSON))
		}
	}
}
