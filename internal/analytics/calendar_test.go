package analytics

import (
	"testing"

	"anodyne/internal/pain"
	"anodyne/internal/pain/drug"
)

// Weeks and months that are counted end where those of the calendar do.
func TestWeeksAndMonthsEnd(t *testing.T) {
	first, err := pain.ParseDate("1900-01-01")
	if err != nil {
		t.Fatal(err)
	}
	for day := first.DayNumber(); day < first.DayNumber()+110_000; day++ {
		if ends := weekOf(day) != weekOf(day+1); ends != (lastOf(ByWeek, day) == day) {
			t.Fatalf("a week ends on %v: %v", pain.DateOfDay(day), ends)
		}
		if ends := monthOf(day) != monthOf(day+1); ends != (lastOf(ByMonth, day) == day) {
			t.Fatalf("a month ends on %v: %v", pain.DateOfDay(day), ends)
		}
	}
	const monday = drug.Day(4) // 1970-01-05
	if got := lastOf(ByWeek, monday); got != monday+6 {
		t.Errorf("the week of a Monday ends %d days later", got-monday)
	}
}
