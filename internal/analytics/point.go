package analytics

import (
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// Point is a score packed into one number that sorts by time: its day, the
// millisecond of the day, the sum of the scores before it in its span (see
// [Line]) and the score, both in tenths. Every scale of the primary outcome
// has whole tenths on 0-10. Queries get the day with a shift, and read half as
// much memory as with a [series.Score].
type Point int64

const (
	tenthBits  = 7  // at most 100
	beforeBits = 11 // at most 1,500
	timeShift  = tenthBits + beforeBits
	dayShift   = timeShift + 27 // a day has less than 2^27 milliseconds
)

func pointOf(s *series.Score) Point { return pointAt(s.At) | Point(tenths[s.Scale][s.Value]) }

// pointAt returns a point with a score of 0. It works for the years 1252 to
// 2687.
func pointAt(at int64) Point {
	day := dayOf(at)
	return firstOn(day) | Point(at-startOf(day))<<timeShift
}

// firstOn sorts before all points of a day and after those of earlier days.
func firstOn(day drug.Day) Point { return Point(day) << dayShift }

func (p Point) day() drug.Day { return drug.Day(p >> dayShift) }
func (p Point) tenths() uint8 { return uint8(p & (1<<tenthBits - 1)) }

// before returns the sum of the scores before it in its span.
func (p Point) before() int { return int(p >> tenthBits & (1<<beforeBits - 1)) }

// clock returns the millisecond of the day.
func (p Point) clock() int32 { return int32(p >> timeShift & (1<<(dayShift-timeShift) - 1)) }

// at returns the time in milliseconds.
func (p Point) at() int64 { return startOf(p.day()) + int64(p.clock()) }

// until returns the number of points before a day. The search avoids branches
// that depend on the days, because they are unpredictable.
func until(points []Point, day drug.Day) int {
	start := firstOn(day)
	if len(points) == 0 || points[len(points)-1] < start { // the common case, which does not read the first
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
