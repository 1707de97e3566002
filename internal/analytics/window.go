package analytics

import (
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// window is the days after an index date in which a follow-up counts.
type window struct{ target, tolerance drug.Day }

// followUps is how many windows there are.
const followUps = 4

// windows are those that can be asked for.
var windows = [followUps]window{{30, 14}, {90, 30}, {180, 45}, {365, 60}}

// windowAt is the place of the window with a target.
func windowAt(target int) int {
	return slices.IndexFunc(windows[:], func(w window) bool { return int(w.target) == target })
}

// dueBy is the last index date whose window has ended on a day.
func (w window) dueBy(asOf drug.Day) drug.Day { return asOf - w.target - w.tolerance }

// due reports whether the window of an index date has ended.
func (w window) due(index, asOf drug.Day) bool { return index <= w.dueBy(asOf) }

// nearest is where, of some points in order, the one nearest to the target day
// is; of two days as near the earlier, and of a day the first.
func (w window) nearest(points []Point, index drug.Day) (i int, ok bool) {
	target := index + w.target
	after := until(points, target)
	off := w.tolerance + 1
	if after < len(points) {
		i, off = after, points[after].day()-target
	}
	if after > 0 {
		day := points[after-1].day()
		if back := target - day; back <= off {
			i, off = after-1, back
			for start := firstOn(day); i > 0 && points[i-1] >= start; {
				i--
			}
		}
	}
	return i, off <= w.tolerance
}

// A baseline is made of scores of so many days, or, when there are none, lies
// within reach.
const baselineDays, reach = series.BaselineDays, 30
