package importer_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store/storetest"
)

// A line that names a merged patient is refused, and the others are imported.
func TestLineOfAMergedPatient(t *testing.T) {
	each(t, func(p *place) {
		p.run("2 0 0", nil, p.file("p.csv", "mrn,name,dob", "1,Ada,1984-05-17", "2,Ada,1984-05-17"))
		both := p.patients()
		if err := storetest.Merge(p.t.Context(), p.org, both[0].ID, both[1].ID); err != nil {
			p.t.Fatal(err)
		}
		done := p.run("1 0 1", nil, p.file("c.csv", "patient_id,data_type,recorded_at,score",
			both[0].ID.String()+",pain_scores,2026-01-15,7", both[1].ID.String()+",pain_scores,2026-01-15,7"))
		if text, err := os.ReadFile(done[0].Errors); err != nil || !strings.Contains(string(text), "was merged") {
			p.t.Errorf("%s, %v", text, err)
		}
	})
}

// After a merge, a file that was imported before adds nothing, however many
// lines it has, and a new line is still added.
func TestImportAgainAfterAMerge(t *testing.T) {
	each(t, func(p *place) {
		p.run("1 0 0", nil, p.file("p1.csv", "mrn,name,dob", "1,Ada,1984-05-17"))
		p.run("1 0 0", nil, p.file("p2.csv", "mrn,name,dob", "2,Ada,1984-05-17"))
		lines := []string{"external_id,data_type,recorded_at,score"}
		for i := range 1100 {
			lines = append(lines, fmt.Sprintf("1,pain_scores,2024-01-01T%02d:%02d:00Z,7", i/60, i%60))
		}
		lines = append(lines, "2,pain_scores,2026-01-15,7")
		p.run("1101 0 0", nil, p.file("c.csv", lines...))
		both := p.patients()
		if err := storetest.Merge(p.t.Context(), p.org, both[0].ID, both[1].ID); err != nil {
			p.t.Fatal(err)
		}
		p.run("1 1101 0", nil, p.file("c.csv", append(lines, "1,pain_scores,2026-01-15,7")...))
		if list := p.records(both[1]); len(list) != 1102 {
			p.t.Errorf("%d records", len(list))
		}
	})
}
