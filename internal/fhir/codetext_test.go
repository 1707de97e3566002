package fhir

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/pain"
)

// Every code has a text, except other, and every text has a code.
func TestCodeTexts(t *testing.T) {
	codes := map[string][]string{dataTypeSystem: {"vitals", "sleep", "activity", "mood"}}
	for _, f := range []struct {
		dataType pain.DataType
		name     string
	}{
		{pain.TypePainScores, "scale"}, {pain.TypeProcedures, "procedure_type"}, {pain.TypeAdverseEvents, "event"},
		{pain.TypeAssessments, "instrument"},
	} {
		for _, word := range find(declaredFields(f.dataType), f.name).words {
			if word != "other" {
				codes[f.dataType.String()+"-"+f.name] = append(codes[f.dataType.String()+"-"+f.name], word)
			}
		}
	}
	for _, m := range pain.FunctionalMeasures() {
		codes["functional_status-measure"] = append(codes["functional_status-measure"], m.Name)
	}
	for _, s := range signs {
		codes["vitals"] = append(codes["vitals"], s.part)
		for _, f := range s.fields {
			if f.loinc != "" {
				codes["vitals"] = append(codes["vitals"], f.name)
			}
		}
	}
	for name, measures := range map[string][]measure{"sleep": sleepMeasures, "activity": activityMeasures} {
		for _, m := range measures {
			codes[name] = append(codes[name], m.name)
		}
	}
	for system, texts := range codeTexts {
		if have, want := slices.Sorted(maps.Keys(texts)), slices.Sorted(slices.Values(codes[system])); !slices.Equal(have, want) {
			t.Errorf("%s: texts of %v, codes %v", system, have, want)
		}
	}
}

func TestCodeTextIsWritten(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"data_type":"pain_scores","value":5}`, "Pain intensity, numeric rating scale"},
		{`{"data_type":"pain_scores","value":{"score":2,"scale":"vrs4"}}`, "Pain intensity, verbal rating scale with four words"},
		{`{"data_type":"vitals","value":{"heart_rate":70}}`, "Heart rate"},
		{`{"data_type":"sleep","value":{"hours":7}}`, "Sleep"},
		{`{"data_type":"functional_status","value":{"measure":"tug_s","value":12}}`, "Timed up and go test"},
		{`{"data_type":"functional_status","value":{"measure":"grip_kg","value":12}}`, ""},
		{`{"data_type":"assessments","value":{"instrument":"odi","score":35.5}}`, "Oswestry Disability Index"},
		{`{"data_type":"procedures","value":{"procedure_type":"cbt"}}`, "Cognitive behavioural therapy"},
		{`{"data_type":"procedures","value":{"procedure_type":"other"}}`, ""},
		{`{"data_type":"adverse_events","value":{"event":"pruritus"}}`, "Itching"},
	} {
		rec := newRecord(t, c.body)
		list, err := Mapping{}.Record(&rec, Version{Number: 1})
		if err != nil {
			t.Fatal(err)
		}
		var r struct{ Code, Event CodeableConcept }
		if err := json.Unmarshal(list[0].JSON, &r); err != nil {
			t.Fatal(err)
		}
		if got := r.Code.Text + r.Event.Text; got != c.want {
			t.Errorf("%s: %q, want %q", c.body, got, c.want)
		}
	}
}
