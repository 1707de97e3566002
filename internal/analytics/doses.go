package analytics

import (
	"math"
	"slices"
	"sort"
)

// doses are the doses of patients, as sorted runs: each tally sorts its own
// while counting, on its own CPU. Merged runs are only searched, not sorted
// into one.
type doses struct {
	own  []dose // not yet sorted
	runs [][]dose
	// n and total cover the runs.
	n     int
	total wide // in fixed point
}

// dose is the bit pattern of a number that is not negative. Bit patterns sort
// like the numbers, and in half the time.
type dose uint64

func (d dose) mme() float64 { return math.Float64frombits(uint64(d)) }

// firstDoses is the initial capacity.
const firstDoses = 2048

func (d *doses) add(f float64) {
	if d.own == nil {
		d.own = make([]dose, 0, firstDoses)
	}
	d.own = append(d.own, dose(math.Float64bits(f)))
}

// close sorts the doses added, and keeps no more memory than they need.
func (d *doses) close() {
	if len(d.own) == 0 {
		return
	}
	slices.Sort(d.own)
	for _, one := range d.own {
		d.total.add(wideOf(fixed(one.mme())))
	}
	d.n += len(d.own)
	d.runs = append(d.runs, slices.Clone(d.own))
	d.own = nil
}

// merge adds the doses of another, which must be closed.
func (d *doses) merge(o *doses) {
	d.n += o.n
	d.total.add(o.total)
	d.runs = append(d.runs, o.runs...)
}

// with returns the doses of both, which must be closed.
func (d *doses) with(o *doses) *doses {
	both := &doses{}
	both.merge(d)
	both.merge(o)
	return both
}

// mean returns the mean of the runs, of which there must be at least one.
func (d *doses) mean() float64 { return d.total.mean(d.n) }

// nth returns the element at an index in sorted order. Each round takes the
// middle of the longest remaining run and discards what lies on the wrong side
// of it in all runs.
func (d *doses) nth(place int) float64 {
	left := slices.Clone(d.runs)
	below, upTo := make([]int, len(left)), make([]int, len(left))
	for {
		longest := slices.MaxFunc(left, func(a, b []dose) int { return len(a) - len(b) })
		middle := longest[len(longest)/2]
		less, notMore := 0, 0
		for i, run := range left {
			below[i], _ = slices.BinarySearch(run, middle)
			upTo[i] = below[i] + sort.Search(len(run)-below[i], func(k int) bool { return run[below[i]+k] > middle })
			less += below[i]
			notMore += upTo[i]
		}
		switch {
		case place < less:
			for i := range left {
				left[i] = left[i][:below[i]]
			}
		case place < notMore:
			return middle.mme()
		default:
			place -= notMore
			for i := range left {
				left[i] = left[i][upTo[i]:]
			}
		}
	}
}

// quantile returns a quantile of type 7. There must be at least one dose.
func (d *doses) quantile(p float64) float64 {
	at := p * float64(d.n-1)
	low := d.nth(int(at))
	if int(at)+1 >= d.n {
		return low
	}
	return low + (at-float64(int(at)))*(d.nth(int(at)+1)-low)
}

// bands counts the doses in each band. of must be monotonic.
func (d *doses) bands(count int, of func(float64) int) []int {
	counts := make([]int, count)
	for _, run := range d.runs {
		for len(run) > 0 { // one band at a time
			band := of(run[0].mme())
			size := sort.Search(len(run), func(i int) bool { return of(run[i].mme()) > band })
			counts[band] += size
			run = run[size:]
		}
	}
	return counts
}
