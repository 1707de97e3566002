package analytics

import (
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// Point is a score that is counted with: its day, the millisecond of the day,
// the sum of the scores before it in its span (see [Line]) and the score, both in
// tenths, in one number that is in order of time. Every scale of the primary
// outcome has whole tenths on 0 to 10. A question takes the day by a shift, and
// reads half of what it would in a [series.Score].
type Point int64

const (
	tenthBits  = 7  // 100 at most
	beforeBits = 11 // 1,500 at most
	timeShift  = tenthBits + beforeBits
	dayShift   = timeShift + 27 // a day has less than 2^27 milliseconds
)

func pointOf(s *series.Score) Point { return pointAt(s.At) | Point(tenths[s.Scale][s.Value]) }

// pointAt is a time, with a score of 0. It is good for the years 1252 to 2687.
func pointAt(at int64) Point {
	day := dayOf(at)
	return firstOn(day) | Point(at-startOf(day))<<timeShift
}

// firstOn is before all points of a day, and behind those of the days before.
func firstOn(day drug.Day) Point { return Point(day) << dayShift }

func (p Point) day() drug.Day { return drug.Day(p >> dayShift) }
func (p Point) tenths() uint8 { return uint8(p & (1<<tenthBits - 1)) }

// before is the sum of the scores before it in its span.
func (p Point) before() int { return int(p >> tenthBits & (1<<beforeBits - 1)) }

// clock is the millisecond of the day.
func (p Point) clock() int32 { return int32(p >> timeShift & (1<<(dayShift-timeShift) - 1)) }

// at is the time in milliseconds.
func (p Point) at() int64 { return startOf(p.day()) + int64(p.clock()) }

// until is how many points lie before a day. The search has no branch that
// depends on the days, which nobody could foretell.
func until(points []Point, day drug.Day) int {
	start := firstOn(day)
	if len(points) == 0 || points[len(points)-1] < start { // most often, and then the first is not looked at
		return len(points)
	}
	if points[0] >= start {
		return 0
	}
	low, n := 0, len(points)
	for n > 1 {
		half := n / 2
		if points[low+half-1] < start {
			low += half
		}
		n -= half
	}
	if points[low] < start {
		low++
	}
	return low
}
