package pain

import (
	"time"

	"anodyne.example/anodyne/internal/pain/drug"
)

const secondsPerDay = 24 * 60 * 60

// DayNumber returns the number of days from 1970-01-01 to d.
func (d Date) DayNumber() drug.Day {
	return drug.Day(time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay)
}

// DateOfDay returns the date with this day number.
func DateOfDay(n drug.Day) Date { return DateOf(time.Unix(int64(n)*secondsPerDay, 0)) }
