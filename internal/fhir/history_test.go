package fhir

import (
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/pain"
)

// An entry that was corrected keeps the id and the kept elements of its
// Condition; one that was removed or replaced drops them.
func TestFollowHistory(t *testing.T) {
	t.Parallel()
	entry := func(text string) pain.HistoryEntry { return pain.HistoryEntry{Condition: text} }
	noted := func(text string) pain.HistoryEntry { return pain.HistoryEntry{Condition: text, Notes: "n"} }
	coded := func(text, code string) pain.HistoryEntry { return pain.HistoryEntry{Condition: text, ICD10Code: code} }
	list := func(entries ...pain.HistoryEntry) []pain.HistoryEntry { return entries }
	for _, test := range []struct {
		name          string
		before, after []pain.HistoryEntry
		want          []int
	}{
		{"reordered", list(entry("a"), entry("b"), entry("c")), list(entry("c"), entry("a"), entry("b")), []int{2, 0, 1}},
		{"added in front", list(entry("a"), entry("b")), list(entry("x"), entry("a"), entry("b")), []int{-1, 0, 1}},
		{"removed", list(entry("a"), entry("b"), entry("c")), list(entry("a"), entry("c")), []int{0, 2}},
		{"text corrected", list(entry("a"), entry("b"), entry("c")), list(entry("a"), entry("bb"), entry("c")), []int{0, 1, 2}},
		{"corrected and moved", list(entry("a"), entry("b"), entry("c")), list(entry("bb"), entry("a"), entry("c")), []int{1, 0, 2}},
		{"two corrected", list(entry("a x"), entry("b"), entry("c y")), list(entry("A xx"), entry("b"), entry("cc y")), []int{0, 1, 2}},
		{"two others", list(entry("a"), entry("b"), entry("c")), list(entry("x"), entry("b"), entry("y")), []int{-1, 1, -1}},
		{"two with a code", list(coded("a", "M54.5"), coded("b", "G43.9")), list(coded("x", "M54.5"), entry("y")), []int{0, 1}},
		{"note added, another removed", list(entry("a"), entry("b"), entry("c")), list(noted("C"), entry("a")), []int{2, 0}},
		{"one removed, one corrected", list(entry("a"), entry("b"), entry("c")), list(entry("a"), entry("x")), []int{0, -1}},
		{"replaced by another code", list(coded("a", "M54.5"), entry("b")), list(coded("x", "G43.9"), entry("b")), []int{-1, 1}},
		{"replaced by another code, the same text", list(coded("a", "M54.5"), entry("b")), list(coded("a", "M54.50"), entry("b")), []int{0, 1}},
		{"duplicates", list(entry("a"), entry("a"), entry("b")), list(entry("a"), entry("b")), []int{0, 2}},
		{"one of duplicates", list(entry("a"), entry("a")), list(entry("a"), noted("a")), []int{0, 1}},
		{"all removed", list(entry("a")), nil, nil},
		{"all new", nil, list(entry("a")), []int{-1}},
	} {
		if got := sameEntries(test.before, test.after); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		kept := Kept{"Patient/": []byte(`{"x":1}`)}
		for _, part := range entryParts(test.before) {
			kept["Condition/"+part] = []byte(`{"of":"` + part + `"}`)
		}
		moved, err := kept.FollowHistory(pain.NewHistory(test.before...), pain.NewHistory(test.after...))
		if err != nil {
			t.Fatal(err)
		}
		expect, names := 1, map[string]bool{}
		parts, old := entryParts(test.after), entryParts(test.before)
		for i, name := range moved.conditionNames(parts) {
			if names[name] {
				t.Errorf("%s: two are named %s", test.name, name)
			}
			names[name] = true
			if test.want[i] < 0 {
				continue
			}
			expect++
			was := old[test.want[i]]
			if string(moved["Condition/"+parts[i]]) != `{"of":"`+was+`"}` || name != was {
				t.Errorf("%s: entry %d has the name %s and %s, want %s", test.name, i, name, moved["Condition/"+parts[i]], was)
			}
			if was != parts[i] {
				expect++ // its name
			}
		}
		if len(moved) != expect {
			t.Errorf("%s: %d are kept, want %d: %s", test.name, len(moved), expect, moved.Text())
		}
	}
}
