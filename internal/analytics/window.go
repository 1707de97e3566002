package analytics

import (
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// window is the days after an index date in which a follow-up counts.
type window struct{ target, tolerance drug.Day }

// followUps is the number of follow-up windows.
const followUps = 4

// windows are the follow-up windows.
var windows = [followUps]window{{30, 14}, {90, 30}, {180, 45}, {365, 60}}

// windowAt returns the index of the window with a target.
func windowAt(target int) int {
	return slices.IndexFunc(windows[:], func(w window) bool { return int(w.target) == target })
}

// dueBy returns the last index date with a window that has ended by a day.
func (w window) dueBy(asOf drug.Day) drug.Day { return asOf - w.target - w.tolerance }

// due reports whether the window of an index date has ended.
func (w window) due(index, asOf drug.Day) bool { return index <= w.dueBy(asOf) }

// nearest returns the index of the point nearest to the target day. Of two
// equally near days it takes the earlier, and of one day the first point.
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

// baselineDays is the length of a baseline in days. Without a score in it, the
// nearest score within reach days counts.
const baselineDays, reach = series.BaselineDays, 30
