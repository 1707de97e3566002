package patients

import (
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/summary"
)

// Every value that is stored by its index in a list is in that list.
func TestEveryWordHasAPlace(t *testing.T) {
	t.Parallel()
	for _, s := range pain.Statuses() {
		if code := statusCode(s); statuses[code] != s || s.Active() != (code <= lastActive) {
			t.Errorf("%s is kept as %d", s, code)
		}
	}
	if len(statuses) != len(pain.Statuses()) || lastStatus != len(statuses)-1 {
		t.Errorf("%d of %d statuses have a place; the last is %d", len(statuses), len(pain.Statuses()), lastStatus)
	}
}

// Each type and status on each day of a period has its own slot, from which
// they can be recovered.
func TestEveryTypeHasItsSlots(t *testing.T) {
	t.Parallel()
	seen := map[slot]string{}
	for d := range periodDays {
		at := time.UnixMilli(day(5000*periodDays + d).start())
		for _, kind := range pain.DataTypes() {
			for _, status := range pain.Statuses() {
				rec := pain.Record{Type: kind.Type, RecordedAt: at, Status: status}
				s := slotOf(&rec)
				if s.day(5000) != dayOf(at) || s.dataType() != kind.Type || s.stands() != status.Active() {
					t.Fatalf("%s, %s on day %d: slot %d is of day %d, type %s", kind.Name, status, dayOf(at), s, s.day(5000), s.dataType())
				}
				what := kind.Name
				if status.Active() {
					what += " that stands"
				}
				if before := seen[s]; d == 0 && before != "" && before != what {
					t.Errorf("slot %d is of %s and of %s", s, before, what)
				}
				seen[s] = what
			}
		}
	}
	for _, kind := range pain.DataTypes() {
		q := RecordQuery{Types: []pain.DataType{kind.Type}}
		if q.types() <= 0 || q.types()&(q.types()-1) != 0 {
			t.Errorf("%s has no bit of its own: %b", kind.Name, q.types())
		}
	}
}

// A chart includes the records of every type that a summary reads, and no
// others except those that contribute to series or are named here.
func TestChartsHaveEveryTypeOfASummary(t *testing.T) {
	t.Parallel()
	if len(summary.RecordTypes) < 3 || strings.Count(chartRecords, "$") != 4+len(summary.RecordTypes) {
		t.Errorf("the statement does not ask for %d types: %s", len(summary.RecordTypes), chartRecords)
	}
	if sorted := slices.Sorted(slices.Values(summary.RecordTypes)); len(slices.Compact(sorted)) != len(summary.RecordTypes) {
		t.Errorf("a type is read twice: %v", summary.RecordTypes)
	}
}
