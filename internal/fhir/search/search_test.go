package search

import (
	"encoding/json"
	"testing"
)

// The prefixes compare ranges, as FHIR defines them.
func TestDates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value, element string
		want           bool
	}{
		{"2026-01", `"2026-01-15"`, true}, {"2026-01-15", `"2026-01"`, false}, {"ne2026-01", `"2026-01-15"`, false},
		{"gt2026-01-15", `"2026-01-15T10:00:00Z"`, false}, {"ge2026-01-15", `"2026-01-15T10:00:00Z"`, true}, {"gt2026-01-15", `"2026-01"`, true}, {"lt2026-01-15", `"2026-01"`, true},
		{"sa2026-01-15", `"2026-01-16"`, true}, {"sa2026-01-15", `"2026-01"`, false}, {"eb2026-01-15", `"2026-01-14T23:59:59.999Z"`, true},
		{"2026-01-15T10:30", `"2026-01-15T11:30:20+01:00"`, true}, {"2026-01-15T11:30:20+01:00", `"2026-01-15T10:30:20Z"`, true}, {"2026-01-15T11:30:20 01:00", `"2026-01-15T10:30:20Z"`, true},
		{"le2026", `{"start":"2025-12-31"}`, true}, {"eb2026", `{"start":"2025-12-31"}`, false}, {"ge2030", `{"start":"2025"}`, true}, {"2025", `{"start":"2025-01","end":"2025-12"}`, true},
		{"2026-01-15T10:30:00.123Z", `"2026-01-15T10:30:00.123Z"`, true}, {"2026-01-15T10:30:00Z", `"2026-01-15T10:30:00.999Z"`, true},
	} {
		q := Query{Type: "Observation"}
		if err := q.Add("date", test.value, ""); err != nil {
			t.Errorf("%s: %v", test.value, err)
			continue
		}
		var element any
		if err := json.Unmarshal([]byte(test.element), &element); err != nil {
			t.Fatal(err)
		}
		name := "effectiveDateTime"
		if _, period := element.(map[string]any); period {
			name = "effectivePeriod"
		}
		if got := q.Matches(map[string]any{name: element}); got != test.want {
			t.Errorf("date=%s and %s: %v", test.value, test.element, got)
		}
	}
	for _, wrong := range []string{"", "x", "2026-13", "2026-02-30", "ap2026", "2026-1", "2026-01-15T25:00", "20260115", "ge"} {
		if q := (Query{Type: "Observation"}); q.Add("date", wrong, "") == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
}

// Separators in values are escaped by a backslash.
func TestEscapes(t *testing.T) {
	t.Parallel()
	resource := map[string]any{"identifier": []any{map[string]any{"system": "a|b", "value": "1,2"}}}
	for value, want := range map[string]bool{`a\|b|1\,2`: true, `a|b|1`: false, `1\,2`: true, `1,2`: false, `x,1\,2`: true, `a\|b|`: true} {
		q := Query{Type: "Patient"}
		if err := q.Add("identifier", value, ""); err == nil && q.Matches(resource) != want {
			t.Errorf("%s: %v", value, !want)
		} else if err != nil && want {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// Every type has parameters, and every kind its modifiers.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	for _, name := range Types() {
		seen := map[string]bool{}
		for _, p := range Parameters(name) {
			if seen[p.Name] || len(p.Paths) == 0 || modifiers[p.Kind] == nil {
				t.Errorf("%s: parameter %s", name, p.Name)
			}
			seen[p.Name] = true
		}
		if len(seen) < 4 {
			t.Errorf("%s has %d parameters", name, len(seen))
		}
	}
}
