package fhir

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/instrument"
)

// Every instrument that is scored from items has a Questionnaire without
// wording, and answers by its linkIds and by its LOINC codes are scored.
func TestQuestionnaires(t *testing.T) {
	var m Mapping
	list := m.Questionnaires()
	for _, info := range instrument.All() {
		if info.TotalOnly {
			continue
		}
		if len(list) == 0 {
			t.Fatalf("no questionnaire for %s", info.Name)
		}
		var q Questionnaire
		if err := json.Unmarshal(list[0].JSON, &q); err != nil {
			t.Fatal(err)
		}
		list = list[1:]
		if len(q.Item) != info.Items || m.instrumentOf(q.URL) == nil || m.instrumentOf(q.URL).Name != info.Name {
			t.Errorf("%s: %d items, URL %s", info.Name, len(q.Item), q.URL)
		}
		for i, item := range q.Item {
			if item.Text != "Item "+item.LinkID || itemOf(&info, item.LinkID) != i {
				t.Errorf("%s: item %d is %+v", info.Name, i, item)
			}
			for _, code := range item.Code {
				if itemOf(&info, code.Code) != i || itemOf(&info, "/"+code.Code) != i {
					t.Errorf("%s: the code of item %d is not that of another", info.Name, i)
				}
			}
		}
	}
	if len(list) > 0 {
		t.Errorf("questionnaires for instruments that are not scored: %s", list[0].JSON)
	}
}

// A correction of the score alone leaves the answers as they are.
func TestCorrectScore(t *testing.T) {
	rec := newRecord(t, `{"data_type":"assessments","recorded_at":"2024-03-04","value":{"instrument":"peg","items":{"1":6,"2":7,"3":5}}}`)
	list, err := Mapping{}.Record(&rec, Version{Number: 1})
	if err != nil || len(list) != 2 || list[1].Type != "Observation" {
		t.Fatalf("%v, %v", err, list)
	}
	d, issues := Mapping{}.Read(list[1].JSON)
	if d == nil {
		t.Fatal(issues)
	}
	body, err := d.Correction(&rec, "")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(body), `"items":{"1":6,"2":7,"3":5}`) {
		t.Errorf("the correction is %s", body)
	}
	var value struct{ Value json.RawMessage }
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatal(err)
	}
	if again := newRecord(t, `{"data_type":"assessments","recorded_at":"2024-03-04","value":`+string(value.Value)+`}`); again.Value != rec.Value || rec.Type != pain.TypeAssessments {
		t.Errorf("it becomes %s", again.Value.JSON())
	}
}

// The page about FHIR lists the codes that are written.
func TestDocumentedCodes(t *testing.T) {
	page, err := os.ReadFile("../../docs/fhir.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := []string{progressNote}
	for _, info := range instrument.All() {
		codes = append(append(codes, info.LOINC.Score, panelCode(&info)), codesOfItems(&info)...)
	}
	for _, c := range append(slices.Clone(eventCodes), procedureCodes...) {
		codes = append(codes, c.ours, c.code)
	}
	for _, code := range scaleLOINC {
		codes = append(codes, code)
	}
	for _, s := range signs {
		codes = append(codes, s.codes...)
		for _, f := range s.fields {
			codes = append(codes, f.loinc)
		}
	}
	for _, m := range append(slices.Clone(sleepMeasures), activityMeasures...) {
		codes = append(codes, m.loinc)
	}
	for _, code := range codes {
		if !strings.Contains(string(page), code) {
			t.Errorf("docs/fhir.md does not have %s", code)
		}
	}
	for name := range readers {
		if !strings.Contains(string(page), name) {
			t.Errorf("docs/fhir.md does not have %s", name)
		}
	}
}
