package store

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// Every table with a column that names a patient or a record is rewritten after
// an erasure, except those that say that a patient is gone, and how far a scan
// of all patients came.
func TestErasedTables(t *testing.T) {
	files, err := filepath.Glob("engine/migrations/postgres/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	table := regexp.MustCompile(`(?s)CREATE TABLE (\w+) \((.*?)\n\);`)
	names := regexp.MustCompile(`(?m)^\s*(patient_no|patient_id|root|corrects|subject)\s`)
	stay := []string{"patient_gone", "patient_hole", "derivation"}
	var found []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range table.FindAllStringSubmatch(string(text), -1) {
			name := match[1]
			if !names.MatchString(match[2]) || slices.Contains(stay, name) {
				continue
			}
			if found = append(found, name); !slices.Contains(erasedTables, name) {
				t.Errorf("%s names patients, and is not rewritten after an erasure", name)
			}
		}
	}
	if len(found) < 8 {
		t.Errorf("only %v name patients", found)
	}
}
