package analytics

import (
	"testing"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
)

// Weeks and months end where those of package time do.
func TestWeeksAndMonthsEnd(t *testing.T) {
	first := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
	for at := first; at.Year() < 2201; at = at.AddDate(0, 0, 1) {
		day, next := pain.DateOf(at).DayNumber(), at.AddDate(0, 0, 1)
		if ends := endOfMonth(day) == day; ends != (next.Day() == 1) {
			t.Fatalf("a month ends on %v: %v", at, ends)
		}
		if ends := endOfWeek(day) == day; ends != (at.Weekday() == time.Sunday) {
			t.Fatalf("a week ends on %v: %v", at, ends)
		}
		for _, end := range []drug.Day{endOfMonth(day), endOfWeek(day)} {
			if end < day || end > day+30 {
				t.Fatalf("the month or week of %v ends %d days later", at, end-day)
			}
		}
	}
}
