package importer

import (
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
)

// Patients with one line each after patients with many: the memory reserved for
// lines must not grow with the number of patients.
func TestReservedLinesAreBounded(t *testing.T) {
	b := &recordBuilder{groups: map[id.Patient]*group{}, most: 1000, each: 90}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for line := range b.most - 1 {
		record := pain.Record{PatientID: id.New[id.PatientKind](at)}
		if err := b.add(line, patients.ImportHash{}, record, 1); err != nil {
			t.Fatal(err)
		}
	}
	reserved := 0
	for _, g := range b.groups {
		reserved += cap(g.Records)
	}
	if len(b.groups) != b.most-1 || reserved > 2*b.most {
		t.Errorf("memory for %d lines is reserved for %d patients with one line each", reserved, len(b.groups))
	}
}
