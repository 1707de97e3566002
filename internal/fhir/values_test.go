package fhir

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/fhir/fhirtest"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
)

// drawRecord returns a random record of a type that package pain accepts.
func drawRecord(t *rapid.T, dataType pain.DataType, must string) (pain.Record, bool) {
	_, rec, ok := fhirtest.DrawRecord(t, dataType, must, testIntake())
	return rec, ok
}

func tryRecord(body map[string]any) (pain.Record, []string) {
	return fhirtest.TryRecord(body, testIntake())
}

func testIntake() pain.Intake {
	return pain.Intake{PatientID: testPatient, NewID: func() id.Record { return id.New[id.RecordKind](testNow) }, Now: testNow}
}

var testPatient = id.New[id.PatientKind](testNow)

// Random records survive the way out and in.
func TestRandomRecords(t *testing.T) {
	for _, info := range pain.DataTypes() {
		if mappings[info.Type] == nil {
			continue
		}
		t.Run(info.Name, func(t *testing.T) {
			valid := 0
			rapid.Check(t, func(t *rapid.T) {
				rec, ok := drawRecord(t, info.Type, "")
				if !ok {
					return
				}
				valid++
				if again, shown := outAndIn(t, &rec); !sameRecord(&again, &rec) {
					t.Fatalf("sent %+v\nback %+v\nby %s", rec, again, shown)
				}
				list, err := (Mapping{}).Record(&rec, Version{Root: rec.ID, Number: 1, LastUpdated: rec.CreatedAt})
				if err != nil || !HasParts(info.Type) && (len(list) != 1 || list[0].ID != resourceID(rec.ID)) {
					t.Fatalf("%d resources, %v, of a type without parts", len(list), err)
				}
			})
			if valid < 10 {
				t.Errorf("only %d of the drawn records were valid", valid)
			}
		})
	}
}

// Every declared field that a caller may send survives the way out and in.
func TestEveryDeclaredField(t *testing.T) {
	for _, info := range pain.DataTypes() {
		if mappings[info.Type] == nil {
			continue
		}
		for _, field := range declaredFields(info.Type) {
			if field.computed {
				continue
			}
			t.Run(info.Name+" "+field.name, func(t *testing.T) {
				drawn := rapid.Custom(func(t *rapid.T) *pain.Record {
					rec, ok := drawRecord(t, info.Type, field.name)
					if !ok || !strings.Contains(rec.Value.JSON(), `"`+field.name+`":`) {
						return nil
					}
					return &rec
				})
				tried := 0
				for seed := 0; seed < 200 && tried < 5; seed++ {
					if rec := drawn.Example(seed); rec != nil {
						tried++
						if again, shown := outAndIn(t, rec); again.Value != rec.Value {
							t.Fatalf("sent %s\nback %s\nby %s", rec.Value.JSON(), again.Value.JSON(), shown)
						}
					}
				}
				if tried == 0 {
					t.Fatal("no valid record with this field was drawn")
				}
			})
		}
	}
}
