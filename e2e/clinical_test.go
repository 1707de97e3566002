package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
)

// TestClinicalData adds and corrects records on one node and reads them on
// another, also after all of them were killed.
func TestClinicalData(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *service, nodes []*node) {
		app := s.register("standard")
		c, other := nodes[0].as(app), nodes[len(nodes)-1].as(app)
		patient := add(t, c, "Ada")
		began := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
		var batch []client.NewRecord
		for i := range 250 {
			batch = append(batch, client.NewRecord{DataType: "pain_scores", RecordedAt: began.AddDate(0, 0, -i), Value: i % 11})
		}
		added, err := c.AddRecords(t.Context(), patient, batch)
		if err != nil || len(added) != len(batch) {
			t.Fatalf("%d added, %v", len(added), err)
		}
		stands, err := other.CorrectRecord(t.Context(), patient, added[0].ID, client.Correction{Value: 3, Reason: "misread"})
		if err != nil || stands.Status != "amended" || stands.Corrects != added[0].ID {
			t.Fatalf("%+v, %v", stands, err)
		}
		if _, err := c.CorrectRecord(t.Context(), patient, added[1].ID, client.Correction{EnteredInError: true, Reason: "another patient"}); err != nil {
			t.Fatal(err)
		}
		want := []string{stands.ID}
		for _, r := range added[2:] {
			want = append(want, r.ID)
		}
		for _, n := range nodes {
			n.kill()
		}
		c = s.node(0).as(app)
		var got []string
		for r, err := range c.AllRecords(t.Context(), patient, client.RecordQuery{NewestFirst: true}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d records stand, want %d", len(got), len(want))
		}
		chain, err := c.RecordHistory(t.Context(), patient, stands.ID)
		if err != nil || len(chain) != 2 || fmt.Sprint(chain[0].Status, chain[1].Status) != "supersededamended" {
			t.Errorf("%+v, %v", chain, err)
		}
		s.check()
	})
}
