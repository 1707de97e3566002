package pain

import (
	"fmt"
	"testing"

	"anodyne.example/anodyne/internal/fault"
)

func TestMergePatients(t *testing.T) {
	back, knee := HistoryEntry{Condition: "Low back pain", ICD10Code: "M54.50"}, HistoryEntry{Condition: "Knee"}
	from := Patient{Name: "Ada", MedicalHistory: NewHistory(HistoryEntry{Condition: "LOW back pain", ICD10Code: "M54.50"}, knee, knee)}
	into := Patient{Name: "Ada B.", Gender: "female", Version: 3, MedicalHistory: NewHistory(back)}
	merged, lost, gained, err := MergePatients(from, into)
	if err != nil || merged.Name != into.Name || merged.Gender != "female" || merged.Version != 4 || merged.MedicalHistory != NewHistory(back, knee) {
		t.Errorf("merged %+v, %v", merged, err)
	}
	if len(gained) != 1 || gained[0].Field != "medical_history" || len(lost) != 2 || lost[0] != (Change{"name", "Ada", ""}) {
		t.Errorf("lost %v, gained %v", lost, gained)
	}
	if again, _, gained, err := MergePatients(from, merged); err != nil || again != merged || len(gained) != 0 {
		t.Errorf("nothing new: %+v, %v, %v", again, gained, err)
	}
}

func TestMergedIdentifiers(t *testing.T) {
	one := func(value string) Identifier { return Identifier{"mrn", value} }
	from, into := Patient{Identifiers: NewIdentifiers(one("1"))}, Patient{Identifiers: NewIdentifiers(one("2")), Version: 1}
	merged, lost, gained, err := MergePatients(from, into)
	if err != nil || merged.Identifiers != NewIdentifiers(one("2"), one("1")) || merged.Version != 2 || len(lost) != 1 || len(gained) != 1 {
		t.Errorf("%+v, %v, %v, %v", merged, lost, gained, err)
	}
	if merged, _, _, err := MergePatients(Patient{}, into); err != nil || merged != into {
		t.Errorf("nothing to add: %+v, %v", merged, err)
	}
	var many []Identifier
	for i := range MaxIdentifiers {
		many = append(many, one(fmt.Sprint("x", i)))
	}
	if _, _, _, err := MergePatients(Patient{Identifiers: NewIdentifiers(many...)}, into); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("too many: %v", err)
	}
}

func TestMergedHistoryIsBounded(t *testing.T) {
	history := func(word string) History {
		entries := make([]HistoryEntry, 300)
		for i := range entries {
			entries[i].Condition = fmt.Sprint(word, i)
		}
		return NewHistory(entries...)
	}
	_, _, _, err := MergePatients(Patient{MedicalHistory: history("a")}, Patient{MedicalHistory: history("b")})
	if fault.CodeOf(err) != fault.Conflict {
		t.Errorf("600 entries: %v", err)
	}
}
