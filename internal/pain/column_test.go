package pain

import (
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/strictjson"
)

// Every column says what happens to it when data is de-identified, and a new
// data type cannot be exported without.
func TestEveryColumnDeclaresItsPrivacy(t *testing.T) {
	t.Parallel()
	for _, of := range DataTypes() {
		columns := Columns(of.Type)
		if len(columns) == 0 {
			t.Errorf("%s has no columns", of.Name)
		}
		for _, c := range columns {
			if !c.Privacy.Decided() {
				t.Errorf("%s.%s: declare what happens to it when data is de-identified", of.Name, c.Name)
			}
			if (c.Privacy == KeptIfKnown) != (len(c.Words) > 0) {
				t.Errorf("%s.%s: KeptIfKnown needs words, and nothing else does", of.Name, c.Name)
			}
			if c.Privacy == DaysOnly != (c.Type == DateColumn || c.Name == "onset" || c.Name == "resolved") {
				t.Errorf("%s.%s: dates, and nothing else, become days", of.Name, c.Name)
			}
		}
	}
	for _, f := range TextFields() {
		if !f.Privacy.Decided() {
			t.Errorf("%s: declare what happens to it when data is de-identified", f.Name)
		}
	}
}

// The columns of a type have the fields of its schema, in the same order.
func TestColumnsFollowTheSchema(t *testing.T) {
	t.Parallel()
	for _, of := range DataTypes() {
		schema := string(StoredSchema(of.Type))
		at := 0
		for _, c := range Columns(of.Type) {
			name := c.Name
			for _, prefix := range []string{"derived_", "breakthrough_"} {
				name = strings.TrimPrefix(name, prefix)
			}
			if strings.HasPrefix(name, "item_") {
				name = "items"
			}
			name = strings.TrimSuffix(name, "_text")
			found := strings.Index(schema[at:], `"`+name+`":`)
			if found < 0 {
				t.Errorf("%s.%s is not in the schema after the columns before it", of.Name, c.Name)
				continue
			}
			if name != "items" && name != "value" {
				at += found
			}
		}
	}
}

func TestAppendCells(t *testing.T) {
	t.Parallel()
	cells := func(of DataType, value string) map[string]Cell {
		t.Helper()
		if _, err := strictjson.Parse([]byte(value)); err != nil {
			t.Fatal(err)
		}
		row, err := AppendCells(nil, of, StoredValue(value))
		if err != nil {
			t.Fatal(err)
		}
		columns := Columns(of)
		if len(row) != len(columns) {
			t.Fatalf("%d cells for %d columns", len(row), len(columns))
		}
		byName := map[string]Cell{}
		for i, c := range columns {
			if row[i].Set {
				byName[c.Name] = row[i]
			}
		}
		return byName
	}
	score := cells(TypePainScores, `{"scale":"nrs","score":7,"aspect":"average","quality":["burning","dull"],"breakthrough":{"peak":9},"derived":{"normalized":7,"severity":"severe","scheme":"nrs_4_7"}}`)
	if score["score"].Number != 7 || score["scale"].Text != "nrs" || score["breakthrough_peak"].Number != 9 || score["derived_severity"].Text != "severe" || !slices.Equal(score["quality"].Texts, []string{"burning", "dull"}) {
		t.Errorf("%+v", score)
	}
	if _, set := score["recall"]; set {
		t.Error("an absent field is not null")
	}
	phq := cells(TypeAssessments, `{"instrument":"phq_9","items":{"1":2,"9":1},"raw_score":3,"score":null,"status":"unscorable","scored_by":"platform","derived":{"safety_flag":true}}`)
	if phq["item_1"].Number != 2 || phq["item_9"].Number != 1 || phq["item_2"].Set || phq["score"].Set || phq["derived_safety_flag"].Number != 1 {
		t.Errorf("%+v", phq)
	}
	function := cells(TypeFunctionalStatus, `{"measure":"pain_frequency","value":"most_days"}`)
	if function["value"].Set || function["value_text"].Text != "most_days" {
		t.Errorf("%+v", function)
	}
	dose := cells(TypeMedications, `{"name":"Oxycodone","start_date":"1970-01-03","derived":{"drug_class":"opioid","opioid":true,"covered_from":"1970-01-03"}}`)
	if dose["start_date"].Number != 2 || dose["derived_covered_from"].Number != 2 || dose["derived_opioid"].Number != 1 {
		t.Errorf("%+v", dose)
	}
	if _, err := AppendCells(nil, TypeSleep, StoredValue(`[]`)); err == nil {
		t.Error("a damaged value has cells")
	}
}
