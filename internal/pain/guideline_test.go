package pain

import (
	"math"
	"testing"

	"anodyne.example/anodyne/internal/pain/drug"
)

func TestOutsideGuideline(t *testing.T) {
	for _, c := range []struct {
		code, status, category string
		want                   bool
	}{
		{"C50.9", "", "", true}, {"C50.9", "active", "medical", true}, {"C50.9", "recurrence", "", true}, {"C50.9", "relapse", "", true},
		{"C50.9", "resolved", "", false}, {"C50.9", "remission", "", false}, {"C50.9", "inactive", "", false}, {"C50.9", "active", "family", false},
		{"C00", "", "", true}, {"C96.9", "", "", true}, {"C7A.00", "", "", true}, {"C97", "", "", false},
		{"D57.1", "", "", true}, {"D56.1", "", "", false}, {"Z51.5", "", "", true}, {"Z51.0", "", "", false}, {"M54.50", "", "", false}, {"", "", "", false},
	} {
		coded := Coded{ICD10Code: c.code, Status: c.status, Category: c.category}
		if got := coded.OutsideGuideline(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestBegins(t *testing.T) {
	for onset, want := range map[string]drug.Day{
		"1970": 0, "1970-02": 31, "1970-02-03": 33, "": math.MinInt32, "long ago": math.MinInt32,
	} {
		if got := (&Coded{OnsetDate: onset}).Begins(); got != want {
			t.Errorf("%q: %d, want %d", onset, got, want)
		}
	}
}

func TestExemption(t *testing.T) {
	for code, want := range map[string]Exemption{"C00": Cancer, "C96.9": Cancer, "D57.1": SickleCell, "Z51.5": Palliative} {
		if got, ok := (&Coded{ICD10Code: code}).Exemption(); !ok || got != want {
			t.Errorf("%s: %d %v, want %d", code, got, ok, want)
		}
		if _, ok := (&Coded{ICD10Code: code, Status: "resolved"}).Exemption(); ok {
			t.Errorf("%s is resolved, and counts", code)
		}
	}
}
