package pain

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever the texts are, the codes are those that decoding gives.
func TestCodesAreThoseOfTheEntries(t *testing.T) {
	text := rapid.OneOf(
		rapid.StringOfN(rapid.SampledFrom([]rune(`a,{}":\[]`)), 0, 12, -1),
		rapid.SampledFrom([]string{`{"condition":"`, `,"icd10_code":"C50`, `","icd10_code":"C50"`, `\","status":"active`, `},{"condition":"x","icd10_code":"C50"`, "\\", ","}),
	)
	maybe := func(values ...string) *rapid.Generator[string] { return rapid.SampledFrom(append(values, "", "")) }
	entry := rapid.Custom(func(t *rapid.T) HistoryEntry {
		return HistoryEntry{
			Condition: "x" + text.Draw(t, "condition"), ICD10Code: maybe("M54.50", "C50", "G89.4").Draw(t, "code"), SNOMEDCode: text.Draw(t, "snomed"),
			OnsetDate: maybe("2019", "2019-06").Draw(t, "onset"), Status: maybe(historyStatuses...).Draw(t, "status"), Severity: text.Draw(t, "severity"),
			Category: maybe(historyCategories...).Draw(t, "category"), Notes: text.Draw(t, "notes"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		h := NewHistory(rapid.SliceOfN(entry, 0, 4).Draw(t, "entries")...)
		entries, err := h.Entries()
		if err != nil {
			t.Fatal(err)
		}
		var want, got []Coded
		for _, e := range entries {
			if e.ICD10Code != "" {
				want = append(want, Coded{e.ICD10Code, e.OnsetDate, e.Status, e.Category})
			}
		}
		h.Codes(func(c Coded) { got = append(got, c) })
		if !slices.Equal(got, want) {
			t.Fatalf("%s\nhas %+v\nnot %+v", h.JSON(), want, got)
		}
	})
}
