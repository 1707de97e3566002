package series

import (
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/pain"
)

// Records of the types in a series are read, which an invalid value proves;
// those of other types are not.
func TestEveryTypeIsTaken(t *testing.T) {
	for _, kind := range pain.DataTypes() {
		err := new(Series).Add(&pain.Record{Type: kind.Type, Value: pain.StoredValue("no value")})
		if taken := err != nil; taken != Takes(kind.Type) || taken != slices.Contains(Types, kind.Type) {
			t.Errorf("%s is read: %v, is one of the types: %v", kind.Name, taken, Takes(kind.Type))
		}
	}
}

// Each status of a medicine is known to cover its days, to have ended, or to
// cover none; one that is added is judged here first.
func TestEveryMedicationStatusIsJudged(t *testing.T) {
	ended := map[string]bool{"active": false, "unknown": false, "on-hold": true, "completed": true, "stopped": true}
	nothing := []string{"cancelled", "draft", "entered-in-error"}
	for code := 1; MedicationStatus(code).String() != ""; code++ {
		status := MedicationStatus(code).String()
		over, covers := ended[status]
		if covers == slices.Contains(nothing, status) {
			t.Errorf("%s is not judged", status)
			continue
		}
		v := pain.Medication{Status: status}
		if v.Open() != covers {
			t.Errorf("%s covers days: %v", status, v.Open())
		}
		if m := (Medication{Status: MedicationStatus(code)}); covers && m.Ended() != over {
			t.Errorf("%s has ended: %v", status, m.Ended())
		}
	}
}
