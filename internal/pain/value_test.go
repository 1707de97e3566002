package pain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"anodyne.example/anodyne/internal/id"
)

// valueCase is a value as sent, and the result: its stored form, or the
// errors.
type valueCase struct {
	value string
	want  string // the value as printed, or "path value message" of each fault
	// beyond is set when a schema judges otherwise: null and "" for absent,
	// short forms, rules that a schema cannot express.
	beyond bool
}

var valueCases = map[DataType][]valueCase{
	TypePainScores: painScoreCases, TypeMedications: medicationCases, TypeAssessments: assessmentCases, TypeProcedures: procedureCases,
	TypeFunctionalStatus: functionalCases, TypeSleep: sleepCases, TypeMood: moodCases, TypeActivity: activityCases,
	TypeAdverseEvents: adverseCases, TypeVitals: vitalsCases, TypeLabs: labCases, TypeNotes: noteCases,
}

var (
	testRecordID = id.New[id.RecordKind](testNow)
	testIntake   = Intake{PatientID: testID, Birth: Date{1961, 3, 14}, NewID: func() id.Record { return testRecordID }, Now: testNow}
)

// take makes a record and returns its value or its faults.
func take(t testing.TB, dataType DataType, value string) (printed string, faults []string) {
	t.Helper()
	records, _, err := NewRecords(parse(t, `{"data_type":"`+dataType.String()+`","recorded_at":"2024-05-01","value":`+value+`}`), testIntake)
	if err != nil {
		return "", noted(t, err)
	}
	return records[0].Value.JSON(), nil
}

// mustTake is take for values that are in order.
func mustTake(t testing.TB, dataType DataType, value string) Value {
	t.Helper()
	printed, faults := take(t, dataType, value)
	if faults != nil {
		t.Fatalf("%s: %q", value, faults)
	}
	return StoredValue(printed)
}

func TestValues(t *testing.T) {
	for _, info := range DataTypes() {
		cases := valueCases[info.Type]
		if len(cases) == 0 {
			t.Errorf("no cases for %s", info.Name)
		}
		for _, c := range cases {
			t.Run(info.Name+" "+c.value, func(t *testing.T) {
				printed, faults := take(t, info.Type, c.value)
				if got := printed + strings.Join(faults, "; "); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			})
		}
	}
}

// A value that is not an object is rejected for every type.
func TestValueMustBeAnObject(t *testing.T) {
	for _, info := range DataTypes() {
		for _, value := range []string{`[]`, `"7"`, `true`} {
			if _, faults := take(t, info.Type, value); len(faults) != 1 || !strings.HasPrefix(faults[0], "value "+value+" value must be an object") {
				t.Errorf("%s %s: %q", info.Name, value, faults)
			}
		}
		if _, faults := take(t, info.Type, `null`); len(faults) != 1 || faults[0] != "value null value is required." {
			t.Errorf("%s: %q", info.Name, faults)
		}
		if _, faults := take(t, info.Type, `{"derived":{},"colour":1}`); !strings.Contains(strings.Join(faults, "\n"), "value.colour 1 Unknown field.") {
			t.Errorf("%s: %q", info.Name, faults)
		}
	}
}

// The published schemas and the rules say the same.
func TestSchemas(t *testing.T) {
	for _, info := range DataTypes() {
		sent, stored := compile(t, Schema(info.Type)), compile(t, StoredSchema(info.Type))
		for _, c := range valueCases[info.Type] {
			t.Run(info.Name+" "+c.value, func(t *testing.T) {
				err := validate(t, sent, c.value)
				if strings.HasPrefix(c.want, "{") {
					if err != nil && !c.beyond {
						t.Errorf("taken, but not by the schema: %v", err)
					}
					if err := validate(t, stored, c.want); err != nil {
						t.Errorf("the answer does not fit its schema: %v", err)
					}
					if err := validate(t, sent, sentPart(t, info.Type, c.want)); err != nil {
						t.Errorf("the answer's sent part does not fit the schema: %v", err)
					}
				} else if (err == nil) != c.beyond {
					t.Errorf("refused; the schema says: %v", err)
				}
			})
		}
	}
	if Schema(0) != nil || StoredSchema(99) != nil {
		t.Error("a schema of no type")
	}
}

func compile(t testing.TB, text json.RawMessage) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("value.json", doc); err != nil {
		t.Fatal(err)
	}
	return compiler.MustCompile("value.json")
}

func validate(t testing.TB, schema *jsonschema.Schema, value string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(doc)
}

// sentPart is a printed value without what the service worked out.
func sentPart(t testing.TB, dataType DataType, printed string) string {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(printed), &members); err != nil {
		t.Fatalf("%v in %s", err, printed)
	}
	_, hasItems := members["items"]
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool {
		switch name {
		case "derived":
			return true
		case "raw_score", "band", "status", "scored_by":
			return dataType == TypeAssessments
		case "score":
			return hasItems
		}
		return false
	})
	sent, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(sent)
}

// A value that was once accepted can always be read, whatever the current
// rules.
func TestReadStoredByOldRules(t *testing.T) {
	s, err := ReadPainScore(StoredValue(`{"scale":"nrs-21","score":200,"quality":["heavy","heavy"],"gone":1,"derived":{"severity":"awful","gone":1}}`))
	if err != nil || s.Scale != "nrs-21" || s.Score != Some(200.0) || len(s.Quality) != 2 || s.Derived.Severity != "awful" {
		t.Errorf("got %+v, %v", s, err)
	}
	m, err := ReadMedication(StoredValue(`{"name":" x ","rxnorm_code":"RX","derived":{"mme_per_day":null,"covered_from":"2024-01-01"}}`))
	if _, known := m.Derived.MMEPerDay.Get(); err != nil || m.RxNormCode != "RX" || known || m.Derived.CoveredFrom.Year != 2024 {
		t.Errorf("got %+v, %v", m, err)
	}
}

// What is stored can be read back and prints the same.
func TestReadStored(t *testing.T) {
	for dataType, cases := range valueCases {
		for _, c := range cases {
			if !strings.HasPrefix(c.want, "{") {
				continue
			}
			if got, err := reprint(dataType, StoredValue(c.want)); err != nil || got != c.want {
				t.Errorf("%s %s read back: %s, %v", dataType, c.want, got, err)
			}
		}
		if got, err := reprint(dataType, StoredValue("x")); err == nil {
			t.Errorf("%s: nonsense gives %s", dataType, got)
		}
	}
}

func reprint(dataType DataType, stored Value) (string, error) {
	switch dataType {
	case TypePainScores:
		return again(&painScores, ReadPainScore, stored)
	case TypeMedications:
		return again(&medications, ReadMedication, stored)
	case TypeAssessments:
		return again(&assessments, ReadAssessment, stored)
	case TypeProcedures:
		return again(&procedures, ReadProcedure, stored)
	case TypeFunctionalStatus:
		return again(&functionalStatuses, ReadFunctionalStatus, stored)
	case TypeSleep:
		return again(&sleeps, ReadSleep, stored)
	case TypeMood:
		return again(&moods, ReadMood, stored)
	case TypeActivity:
		return again(&activities, ReadActivity, stored)
	case TypeAdverseEvents:
		return again(&adverseEvents, ReadAdverseEvent, stored)
	case TypeVitals:
		return again(&vitalSigns, ReadVitals, stored)
	case TypeLabs:
		return again(&labs, ReadLab, stored)
	case TypeNotes:
		return again(&notes, ReadNote, stored)
	}
	return "", fmt.Errorf("no reader for %d", dataType)
}

func again[T any](k *kind[T], read func(Value) (T, error), stored Value) (string, error) {
	v, err := read(stored)
	if err != nil {
		return "", err
	}
	return string(appendMembers(nil, k.members, &v)), nil
}
